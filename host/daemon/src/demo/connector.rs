//! Builds the Discord connector from the sources that this program was built from, with cargo, for the guests' target.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use tokio::process::Command;

use crate::cli::{Failure, Printer};
use crate::config::Environment;

/// The target of guests.
const TARGET: &str = "wasm32-wasip2";

/// The package, and the name of its library as cargo reports it.
const PACKAGE: &str = "jackfield-discord";
const LIBRARY: &str = "jackfield_discord";

/// Says where the component is. Cargo shows what it does on stderr.
pub(super) async fn build(printer: Printer, environment: &Environment) -> Result<PathBuf, Failure> {
    let source = source()?;
    add_target(&source, printer).await?;
    let output = Command::new(environment.cargo())
        .args(["build", "--locked", "--profile", "connector", "--target", TARGET, "-p", PACKAGE])
        .arg("--message-format=json-render-diagnostics")
        .arg("--target-dir")
        .arg(target_folder(&source, environment))
        .current_dir(&source)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| {
            Failure::failed(format!(
                "run cargo ({error}): install Rust from https://rustup.rs, or name a component with --connector"
            ))
        })?
        .wait_with_output()
        .await
        .map_err(|error| Failure::failed(format!("wait for cargo: {error}")))?;
    if !output.status.success() {
        return Err(Failure::failed(format!("cargo could not build {PACKAGE}: {}", output.status)));
    }
    artifact(&output.stdout).ok_or_else(|| Failure::failed(format!("cargo built {PACKAGE}, and named no component")))
}

/// One line of cargo's output.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Default, Deserialize)]
struct Target {
    name: String,
}

fn artifact(output: &[u8]) -> Option<PathBuf> {
    let messages = output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Message>(line).ok());
    let ours = messages.filter(|message| message.reason == "compiler-artifact" && message.target.name == LIBRARY);
    ours.flat_map(|message| message.filenames)
        .find(|path| path.extension().is_some_and(|extension| extension == "wasm"))
}

/// The checkout that this program was built from.
fn source() -> Result<PathBuf, Failure> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let there = source.canonicalize().ok().filter(|source| source.join("plugins/discord/Cargo.toml").is_file());
    there.ok_or_else(|| {
        let text = format!(
            "the sources of this program are not at {} any more: name a component with --connector",
            source.display()
        );
        Failure::failed(text)
    })
}

/// A folder of its own below the one that cargo uses, so that neither build waits for the other's lock.
fn target_folder(source: &Path, environment: &Environment) -> PathBuf {
    // Cargo marks its target folder, and puts programs two levels below.
    let ours = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.parent()?.to_path_buf()));
    let marked = ours.filter(|folder| folder.join("CACHEDIR.TAG").is_file());
    let folder = marked.or_else(|| environment.target_folder()).unwrap_or_else(|| source.join("target"));
    folder.join("connectors")
}

/// Adds the guests' target to the toolchain where it is missing.
async fn add_target(source: &Path, printer: Printer) -> Result<(), Failure> {
    if has_target(source).await {
        return Ok(());
    }
    printer.note(&format!("adding the target {TARGET} to the Rust toolchain"));
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .current_dir(source)
        .stdout(Stdio::null())
        .stdin(Stdio::null())
        .status()
        .await;
    match added {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::failed(format!("`rustup target add {TARGET}` failed: {status}"))),
        Err(error) => Err(Failure::failed(format!(
            "the Rust toolchain lacks the target {TARGET}, and rustup can't be run ({error}): add it, or name a component with --connector"
        ))),
    }
}

/// Whether the toolchain of the sources has a standard library for the target.
async fn has_target(source: &Path) -> bool {
    let printed =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).current_dir(source).output().await;
    printed.is_ok_and(|printed| {
        let folder = String::from_utf8_lossy(&printed.stdout);
        printed.status.success() && Path::new(folder.trim()).is_dir()
    })
}
