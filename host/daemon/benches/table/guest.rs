//! The components that are measured, built as their authors would build them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "connector";

/// A target folder of its own: connectors are built with another profile for another machine, and whoever builds the host at
/// the same time need not wait.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("connectors")
}

/// The Discord connector.
pub(crate) fn discord() -> Result<Vec<u8>> {
    build(&["--package", "jackfield-discord"], "jackfield_discord.wasm")
}

/// A guest that does nothing: the starting point for authors ignores every kind but its own.
pub(crate) fn idle() -> Result<Vec<u8>> {
    build(&["--package", "jackfield-sdk", "--example", "starting_point"], "examples/starting_point.wasm")
}

fn build(what: &[&str], file: &str) -> Result<Vec<u8>> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--target", TARGET, "--profile", PROFILE])
        .args(what)
        .arg("--target-dir")
        .arg(folder())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .context("run cargo")?;
    ensure!(
        status.success(),
        "cargo could not build {file} for {TARGET}; `rustup target add {TARGET}` if that is missing"
    );
    let path = folder().join(TARGET).join(PROFILE).join(file);
    std::fs::read(&path).with_context(|| format!("read {}", path.display()))
}
