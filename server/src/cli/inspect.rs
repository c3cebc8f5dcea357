//! `pressmark read`, `list` and `stats`: looking at a store from the shell.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use pressmark_index::access::Access;
use pressmark_index::contents_fragment::WireFields;
use pressmark_index::list::PageBounds;
use pressmark_index::read::{ReadOutcome, ReadRequest, Tier};
use serde_json::Value;

use super::open::{open_existing, open_to_search};
use super::{Common, Failure, chain, printed};

const ALL_FIELDS: WireFields =
    WireFields { title: true, icons: true, meta: true, last_modified: true };
const PAGE: PageBounds = PageBounds { items_max: 1_000, bytes_max: 4 << 20 };

/// Prints a resource as it is: text as text, a binary as its bytes, a folder as its entries' URIs.
pub(super) fn read(common: &Common, uri: &str) -> Result<ExitCode, Failure> {
    let (_, engine) = open_existing(common, "read")?;
    let access = Access::operator();
    let request = ReadRequest { uri, access: &access, bytes_max: usize::MAX, tier: Tier::Disk };
    let ReadOutcome::Contents(contents) = engine.read(&request).map_err(|error| chain(&error))?
    else {
        return Err(format!("{uri}: the read did not end").into());
    };
    let mut json = Vec::new();
    contents.write_array(uri, ALL_FIELDS, &mut json).map_err(|error| chain(&error))?;
    let parts: Vec<Value> =
        serde_json::from_slice(&json).map_err(|error| format!("{uri}: {error}"))?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    if contents.is_folder() {
        for part in &parts {
            printed(writeln!(out, "{}", text(part, "uri")))?;
        }
    } else {
        for part in &parts {
            let bytes = match part.get("blob").and_then(Value::as_str) {
                Some(blob) => base64_simd::STANDARD
                    .decode_to_vec(blob)
                    .map_err(|error| format!("{uri}: {error}"))?,
                None => text(part, "text").as_bytes().to_vec(),
            };
            printed(out.write_all(&bytes))?;
        }
    }
    printed(out.flush())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what `resources/list` shows to an operator, one URI and title a line.
pub(super) fn list(common: &Common) -> Result<ExitCode, Failure> {
    let (_, engine) = open_existing(common, "list")?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut cursor = None;
    loop {
        let page = engine
            .list(cursor.as_deref(), &Access::operator(), PAGE)
            .map_err(|error| chain(&error))?;
        for item in &page.items {
            let mut json = Vec::new();
            item.write(ALL_FIELDS, &mut json);
            let item: Value = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
            let title = Some(text(&item, "title"))
                .filter(|title| !title.is_empty())
                .unwrap_or(text(&item, "name"));
            printed(writeln!(out, "{}\t{}", text(&item, "uri"), one_line(title)))?;
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    printed(out.flush())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints figures of the store.
pub(super) fn stats(common: &Common) -> Result<ExitCode, Failure> {
    let (setup, engine) = open_to_search(common, "stats")?;
    let stats = engine.stats().map_err(|error| chain(&error))?;
    let mut out = std::io::stdout().lock();
    let mut line = |name: &str, value: String| printed(writeln!(out, "{name:24}{value}"));
    line("data directory", setup.data_dir.display().to_string())?;
    line("resources", stats.resources.to_string())?;
    line("change log", format!("{} to {}", stats.log.oldest, stats.log.newest))?;
    line("different ACLs", stats.acls.to_string())?;
    for (family, bytes) in stats.disk_bytes {
        line(&format!("bytes in {family}"), bytes.to_string())?;
    }
    let completion = stats.completion;
    line("completion entries", completion.entries.to_string())?;
    line("bytes in completion", completion.disk_bytes.to_string())?;
    if completion.spaces_behind > 0 {
        line("spaces without it yet", completion.spaces_behind.to_string())?;
    }
    if let Some(full_text) = stats.full_text {
        line("full-text documents", full_text.progress.documents.to_string())?;
        line("full-text segments", full_text.segments.to_string())?;
        line("bytes in full text", full_text.disk_bytes.to_string())?;
        let progress = full_text.progress;
        let behind = progress.newest.saturating_sub(progress.indexed_through);
        if behind > 0 {
            line("changes not in it yet", behind.to_string())?;
        }
        if let Some(failure) = progress.failure {
            line("full text failed", failure)?;
        }
    }
    if let Some(failure) = completion.failure {
        line("completion failed", failure)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
