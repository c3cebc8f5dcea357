//! `pressmark verify`.

use std::process::ExitCode;

use pressmark_proto::v1;
use serde::Serialize;

use super::numbers::{counted, grouped};
use super::output::{Failure, Out, Shown};
use super::target::Target;
use super::{Common, EXIT_PARTLY};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    clean: bool,
    resources_checked: u64,
    derived_keys_checked: u64,
    fault_count: u64,
    faults: &'a [String],
}

pub(super) fn run(common: &Common) -> Result<ExitCode, Failure> {
    // What was committed last is in the full-text index then: that it is not there yet is no fault.
    let target = Target::look_at_all(common, "verify")?;
    let mut messages = target.wait(target.operations().verify(v1::VerifyRequest {}))?;
    let mut shown = Shown::new(common);
    let mut checked = None;
    while let Some(message) = target.next(&mut messages)? {
        let v1::VerifyResponse { resources_checked, resources_total, report } = message;
        shown.progress(|| {
            let total = counted(resources_total, "resource", "resources");
            format!("{} of {total} checked", grouped(resources_checked))
        });
        checked = report.map(|report| (resources_checked, report));
    }
    drop(shown);
    let (resources, report) = checked.ok_or("the check ended without a report")?;
    let code = if report.clean { ExitCode::SUCCESS } else { ExitCode::from(EXIT_PARTLY) };
    match print(common, resources, &report) {
        // Whoever reads the lines may have seen enough; whoever reads the code has not.
        Ok(()) | Err(Failure::OutputClosed) => Ok(code),
        Err(failure) => Err(failure),
    }
}

fn print(common: &Common, resources: u64, report: &v1::VerifyReport) -> Result<(), Failure> {
    let v1::VerifyReport { clean, fault_count, faults, derived_keys_checked } = report;
    let mut out = Out::new();
    if common.json {
        out.json(&Report {
            clean: *clean,
            resources_checked: resources,
            derived_keys_checked: *derived_keys_checked,
            fault_count: *fault_count,
            faults,
        })?;
    } else {
        for finding in faults {
            out.line(finding)?;
        }
        let unnamed = fault_count.saturating_sub(u64::try_from(faults.len()).unwrap_or(u64::MAX));
        if unnamed > 0 {
            out.line(&format!("... and {unnamed} more"))?;
        }
        out.line(&format!(
            "{} and {} checked: {}",
            counted(resources, "resource", "resources"),
            counted(*derived_keys_checked, "derived key", "derived keys"),
            counted(*fault_count, "fault", "faults")
        ))?;
    }
    out.end()
}
