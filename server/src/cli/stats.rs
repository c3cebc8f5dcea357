//! `pressmark stats`: figures of a store.

use std::collections::BTreeMap;
use std::process::ExitCode;

use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::inspect::time_text;
use super::list::space_name;
use super::numbers::{bytes_text, counted, grouped};
use super::output::{Failure, Out};
use super::target::Target;

/// Columns of the names before the figures.
const NAME_WIDTH: usize = 14;
/// Parts of the store whose size is shown.
const PARTS_SHOWN: usize = 5;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures<'a> {
    data_directory: &'a str,
    program_version: &'a str,
    format_version: u32,
    resource_count: u64,
    acl_count: u64,
    oldest_sequence: u64,
    newest_sequence: u64,
    disk_bytes: BTreeMap<&'a str, u64>,
    block_cache_bytes: u64,
    hot_cache_bytes: u64,
    writable: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    refusal_reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusing_since: Option<String>,
    completion: Completion<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_text: Option<FullText<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Completion<'a> {
    entry_count: u64,
    disk_bytes: u64,
    spaces_behind: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    failure: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FullText<'a> {
    complete: bool,
    through_sequence: u64,
    document_count: u64,
    segment_count: u64,
    disk_bytes: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    failure: &'a str,
}

/// Prints figures of the store.
pub(super) fn run(common: &Common) -> Result<ExitCode, Failure> {
    let target = Target::find_with_full_text(common, "stats")?;
    let stats = target.wait(target.operations().get_stats(v1::GetStatsRequest {}))?;
    let mut out = Out::new();
    if common.json {
        out.json(&Figures::of(&stats))?;
    } else {
        let spaces = target.wait(target.spaces().list_spaces(v1::ListSpacesRequest {}))?.spaces;
        for (name, value) in lines(&stats, &spaces) {
            out.line(&format!("{name:NAME_WIDTH$}{value}"))?;
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

/// What there is, then what is behind or wrong.
fn lines(stats: &v1::GetStatsResponse, spaces: &[v1::SpaceEntry]) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut line = |name, value| lines.push((name, value));
    line("store", stats.data_directory.clone());
    line("program", format!("{}, store format {}", stats.program_version, stats.format_version));
    line(
        "resources",
        format!(
            "{} in {}",
            grouped(stats.resource_count),
            counted(count(spaces.len()), "space", "spaces")
        ),
    );
    for entry in spaces {
        line("", format!("{} in {}", grouped(entry.resource_count), space_name(entry)));
    }
    line("access lists", grouped(stats.acl_count));
    line("changes kept", changes(stats));
    line("disk", disk(stats));
    let (block, hot) = (bytes_text(stats.block_cache_bytes), bytes_text(stats.hot_cache_bytes));
    line("memory", format!("{block} of tables, {hot} of resources that are read often"));
    line("completion", completion(stats));
    line("search", search(stats));
    let writes = match (&stats.refusing_since, stats.writable) {
        (_, true) => "taken".to_owned(),
        (Some(since), false) => format!(
            "refused since {}: {}",
            time_text(since).unwrap_or_default(),
            stats.refusal_reason
        ),
        (None, false) => format!("refused: {}", stats.refusal_reason),
    };
    line("writes", writes);
    lines
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn changes(stats: &v1::GetStatsResponse) -> String {
    match (stats.oldest_sequence, stats.newest_sequence) {
        (0, 0) => "none yet".to_owned(),
        (0, newest) => format!("none; the last one was {}", grouped(newest)),
        (oldest, newest) => format!("{} to {}", grouped(oldest), grouped(newest)),
    }
}

/// All of it, and the parts that make most of it.
fn disk(stats: &v1::GetStatsResponse) -> String {
    let mut parts: Vec<_> =
        stats.disk.iter().map(|part| (part.bytes, part.part.as_str())).collect();
    if let Some(full_text) = &stats.full_text {
        parts.push((full_text.disk_bytes, "full_text"));
    }
    let total = parts.iter().map(|(bytes, _)| bytes).sum();
    parts.sort_unstable_by(|one, other| other.cmp(one));
    let largest: Vec<_> = parts
        .iter()
        .filter(|(bytes, _)| *bytes > 0)
        .take(PARTS_SHOWN)
        .map(|(bytes, part)| format!("{part} {}", bytes_text(*bytes)))
        .collect();
    match largest.as_slice() {
        [] => bytes_text(total),
        largest => format!("{}: {}", bytes_text(total), largest.join(", ")),
    }
}

fn completion(stats: &v1::GetStatsResponse) -> String {
    let state = stats.completion.clone().unwrap_or_default();
    let mut text = format!(
        "{}, {}",
        counted(state.entry_count, "entry", "entries"),
        bytes_text(state.disk_bytes)
    );
    if stats.spaces_without_completion > 0 {
        let spaces = counted(stats.spaces_without_completion, "space is", "spaces are");
        text.push_str(&format!("; {spaces} still being indexed"));
    }
    if !state.failure.is_empty() {
        text.push_str(&format!("; it has failed: {}", state.failure));
    }
    text
}

fn search(stats: &v1::GetStatsResponse) -> String {
    let Some(state) = &stats.full_text else { return "off".to_owned() };
    let mut text = format!(
        "{} in {}, {}",
        counted(state.document_count, "document", "documents"),
        counted(state.segment_count, "segment", "segments"),
        bytes_text(state.disk_bytes)
    );
    let behind = stats.newest_sequence.saturating_sub(state.through_sequence);
    if !state.complete {
        text.push_str("; the index is being built");
    } else if behind > 0 {
        let changes = counted(behind, "change is", "changes are");
        text.push_str(&format!("; {changes} not in it yet"));
    }
    if !state.failure.is_empty() {
        text.push_str(&format!("; it has failed: {}", state.failure));
    }
    text
}

impl<'a> Figures<'a> {
    fn of(stats: &'a v1::GetStatsResponse) -> Self {
        let completion = stats.completion.as_ref();
        Self {
            data_directory: &stats.data_directory,
            program_version: &stats.program_version,
            format_version: stats.format_version,
            resource_count: stats.resource_count,
            acl_count: stats.acl_count,
            oldest_sequence: stats.oldest_sequence,
            newest_sequence: stats.newest_sequence,
            disk_bytes: stats.disk.iter().map(|part| (part.part.as_str(), part.bytes)).collect(),
            block_cache_bytes: stats.block_cache_bytes,
            hot_cache_bytes: stats.hot_cache_bytes,
            writable: stats.writable,
            refusal_reason: &stats.refusal_reason,
            refusing_since: stats.refusing_since.as_ref().and_then(time_text),
            completion: Completion {
                entry_count: completion.map_or(0, |state| state.entry_count),
                disk_bytes: completion.map_or(0, |state| state.disk_bytes),
                spaces_behind: stats.spaces_without_completion,
                failure: completion.map_or("", |state| &state.failure),
            },
            full_text: stats.full_text.as_ref().map(|state| FullText {
                complete: state.complete,
                through_sequence: state.through_sequence,
                document_count: state.document_count,
                segment_count: state.segment_count,
                disk_bytes: state.disk_bytes,
                failure: &state.failure,
            }),
        }
    }
}
