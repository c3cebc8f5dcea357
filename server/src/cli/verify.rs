//! `pressmark verify`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use super::open::open_existing;
use super::{Common, EXIT_PARTLY, chain, say};

pub(super) fn run(common: &Common) -> Result<ExitCode, String> {
    let (_, engine) = open_existing(common, "verify")?;
    let terminal = std::io::stderr().is_terminal();
    let report = engine
        .verify(&mut |resources| {
            if terminal {
                let _ = write!(std::io::stderr().lock(), "\r{resources} resources checked");
            }
        })
        .map_err(|error| chain(&error))?;
    if terminal {
        say("");
    }
    let mut out = std::io::stdout().lock();
    let mut line = |text: &str| writeln!(out, "{text}").map_err(|error| format!("stdout: {error}"));
    for finding in &report.findings {
        line(finding)?;
    }
    line(&format!(
        "{} resources and {} derived keys checked: {} faults",
        report.resources, report.derived_keys, report.fault_count
    ))?;
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_PARTLY) })
}
