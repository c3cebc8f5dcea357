//! `docs/configuration.md` and the example say what the raw structs say.

use std::fmt::Write as _;

use expect_test::expect_file;

use super::{EXAMPLE, parse};
use crate::config::Config;

const RAW: &str = include_str!("../raw.rs");
const DOCUMENT: &str = include_str!("../../../../docs/configuration.md");
const TABLES: [&str; 9] = [
    "[server]",
    "[storage]",
    "[full_text]",
    "[[extract]]",
    "[[space]]",
    "[[prompt]]",
    "[[prompt.argument]]",
    "[[prompt.message]]",
    "[[source]]",
];

struct Key {
    table: String,
    name: String,
    meaning: String,
    /// As TOML, where there is a default that can be written.
    default: String,
}

/// The keys of the structs that stand for a table, with their doc comments.
fn keys() -> Vec<Key> {
    let mut keys = Vec::new();
    let (mut table, mut doc) = (String::new(), String::new());
    for line in RAW.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            doc.push_str(text);
        } else if line.starts_with("pub struct") || line.starts_with("pub enum") {
            table = doc.trim().trim_matches('`').to_owned();
            doc.clear();
        } else if let Some((name, _)) =
            line.strip_prefix("pub ").and_then(|line| line.split_once(':'))
        {
            let text = doc.trim();
            let (meaning, default) = match text.split_once(" Default: ") {
                Some((meaning, default)) => (meaning, default.trim_end_matches('.')),
                None => (text.strip_suffix(" Required.").unwrap_or(text), "required"),
            };
            if TABLES.contains(&table.as_str()) {
                keys.push(Key {
                    table: table.clone(),
                    name: name.to_owned(),
                    meaning: meaning.to_owned(),
                    default: default.to_owned(),
                });
            }
            doc.clear();
        }
    }
    keys
}

#[test]
fn the_document_has_every_key() {
    let mut tables = String::new();
    for table in TABLES {
        write!(tables, "\n## `{table}`\n\n| Key | Meaning | Default |\n|---|---|---|\n").unwrap();
        for key in keys().iter().filter(|key| key.table == table) {
            writeln!(tables, "| `{}` | {} | {} |", key.name, key.meaning, key.default).unwrap();
        }
    }
    let (head, rest) = DOCUMENT.split_once("<!-- keys -->\n").unwrap();
    let (_, tail) = rest.split_once("<!-- end of keys -->").unwrap();
    let expected = format!("{head}<!-- keys -->\n{tables}\n<!-- end of keys -->{tail}");
    expect_file!["../../../../docs/configuration.md"].assert_eq(&expected);
}

#[test]
fn the_example_has_every_key() {
    for key in keys() {
        let present = EXAMPLE.contains(&format!("\n{} = ", key.name))
            || EXAMPLE.contains(&format!("\n[space.{}]", key.name))
            || EXAMPLE.contains(&format!("\n[[prompt.{}]]", key.name));
        assert!(present, "{} {}", key.table, key.name);
    }
    assert_eq!(keys().len(), 71, "a reader that finds no keys checks nothing");
}

#[test]
fn documented_defaults_are_the_real_ones() {
    let mut text = String::new();
    for table in ["[server]", "[storage]", "[full_text]"] {
        writeln!(text, "{table}").unwrap();
        let has_value = |key: &&Key| !["path", "admin_token_file"].contains(&key.name.as_str());
        for key in keys().iter().filter(|key| key.table == table).filter(has_value) {
            let default = key.default.trim_matches('`');
            writeln!(text, "{} = {default}", key.name).unwrap();
        }
    }
    assert_eq!(parse(&text).unwrap(), Config::default());
}
