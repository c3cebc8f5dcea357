//! `pressmark verify`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use pressmark_index::verify::VerifyReport;

use super::open::{open_to_search, wait_for_full_text};
use super::{Common, EXIT_PARTLY, Failure, chain, printed, say};

/// How often a line tells how far it is where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

pub(super) fn run(common: &Common) -> Result<ExitCode, Failure> {
    let (_, engine) = open_to_search(common, "verify")?;
    // What was committed last is not there yet, which is no fault.
    wait_for_full_text(&engine);
    let terminal = std::io::stderr().is_terminal();
    let total: u64 = engine.spaces().spaces.iter().map(|space| space.resource_count()).sum();
    let mut last_line = Instant::now();
    let report = engine
        .verify(&mut |resources| {
            if terminal {
                let _ =
                    write!(std::io::stderr().lock(), "\r{resources} of {total} resources checked");
            } else if last_line.elapsed() >= LINE_INTERVAL {
                last_line = Instant::now();
                say(&format!("{resources} of {total} resources checked"));
            }
        })
        .map_err(|error| chain(&error))?;
    if terminal {
        say("");
    }
    let code = if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_PARTLY) };
    match print(&report) {
        // Whoever reads the lines may have seen enough; whoever reads the code has not.
        Ok(()) | Err(Failure::OutputClosed) => Ok(code),
        Err(failure) => Err(failure),
    }
}

fn print(report: &VerifyReport) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for finding in &report.findings {
        printed(writeln!(out, "{finding}"))?;
    }
    printed(writeln!(
        out,
        "{} resources and {} derived keys checked: {} faults",
        report.resources, report.derived_keys, report.fault_count
    ))
}
