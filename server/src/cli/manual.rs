//! `pressmark completions` and `pressmark man`: both come out of the definition of the command line.

use std::path::Path;
use std::process::ExitCode;

use clap_complete::Shell;
use clap_mangen::Man;

use super::command_line::command;
use super::output::{Failure, Out};

/// The name under which the program is called.
const PROGRAM: &str = "pressmark";

pub(super) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), PROGRAM, &mut script);
    print(&script)
}

/// Prints the page of the program, or writes that one and those of its commands into a folder.
pub(super) fn man(folder: Option<&Path>) -> Result<ExitCode, Failure> {
    let command = command();
    if let Some(folder) = folder {
        if !folder.is_dir() {
            return Err(format!(
                "{}: it is no folder: make it first (`mkdir -p`)",
                folder.display()
            )
            .into());
        }
        clap_mangen::generate_to(command, folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(|error| format!("the man page: {error}"))?;
    print(&page)
}

fn print(text: &[u8]) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    out.bytes(text)?;
    out.end()?;
    Ok(ExitCode::SUCCESS)
}
