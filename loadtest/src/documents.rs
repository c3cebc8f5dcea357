//! Documents of about 1.2 KB as a package registry or a handbook has them: names in several scripts, and
//! texts with quotes, backslashes, line breaks and code, which is what escaping JSON costs time for.

use std::fmt::Write as _;
use std::io;

use crate::random::Random;

/// Texts have this many bytes at least ...
const TEXT_BYTES_MIN: usize = 600;
/// ... and this many more at most.
const TEXT_BYTES_SPREAD: usize = 1_200;
/// One name of so many is not ASCII.
const FOREIGN_NAME_EVERY: usize = 20;

const ADJECTIVES: [&str; 16] = [
    "async", "binary", "cached", "daily", "fast", "global", "hidden", "lazy", "linear", "local",
    "nested", "open", "quiet", "sparse", "typed", "wide",
];
const NOUNS: [&str; 20] = [
    "archive", "buffer", "cursor", "document", "engine", "folder", "grammar", "handler", "index",
    "journal", "ledger", "matrix", "packet", "parser", "queue", "record", "shelf", "stream",
    "table", "vector",
];
const FOREIGN: [&str; 8] =
    ["größe", "café", "маршрут", "κατάλογος", "図書館", "文档", "도서관", "فهرس"];
const SENTENCES: [&str; 14] = [
    "It reads the \"{}\" section of each {} and keeps the rest as it stands.",
    "On Windows the {} is looked for in C:\\ProgramData\\{}\\settings.json first.",
    "Use it where a {} would be too large, or a {} too slow.",
    "Der {} wird geprüft, bevor die größere {} geöffnet wird.",
    "Le {} déjà fermé n'est jamais rouvert par un autre {}.",
    "Каждый {} читается один раз, затем {} закрывается.",
    "索引按{}排序，读取{}时不复制。",
    "この{}は一度だけ符号化され、{}として保存されます。",
    "Since version 2 a broken {} is an error that names the {}.",
    "\n```rust\nlet {} = open(\"{}\")?; // never panics\n```\n",
    "\n- {}: at most 64 KiB\n- {}: unbounded\n",
    "\n{\n\t\"{}\": [1, 2, 3],\n\t\"path\": \"\\\\srv\\{}\"\n}\n",
    "See also the {} of the same name; its {} is shared.",
    "People who come from another {} expect the {} to be sorted.\n\n",
];

/// One resource of the collection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) uri: String,
    name: String,
    title: String,
    text: String,
}

/// The document at a place of the collection; each place can be made without the others.
pub(crate) fn document(seed: u64, index: u64, uri_prefix: &str) -> Document {
    let mut random = Random::of(seed, index);
    let (adjective, noun) = (random.pick(&ADJECTIVES), random.pick(&NOUNS));
    // The index makes the name unique; the words before it scatter neighbours over the key space.
    let name = if random.below(FOREIGN_NAME_EVERY) == 0 {
        format!("{}-{noun}-{index:x}", random.pick(&FOREIGN))
    } else {
        format!("{adjective}-{noun}-{index:x}")
    };
    let bytes_min = TEXT_BYTES_MIN + random.below(TEXT_BYTES_SPREAD);
    let mut text = format!("# {name}\n\nA {adjective} {noun}.\n\n");
    while text.len() < bytes_min {
        push_sentence(&mut text, &mut random);
    }
    Document {
        uri: format!("{uri_prefix}{}", escaped(&name)),
        title: format!("The {adjective} {noun} {index:x}"),
        name,
        text,
    }
}

impl Document {
    /// The resource record that `pressmark load` takes, without the line's end.
    pub(crate) fn write_record(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let record = serde_json::json!({
            "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "mimeType": "text/markdown",
            "text": self.text,
        });
        Ok(serde_json::to_writer(out, &record)?)
    }
}

/// A sentence with a word in each of its gaps.
fn push_sentence(text: &mut String, random: &mut Random) {
    let mut pieces = random.pick(&SENTENCES).split("{}");
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push_str(random.pick(&NOUNS));
        text.push_str(piece);
    }
    text.push(' ');
}

/// A name as simple expansion puts it into a URI (RFC 6570 section 3.2.2).
pub(crate) fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_seed_makes_one_collection() {
        assert_eq!(document(7, 3, "a://b/"), document(7, 3, "a://b/"));
        assert_ne!(document(7, 3, "a://b/").text, document(8, 3, "a://b/").text);
    }

    #[test]
    fn names_are_unique_and_texts_have_their_size() {
        let documents: Vec<_> = (0..2_000).map(|index| document(7, index, "a://b/")).collect();
        let uris: HashSet<_> = documents.iter().map(|document| &document.uri).collect();
        assert_eq!(uris.len(), documents.len());
        let mean = documents.iter().map(|document| document.text.len()).sum::<usize>() / 2_000;
        assert!((1_100..1_400).contains(&mean), "{mean} bytes");
        assert!(uris.iter().any(|uri| uri.contains('%')));
    }

    #[test]
    fn a_record_is_one_line() {
        let mut line = Vec::new();
        document(7, 5, "a://b/").write_record(&mut line).unwrap();
        assert!(!line.contains(&b'\n'));
        let record: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert!(record["text"].as_str().unwrap().starts_with("# "));
    }
}
