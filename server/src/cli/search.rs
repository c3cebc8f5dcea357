//! `pressmark search`: what the model's tool finds, from the shell.

use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pressmark_index::access::Access;
use pressmark_index::full_text::{
    SearchHit, SearchNote, SearchPage, SearchRequest, SearchSort, Snippet,
};
use serde::Serialize;

use super::complete::{grouped, parse_chosen};
use super::open::{open_to_search, wait_for_full_text};
use super::{Common, Failure, chain, printed, say};
use crate::highlight::highlighted;

/// Bytes of a snippet: two lines of a terminal.
const SNIPPET_BYTES: usize = 200;

/// The shell can wait longer than a model.
const TIME_MAX: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Words, "phrases", -word, field:value, prefix*
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Only in this space
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    /// Only where a variable of the template has this value; repeatable
    #[arg(long, value_name = "VARIABLE=VALUE", value_parser = parse_chosen)]
    variable: Vec<(String, String)>,
    /// Only of this MIME type, such as `text/*`
    #[arg(long, value_name = "TYPE")]
    mime_type: Option<String>,
    /// How many results
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=50))]
    limit: u64,
    /// Order of the results
    #[arg(long, value_enum, default_value_t = Sort::Relevance)]
    sort: Sort,
    /// The page that begins here, as the page before says
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Print one JSON object a result
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    Relevance,
    Recent,
}

/// How a terminal shows text; empty where it is none.
struct Paint {
    title: &'static str,
    mark: &'static str,
    dim: &'static str,
    end: &'static str,
}

const PLAIN: Paint = Paint { title: "", mark: "", dim: "", end: "" };
const COLOURS: Paint =
    Paint { title: "\u{1b}[1m", mark: "\u{1b}[1;33m", dim: "\u{1b}[2m", end: "\u{1b}[0m" };

/// Prints the results in order, and on stderr how many there are and what else is to be known.
pub(super) fn run(common: &Common, arguments: &SearchArgs) -> Result<ExitCode, Failure> {
    let (setup, engine) = open_to_search(common, "search")?;
    if !setup.config.full_text.enabled {
        return Err("full text is off: `enabled` under [full_text] in the configuration"
            .to_owned()
            .into());
    }
    wait_for_full_text(&engine);
    let access = Access::operator();
    let request = SearchRequest {
        query: &arguments.query,
        space: arguments.space.as_deref(),
        variables: &arguments.variable,
        mime_type: arguments.mime_type.as_deref(),
        modified: None,
        sort: match arguments.sort {
            Sort::Relevance => SearchSort::Relevance,
            Sort::Recent => SearchSort::Recent,
        },
        limit: usize::try_from(arguments.limit).unwrap_or(usize::MAX),
        cursor: arguments.cursor.as_deref(),
        snippet_bytes: SNIPPET_BYTES,
        after_sequence: None,
        time_max: TIME_MAX,
        access: &access,
    };
    let page = engine.search(&request).map_err(|error| chain(&error))?;
    let stdout = std::io::stdout();
    let plain =
        !stdout.is_terminal() || std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
    let paint = if plain { PLAIN } else { COLOURS };
    let mut out = BufWriter::new(stdout.lock());
    for hit in &page.hits {
        let lines = if arguments.json { json_line(hit) } else { shown(hit, &paint) };
        printed(out.write_all(lines.as_bytes()))?;
    }
    printed(out.flush())?;
    for line in epilogue(&page) {
        say(&line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Title, URI and snippet, and an empty line.
fn shown(hit: &SearchHit, paint: &Paint) -> String {
    let Paint { title, mark, dim, end } = paint;
    let mut lines =
        format!("{title}{}{end}\n  {dim}{}{end}\n", printable(&hit.title), printable(&hit.uri));
    let snippet = highlighted(&quiet(&hit.snippet), mark, end);
    if !snippet.is_empty() {
        lines.push_str(&format!("  {snippet}\n"));
    }
    lines.push('\n');
    lines
}

/// Control characters may move the cursor, or do worse.
fn printable(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace(char::is_control, "\u{fffd}")
}

/// The snippet without control characters. Spaces take as many bytes as they did, so that the marks stay where they are.
fn quiet(snippet: &Snippet) -> Snippet {
    let mut text = String::with_capacity(snippet.text.len());
    for character in snippet.text.chars() {
        if character.is_control() {
            text.extend(std::iter::repeat_n(' ', character.len_utf8()));
        } else {
            text.push(character);
        }
    }
    Snippet { text, marks: snippet.marks.clone() }
}

/// A result as one line of JSON; fields that the resource does not have are left out.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    uri: &'a str,
    title: &'a str,
    snippet: String,
    score: f32,
    space: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    mime_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

fn json_line(hit: &SearchHit) -> String {
    let time = hit.last_modified.map(jiff::Timestamp::from_millisecond).and_then(Result::ok);
    let line = Line {
        uri: &hit.uri,
        title: &hit.title,
        snippet: highlighted(&hit.snippet, "**", "**"),
        score: hit.score,
        space: &hit.space,
        mime_type: &hit.mime_type,
        last_modified: time.map(|time| time.to_string()),
    };
    // Strings and numbers always encode.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

/// How many there are, what else is to be known, and how to go on.
fn epilogue(page: &SearchPage) -> Vec<String> {
    let at_least = if page.total_is_exact { "" } else { "at least " };
    let mut lines = vec![format!("{} of {at_least}{}", page.hits.len(), grouped(page.total))];
    lines.extend(page.notes.iter().map(|note| match note {
        SearchNote::TimeCut => "the search ended early: there may be better results".to_owned(),
        SearchNote::QueryCut { .. } => {
            "the end of the query was left out: it is too long".to_owned()
        }
        SearchNote::NoWords => "the query has no words: everything matches".to_owned(),
        SearchNote::PrefixCut => "a prefix stands for too many words: write more of it".to_owned(),
        SearchNote::FewerWords { wanted, words } => {
            format!("with at least {wanted} of the {words} words")
        }
        SearchNote::TyposTolerated => "words with a typing error match as well".to_owned(),
        SearchNote::IndexIncomplete { share } => {
            format!("{:.0} % of the resources are indexed so far", (share * 100.0).floor())
        }
        SearchNote::StillBehind => "the newest changes are not indexed yet".to_owned(),
    }));
    if let Some(cursor) = &page.next_cursor {
        lines.push(format!("more: --cursor {cursor}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hit of which the first bytes are marked.
    fn hit(title: &str, text: &str, marked: usize) -> SearchHit {
        let mark = std::iter::once(0..marked).filter(|mark| !mark.is_empty());
        SearchHit {
            uri: "x://y".to_owned(),
            title: title.to_owned(),
            snippet: Snippet { text: text.to_owned(), marks: mark.collect() },
            score: 1.5,
            mime_type: "text/plain".to_owned(),
            space: "s".to_owned(),
            last_modified: None,
        }
    }

    #[test]
    fn results_are_plain_or_painted() {
        let found = hit("A\ntitle", "find me\nhere", 4);
        assert_eq!(shown(&found, &PLAIN), "A title\n  x://y\n  find me here\n\n");
        let painted = shown(&found, &COLOURS);
        assert!(painted.contains("  \u{1b}[1;33mfind\u{1b}[0m me here\n"), "{painted:?}");
        assert_eq!(shown(&hit("T", "", 0), &PLAIN), "T\n  x://y\n\n");
    }

    #[test]
    fn no_document_writes_to_the_terminal() {
        let found = hit("\u{1b}]0;t\u{7}", "\u{1b}[2J x\u{9b}", 0);
        assert_eq!(shown(&found, &PLAIN), "\u{fffd}]0;t\u{fffd}\n  x://y\n  [2J x\n\n");
    }

    #[test]
    fn json_is_one_object_a_line() {
        let line = json_line(&hit("T", "find \"me\"", 4));
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&value["snippet"], line.lines().count()),
            (&serde_json::Value::from("**find** \"me\""), 1)
        );
    }

    #[test]
    fn what_else_is_to_be_known_is_said() {
        let page = SearchPage {
            total: 1_234,
            notes: vec![SearchNote::TyposTolerated],
            next_cursor: Some("abc".to_owned()),
            ..SearchPage::default()
        };
        assert_eq!(
            epilogue(&page),
            [
                "0 of at least 1,234",
                "words with a typing error match as well",
                "more: --cursor abc"
            ]
        );
    }
}
