//! `completion`: a script for a shell.

use std::process::ExitCode;

use clap_complete::Shell;

use super::arguments;
use super::exit::Failure;
use super::printer::Printer;

pub(super) fn run(shell: Shell, printer: &Printer) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::command(), "jackfield", &mut script);
    printer.text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
