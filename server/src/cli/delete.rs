//! `pressmark delete`: resources by their URIs.

use std::process::ExitCode;

use clap::Args;
use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::output::{Failure, Out, Refusal, code_name};
use super::put::{mutate, refused};
use super::target::Target;

#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    /// Their URIs
    #[arg(required = true, value_name = "URI")]
    uris: Vec<String>,
}

/// What became of one, as `--json` shows it.
#[derive(Serialize)]
struct Deleted<'a> {
    uri: &'a str,
    deleted: bool,
}

/// Deletes one after the other; those that are not there are named, and keep no other from being deleted.
pub(super) fn run(common: &Common, arguments: &DeleteArgs) -> Result<ExitCode, Failure> {
    let target = Target::change(common, "delete")?;
    let mut out = Out::new();
    let mut deleted = 0_usize;
    let mut missing = Vec::new();
    for uri in &arguments.uris {
        let answer = mutate(&target, v1::mutation::Change::DeleteUri(uri.clone()));
        let answer = answer.and_then(|answer| match answer.refusals.first() {
            Some(refusal) => Err(refused(uri, refusal)),
            None => Ok(answer),
        });
        let answer = answer.map_err(|failure| match failure {
            // Those before it are gone.
            Failure::Refused(refusal) if deleted > 0 => Failure::CutOff(refusal),
            failure => failure,
        })?;
        let is_gone = answer.deleted > 0;
        if common.json {
            out.json(&Deleted { uri, deleted: is_gone })?;
        }
        if is_gone {
            deleted += 1;
            common.remark(&format!("{uri}: deleted"));
        } else {
            missing.push(uri.as_str());
        }
    }
    out.end()?;
    if missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let refusal = Refusal {
        code: code_name(tonic::Code::NotFound),
        message: format!("{}: there is no such resource", missing.join(", ")),
    };
    Err(if deleted > 0 { Failure::CutOff(refusal) } else { Failure::Refused(refusal) })
}
