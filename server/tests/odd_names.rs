//! Thousands of odd file names: each is listed and reads back byte for byte, also under the spelling
//! that VS Code makes of its URI.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use pressmark::indexer::index_source;
use pressmark::metrics::Metrics;
use pressmark::shutdown::Shutdown;
use pressmark::sources::folder_spaces;
use pressmark_index::access::Access;
use pressmark_index::contents_fragment::WireFields;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::list::PageBounds;
use pressmark_index::read::{ReadOutcome, ReadRequest, Tier};
use pressmark_index::space::ListMode;
use pressmark_index::writer::Durability;
use serde_json::Value;

const FIELDS: WireFields = WireFields { title: true, icons: true, meta: true, last_modified: true };

/// Every printable ASCII character alone, at the beginning and the end, and every pair of them; what
/// looks like an escape; both normal forms; many scripts; leading dots; the longest name.
fn names() -> BTreeSet<String> {
    let printable = || (' '..='~').filter(|c| *c != '/');
    let mut names = BTreeSet::new();
    for a in printable() {
        names.insert(format!("{a}x"));
        names.insert(format!("x{a}"));
        names.extend(printable().map(|b| format!("p{a}{b}.txt")));
    }
    for escape in [
        "%2F", "%2f", "%25", "%2525", "%252F", "%26", "%2B", "%41", "%E9", "%C3%A9", "%", "%%",
        "%zz", "+", "&",
    ] {
        names.insert(format!("e{escape}"));
        names.insert(format!("{escape} e"));
    }
    for name in [
        "bug#42 &v=2+rev?.md",
        "100%_done.txt",
        "#todo.txt",
        "caf\u{e9}.md",
        "cafe\u{301}.md",
        "e\u{301}te\u{301}",
        "中文.md",
        "日本語 テキスト.txt",
        "한국어",
        "ไทย",
        "عربي.txt",
        "🎉 party 🎉.md",
        "👩\u{200d}👩\u{200d}👧.txt",
        ".hidden",
        "..two",
        "...",
        "a..b",
        " leading",
        "trailing ",
        "tab\tin",
        "line\nbreak",
        "\u{7f}",
        "\u{2028}.md",
        "\u{fffd}",
        "\u{feff}bom",
        "Å",
        "A\u{30a}",
        "\u{212b}",
        "ﬁ",
        "ß",
        "İ",
        "aux",
        "con.txt",
        "~",
        "-",
        "--help",
    ] {
        names.insert(name.to_owned());
    }
    names.insert("l".repeat(255));
    names.insert("長".repeat(85));
    names
}

/// What VS Code sends for a URI: four escapes undone in one pass, everything else as it was.
fn as_vs_code_sends(uri: &str) -> String {
    let mut sent = String::new();
    let mut rest = uri;
    while let Some(at) = rest.find('%') {
        sent.push_str(&rest[..at]);
        let (undone, length) = match &rest[at..(at + 3).min(rest.len())] {
            "%2F" => ("/", 3),
            "%25" => ("%", 3),
            "%2B" => ("+", 3),
            "%26" => ("&", 3),
            _ => ("%", 1),
        };
        sent.push_str(undone);
        rest = &rest[at + length..];
    }
    sent + rest
}

fn read(engine: &Engine, uri: &str) -> Option<Value> {
    let access = Access::anonymous();
    let request = ReadRequest { uri, access: &access, bytes_max: 1 << 20, tier: Tier::Disk };
    let ReadOutcome::Contents(contents) = engine.read(&request).ok()? else {
        panic!("not from the disk")
    };
    let mut json = Vec::new();
    contents.write_array(uri, FIELDS, &mut json).unwrap();
    serde_json::from_slice(&json).unwrap()
}

fn listed(engine: &Engine) -> Vec<Value> {
    let bounds = PageBounds { items_max: 333, bytes_max: 1 << 20 };
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = engine.list(cursor.as_deref(), &Access::anonymous(), bounds).unwrap();
        items.extend(page.items.iter().map(|item| {
            let mut json = Vec::new();
            item.write(FIELDS, &mut json);
            serde_json::from_slice::<Value>(&json).unwrap()
        }));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return items;
        }
    }
}

fn index(folder: &Path, data: &Path) -> Engine {
    let options = EngineOptions {
        block_cache_bytes: 32 << 20,
        hot_cache_bytes: 1 << 20,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        full_text: None,
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(3600),
        owner: "a test".into(),
    };
    let engine = Engine::open(data, &options).unwrap();
    for (mut settings, source) in folder_spaces(&[folder.to_owned()]).unwrap() {
        settings.list = ListMode::All;
        engine.put_space(settings).unwrap();
        let indexed = index_source(&engine, &source, &Metrics::new(), &Shutdown::new()).unwrap();
        assert_eq!((indexed.refused, indexed.scan.refused), (0, 0));
    }
    engine
}

/// A name as lists have it: what acts or reorders text is escaped.
fn shown(name: &str) -> String {
    let mut shown = String::new();
    for character in name.chars() {
        match character {
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(character.escape_unicode());
            }
            _ if character.is_control() => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

#[test]
fn every_name_is_listed_and_reads_back_under_both_spellings() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("Odd Names");
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    let mut wanted = BTreeMap::new();
    for name in names() {
        let text = format!("I am {name:?}\n");
        std::fs::write(folder.join(&name), &text).unwrap();
        wanted.insert(shown(&name), text);
    }
    let engine = index(&folder, &scratch.path().join("data"));
    let items = listed(&engine);
    let found: BTreeMap<String, String> = items
        .iter()
        .map(|item| {
            (item["name"].as_str().unwrap().to_owned(), item["uri"].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    assert!(items.len() > 9_000);

    let mut sent_by_host: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for uri in found.values() {
        sent_by_host.entry(as_vs_code_sends(uri)).or_default().push(uri);
    }
    let stored: BTreeSet<&String> = found.values().collect();
    let mut rewritten = 0;
    let mut unread = BTreeSet::new();
    for (name, uri) in &found {
        let contents = read(&engine, uri).unwrap_or_else(|| panic!("{uri} does not read back"));
        assert_eq!(contents[0]["uri"], uri.as_str());
        assert_eq!(contents[0]["text"], wanted[name].as_str(), "{uri}");

        let sent = as_vs_code_sends(uri);
        if sent == *uri || stored.contains(&sent) || sent_by_host[&sent].len() > 1 {
            continue;
        }
        rewritten += 1;
        match read(&engine, &sent) {
            Some(contents) => {
                assert_eq!(contents[0]["uri"], sent.as_str(), "the asked spelling is echoed");
                assert_eq!(contents[0]["text"], wanted[name].as_str(), "{sent}");
            }
            None => drop(unread.insert(name.as_str())),
        }
    }
    // `e%2F` and `e%2f` are one to such a host, and so answer to neither; `%E9` is no UTF-8 once it is undone.
    assert_eq!(
        unread.into_iter().collect::<Vec<_>>(),
        ["%2F e", "%2f e", "%E9 e", "e%2F", "e%2f", "e%E9"]
    );
    assert!(rewritten > 100, "{rewritten}");
    let report = engine.verify(&mut |_| ()).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
}

#[test]
fn a_second_scan_changes_nothing_and_deleted_files_go() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("notes");
    std::fs::create_dir_all(folder.join("a/b")).unwrap();
    for (path, text) in [("a/b/1.md", "# One"), ("a/2.txt", "two"), ("3.txt", "three")] {
        std::fs::write(folder.join(path), text).unwrap();
    }
    let data = scratch.path().join("data");
    let engine = index(&folder, &data);
    let newest = engine.log_range().newest;
    assert_eq!(newest, 3);
    let (_, source) = folder_spaces(std::slice::from_ref(&folder)).unwrap().remove(0);
    let again = || index_source(&engine, &source, &Metrics::new(), &Shutdown::new()).unwrap();
    assert_eq!((again().changed, engine.log_range().newest), (0, newest));
    std::fs::remove_dir_all(folder.join("a/b")).unwrap();
    std::fs::write(folder.join("3.txt"), "three!").unwrap();
    let indexed = again();
    assert_eq!((indexed.changed, indexed.deleted), (1, 1));
    assert!(read(&engine, "docs://notes/a/b/1.md").is_none());
    assert_eq!(read(&engine, "docs://notes/3.txt").unwrap()[0]["text"], "three!");
}
