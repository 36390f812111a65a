//! `double`: a platform double as a process of its own, so that its state outlives whatever is tried against it.

use std::path::Path;
use std::process::ExitCode;

use jackfield_testkit::discord::{Script, serve_cli};

use super::arguments::Double;
use super::exit::Failure;
use super::printer::Printer;
use crate::serve::signal;

pub(super) async fn run(which: Double, printer: &Printer) -> Result<ExitCode, Failure> {
    let Double::Discord { listen, script, log } = which;
    let script = script.as_deref().map_or_else(|| Ok(Script::default()), read)?;
    let mut told = Ok(());
    let ending = signal::Ending::new().map_err(|error| Failure::failed(format!("listen for signals: {error}")))?;
    let announce = |announcement: &_| told = printer.document(announcement);
    serve_cli(listen, script, log, announce, ending.first())
        .await
        .map_err(|error| Failure::failed(error.to_string()))?;
    told?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Script, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::failed(format!("can't read {}: {error}", path.display())))?;
    Script::from_json(&text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}
