//! `validate`: a configuration and all that it names, looked at without running anything.

use std::path::Path;
use std::process::ExitCode;

use jackfield_model::clock;
use serde_json::json;

use super::exit::{self, Failure};
use super::printer::Printer;
use super::progress::Progress;
use crate::config::generation::Numbering;
use crate::config::{self, Environment, Problems};
use crate::serve;
use crate::spec::Spec;

/// Writes the JSON Schema of configuration files.
pub(super) fn schema(printer: &Printer) -> Result<ExitCode, Failure> {
    let schema = config::schema();
    printer.result(&schema, || serde_json::to_string_pretty(&schema).unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn run(path: &Path, printer: &Printer, environment: &Environment) -> Result<ExitCode, Failure> {
    let (specs, problems) = match look(path, printer, environment).await? {
        Ok((specs, warnings)) => (specs, warnings),
        Err(problems) => (Vec::new(), problems),
    };
    if !printer.is_json() {
        printer.complain(&problems);
    }
    let connections: Vec<_> = specs.iter().map(document).collect();
    let valid = !problems.stop();
    printer.result(&json!({ "valid": valid, "connections": connections, "problems": problems.documents() }), || {
        let warnings = if problems.is_empty() { String::new() } else { format!(", {} problems", problems.len()) };
        if valid {
            format!("{} is valid: {} connections{warnings}", path.display(), specs.len())
        } else {
            String::new()
        }
    })?;
    Ok(exit::code_of(&problems))
}

/// Compiles into nothing that lasts: the data folder belongs to a host that may be running.
async fn look(
    path: &Path,
    printer: &Printer,
    environment: &Environment,
) -> Result<Result<(Vec<Spec>, Problems), Problems>, Failure> {
    let (file, mut warnings) = match config::read(path) {
        Ok(read) => read,
        Err(problems) => return Ok(Err(problems)),
    };
    let progress = Progress::line(*printer);
    let engine = serve::engine(None, clock::system())?;
    let built = serve::build(&file, &engine, environment, &Numbering::passing(), &progress).await?;
    Ok(built.map(|(specs, more)| {
        warnings.extend(more.iter().cloned());
        (specs, warnings)
    }))
}

fn document(spec: &Spec) -> serde_json::Value {
    json!({
        "id": spec.id,
        "connector": spec.component.descriptor().id,
        "version": spec.component.descriptor().version,
        "digest": spec.component.digest().to_string(),
        "contacts": spec.space,
        "state_bytes": spec.state_bytes,
    })
}
