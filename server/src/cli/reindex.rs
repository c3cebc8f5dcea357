//! `pressmark reindex`: indexes are rebuilt from the resources.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::complete::wait_for_index;
use super::numbers::counted;
use super::open::wait_for_full_text;
use super::output::{Failure, Out};
use super::target::Target;

#[derive(Debug, Args)]
pub(super) struct ReindexArgs {
    /// Only this kind of index
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Only the completion index of this space
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Completion,
    FullText,
}

/// What was begun, as `--json` shows it.
#[derive(Serialize)]
struct Reindexed {
    indexes: u32,
    /// Whether they are complete; a server goes on in the background.
    complete: bool,
}

/// Waits for what this process does itself; a server goes on in the background.
pub(super) fn run(common: &Common, arguments: &ReindexArgs) -> Result<ExitCode, Failure> {
    let target = Target::change(common, "reindex")?;
    let kind = match arguments.kind {
        None => v1::IndexKind::Unspecified,
        Some(Kind::Completion) => v1::IndexKind::Completion,
        Some(Kind::FullText) => v1::IndexKind::FullText,
    };
    let space = arguments.space.clone().unwrap_or_default();
    let request = v1::ReindexRequest { kind: kind.into(), space };
    let indexes = target.wait(target.operations().reindex(request))?.indexes;
    let complete = match target.engine() {
        Some(engine) => {
            wait_for_index(engine);
            wait_for_full_text(engine, common)?;
            true
        }
        None => false,
    };
    let mut out = Out::new();
    if common.json {
        out.json(&Reindexed { indexes, complete })?;
    } else {
        let count = counted(indexes.into(), "index", "indexes");
        out.line(&if complete {
            format!("{count} rebuilt")
        } else {
            format!(
                "rebuilding {count} in the background; `pressmark stats` shows how far they are"
            )
        })?;
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}
