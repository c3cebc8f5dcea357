//! `pressmark complete`: what a host's picker would offer, from the shell.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pressmark_index::engine::Engine;
use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::numbers::grouped;
use super::output::{Failure, Out};
use super::target::Target;
use crate::terminal;

const INDEX_POLL: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
pub(super) struct CompleteArgs {
    /// Name of the space
    space: String,
    /// Variable of its template
    variable: String,
    /// What is typed so far; `""`: the best of all values
    prefix: String,
    /// A variable that is chosen already, with its value; repeatable
    #[arg(long, value_name = "VARIABLE=VALUE", value_parser = parse_chosen)]
    context: Vec<(String, String)>,
}

/// Values, as `--json` shows them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Values<'a> {
    values: &'a [String],
    /// Absent: too many to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    has_more: bool,
}

/// Prints the best values, one a line and in order, and on stderr how many there are.
pub(super) fn run(common: &Common, arguments: &CompleteArgs) -> Result<ExitCode, Failure> {
    let target = Target::find(common, "complete")?;
    tell_of_index(&target, common)?;
    let request = v1::CompleteVariableRequest {
        space: arguments.space.clone(),
        variable: arguments.variable.clone(),
        typed: arguments.prefix.clone(),
        context: pairs(&arguments.context),
    };
    let completion = target.wait(target.reading().complete_variable(request))?;
    let mut out = Out::new();
    if common.json {
        let v1::CompleteVariableResponse { values, total, has_more } = &completion;
        out.json(&Values { values, total: *total, has_more: *has_more })?;
        out.end()?;
        return Ok(ExitCode::SUCCESS);
    }
    for value in &completion.values {
        // A line break in a value would make two values of it, and other controls may move the cursor.
        out.line(&value.replace(terminal::acts, "\u{fffd}"))?;
    }
    out.end()?;
    common.remark(&count_line(&completion));
    Ok(ExitCode::SUCCESS)
}

/// Says that an index that was deleted or damaged is being made anew. What this process makes itself is waited for: the shell
/// can wait, and half an answer helps nobody; a server answers from what it has.
fn tell_of_index(target: &Target, common: &Common) -> Result<(), Failure> {
    let stats = target.wait(target.operations().get_stats(v1::GetStatsRequest {}))?;
    if stats.spaces_without_completion == 0 {
        return Ok(());
    }
    common.remark("the completion index is being rebuilt");
    if let Some(engine) = target.engine() {
        wait_for_index(engine);
    }
    Ok(())
}

pub(super) fn wait_for_index(engine: &Engine) {
    let has_failed = || engine.stats().is_ok_and(|stats| stats.completion.failure.is_some());
    while engine.spaces_without_completion() > 0 && !has_failed() {
        std::thread::sleep(INDEX_POLL);
    }
}

/// Variables with their values, as the services take them.
pub(super) fn pairs(chosen: &[(String, String)]) -> Vec<v1::TextPair> {
    let pair = |(name, value): &(String, String)| v1::TextPair {
        name: name.clone(),
        value: value.clone(),
    };
    chosen.iter().map(pair).collect()
}

pub(super) fn parse_chosen(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as VARIABLE=VALUE".to_owned()),
    }
}

fn count_line(completion: &v1::CompleteVariableResponse) -> String {
    let shown = completion.values.len();
    match completion.total {
        Some(total) => format!("{shown} of {}", grouped(total)),
        None => format!("{shown} of too many to count"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_in_groups_of_three() {
        for (total, has_more, line) in [
            (Some(0), false, "1 of 0"),
            (Some(999), true, "1 of 999"),
            (Some(1_204), true, "1 of 1,204"),
            (Some(10_000_000), true, "1 of 10,000,000"),
            (None, true, "1 of too many to count"),
        ] {
            let values = vec!["x".to_owned()];
            let completion = v1::CompleteVariableResponse { values, total, has_more };
            assert_eq!(count_line(&completion), line);
        }
    }

    #[test]
    fn chosen_values_may_hold_anything_but_need_a_name() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(parse_chosen("team=core"), pair("team", "core"));
        assert_eq!(parse_chosen("team="), pair("team", ""));
        assert_eq!(parse_chosen("q=a=b"), pair("q", "a=b"));
        assert!(parse_chosen("team").is_err());
        assert!(parse_chosen("=core").is_err());
    }
}
