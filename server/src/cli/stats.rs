//! `pressmark stats`: figures of a store.

use std::collections::BTreeMap;
use std::process::ExitCode;

use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::inspect::time_text;
use super::output::{Failure, Out};
use super::target::Target;

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
    let target = Target::look_with_full_text(common, "stats")?;
    let stats = target.wait(target.operations().get_stats(v1::GetStatsRequest {}))?;
    let mut out = Out::new();
    if common.json {
        out.json(&Figures::of(&stats))?;
    } else {
        for (name, value) in lines(&stats) {
            out.line(&format!("{name:24}{value}"))?;
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

fn lines(stats: &v1::GetStatsResponse) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
    let completion = stats.completion.clone().unwrap_or_default();
    line("data directory", stats.data_directory.clone());
    line("resources", stats.resource_count.to_string());
    line("change log", format!("{} to {}", stats.oldest_sequence, stats.newest_sequence));
    line("different ACLs", stats.acl_count.to_string());
    for v1::DiskUse { part, bytes } in &stats.disk {
        line(&format!("bytes in {part}"), bytes.to_string());
    }
    line("completion entries", completion.entry_count.to_string());
    line("bytes in completion", completion.disk_bytes.to_string());
    if stats.spaces_without_completion > 0 {
        line("spaces without it yet", stats.spaces_without_completion.to_string());
    }
    if let Some(full_text) = &stats.full_text {
        line("full-text documents", full_text.document_count.to_string());
        line("full-text segments", full_text.segment_count.to_string());
        line("bytes in full text", full_text.disk_bytes.to_string());
        let behind = stats.newest_sequence.saturating_sub(full_text.through_sequence);
        if behind > 0 {
            line("changes not in it yet", behind.to_string());
        }
        if !full_text.failure.is_empty() {
            line("full text failed", full_text.failure.clone());
        }
    }
    if !completion.failure.is_empty() {
        line("completion failed", completion.failure);
    }
    if !stats.writable {
        line("writes are refused", stats.refusal_reason.clone());
    }
    lines
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
