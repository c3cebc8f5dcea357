//! Queries that have broken other engines, and what comes of mixing them: nothing that a person types, or pastes, may fail
//! or take longer than it may.

use crate::Random;

/// Pieces of one query, at most.
const PIECES_MAX: usize = 12;
/// How often a piece is repeated where it is.
const REPEATS: [usize; 4] = [10, 100, 1_000, 5_000];

/// Queries as they were reported.
const REPORTED: [&str; 40] = [
    "https://website.org",
    "following:",
    ">>>",
    "-foo",
    "usb-c adapter\"\"",
    "y+(y+25)",
    "(waldo",
    "waldo)",
    "who is \"waldo\"?",
    "AND",
    "\"",
    "*",
    "\u{1f980}",
    "error: E0308",
    "foo::bar(x)",
    "nosuchfield:waldo",
    "權威事實",
    "認證",
    "jwt",
    "認證系統使用JWT令牌",
    "",
    " \t\r\n\u{3000}\u{a0}",
    "\u{0}",
    "title:",
    "title:\"",
    "-title:",
    "title:*",
    "-*",
    "- - -",
    "\"\" \"\"",
    "\"the\" \"the the\" the",
    "AND OR NOT",
    "[a TO z] {a TO *}",
    "title:[* TO *]",
    "/.*a{1,1000}/",
    "python~2 python^1e99",
    "C++ C# .NET F#",
    "\\\\ \\\" \\",
    "ＷＩＤＥ　ｌｅｔｔｅｒｓ",
    "i\u{307} ﬃ ß ẞ",
];

/// Words, common ones first: the dearest to look for.
const WORDS: [&str; 16] = [
    "the",
    "a",
    "for",
    "python",
    "library",
    "waldo",
    "e",
    "数",
    "データ",
    "한국어",
    "ภาษาไทย",
    "كتاب",
    "नमस्ते",
    "e\u{301}\u{301}\u{301}",
    "HTTPServer2XML",
    "snake_case_name",
];

/// What means something in one query language or another.
const SIGNS: [&str; 32] = [
    "\"", "*", "-", "--", "+", "!", "(", ")", "[", "]", "{", "}", "^", "~", "~2", "?", ":", "\\",
    "/", "<", ">", "=", "&&", "||", "AND", "OR", "NOT", "TO", "'", "\u{201c}", "\u{ff0a}",
    "\u{200d}",
];

/// What may stand before a colon.
const FIELDS: [&str; 12] = [
    "title",
    "uri",
    "space",
    "mime",
    "name",
    "collection",
    "text",
    "TITLE",
    "nosuchfield",
    "http",
    "_id",
    "",
];

/// What glues pieces together.
const GLUE: [&str; 6] = ["", " ", " ", "  ", "\t", "\u{3000}"];

/// So many queries: first those that were reported, then mixtures.
pub fn queries(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random(seed);
    let reported = REPORTED.iter().map(|query| (*query).to_owned());
    reported.chain(std::iter::from_fn(|| Some(mixed(&mut random)))).take(count).collect()
}

fn mixed(random: &mut Random) -> String {
    let mut query = String::new();
    for _ in 0..=random.below(PIECES_MAX) {
        let piece = piece(random);
        if random.below(40) == 0 {
            let times = REPEATS.get(random.below(REPEATS.len())).copied().unwrap_or(1);
            let glue = random.pick(&GLUE);
            for _ in 0..times {
                query.push_str(&piece);
                query.push_str(glue);
            }
        }
        query.push_str(&piece);
        query.push_str(random.pick(&GLUE));
    }
    query
}

fn piece(random: &mut Random) -> String {
    let word = random.pick(&WORDS);
    match random.below(12) {
        0..3 => word.to_owned(),
        3 | 4 => random.pick(&SIGNS).to_owned(),
        5 => format!("{word}*"),
        6 => format!("-{word}"),
        7 => format!("\"{word} {}\"", random.pick(&WORDS)),
        8 => format!("{}:{word}", random.pick(&FIELDS)),
        9 => format!("{}:\"{word}{}", random.pick(&FIELDS), random.pick(&SIGNS)),
        10 => random.pick(&REPORTED).to_owned(),
        _ => (0..8).filter_map(|_| char::from_u32(character(random))).collect(),
    }
}

/// The number of some character, or of none: all planes, the ends of ranges, what is no letter.
fn character(random: &mut Random) -> u32 {
    let bound = [0x80, 0x800, 0x1_0000, 0x11_0000].get(random.below(4)).copied().unwrap_or(0x80);
    u32::try_from(random.below(bound)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search;

    const TEXTS: [&str; 4] = [
        "Where is waldo? He follows the usb-c adapter of website.org: error E0308 in foo::bar(x).",
        "認證系統使用JWT令牌。把機器推論洗成權威事實",
        "The library for Python, the library for the rest: HTTPServer2XML and snake_case_name.",
        "データ 数 한국어 ภาษาไทย كتاب नमस्ते \u{1f980}",
    ];

    #[test]
    fn a_thousand_hostile_queries_are_answered() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("documents.ndjson");
        let lines = (0..200).map(|number| {
            let text = TEXTS[number % TEXTS.len()];
            let line =
                serde_json::json!({"id": format!("texts/{number}"), "title": text, "text": text});
            line.to_string() + "\n"
        });
        std::fs::write(&file, lines.collect::<String>())?;
        let engine = search::open(&folder.path().join("store"), true)?;
        search::load(&engine, &file)?;
        search::wait_until_indexed(&engine)?;
        let access = search::group_access();
        for query in queries(7, 1_000) {
            let page = engine.search(&search::request(&query, &access));
            let page = page.map_err(|error| format!("{query:?}: {error}"))?;
            assert!(page.total_is_exact, "{query:?}");
            assert!(page.hits.len() == 10.min(usize::try_from(page.total)?), "{query:?}: {page:?}");
            for hit in page.hits {
                let is_whole =
                    |mark: &std::ops::Range<usize>| hit.snippet.text.get(mark.clone()).is_some();
                assert!(hit.snippet.marks.iter().all(is_whole), "{query:?}: {:?}", hit.snippet);
            }
        }
        Ok(())
    }
}
