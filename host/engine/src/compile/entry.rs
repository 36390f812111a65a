//! The child's side.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use wasmtime::component::Component;

use super::CompileLimits;
use crate::load::COMPONENT_BYTES_MAX;
use crate::profile;

/// The first line that the host sends.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    cpu_seconds: u64,
    address_space: u64,
}

impl From<&CompileLimits> for Order {
    fn from(limits: &CompileLimits) -> Self {
        Self { cpu_seconds: limits.cpu_seconds, address_space: limits.address_space }
    }
}

/// What the child says when it fails.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Problem {
    pub(super) problem: String,
}

/// Longest first line.
const ORDER_BYTES_MAX: u64 = 1024;

/// What a program does that [`super::Compiler::Child`] names: limits itself, reads a component from `stdin` and writes its
/// artifact to `stdout`; on failure a problem as JSON instead, and a non-zero exit.
pub fn compile_child(stdin: impl Read, mut stdout: impl Write) -> ExitCode {
    let (code, output) = match compile_ordered(stdin) {
        Ok(artifact) => (ExitCode::SUCCESS, artifact),
        Err(problem) => (ExitCode::FAILURE, serde_json::to_vec(&Problem { problem }).unwrap_or_default()),
    };
    match stdout.write_all(&output).and_then(|()| stdout.flush()) {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

fn compile_ordered(stdin: impl Read) -> Result<Vec<u8>, String> {
    let mut stdin = BufReader::new(stdin);
    let mut line = String::new();
    (&mut stdin).take(ORDER_BYTES_MAX).read_line(&mut line).map_err(|error| format!("read order: {error}"))?;
    let order: Order = serde_json::from_str(&line).map_err(|error| format!("read order: {error}"))?;
    limit(Resource::Core, 0, 0)?;
    // The soft limit ends it with a signal that says why.
    limit(Resource::Cpu, order.cpu_seconds, order.cpu_seconds.saturating_add(1))?;
    limit(Resource::As, order.address_space, order.address_space)?;
    let mut bytes = Vec::new();
    stdin
        .take(COMPONENT_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("read component: {error}"))?;
    let engine = wasmtime::Engine::new(&profile::compiling()).map_err(|error| format!("{error:#}"))?;
    compile(&engine, &bytes)
}

/// Soft and hard limit: there is no way back.
fn limit(resource: Resource, soft: u64, hard: u64) -> Result<(), String> {
    let limit = Rlimit { current: Some(soft), maximum: Some(hard) };
    setrlimit(resource, limit).map_err(|error| format!("limit {resource:?}: {error}"))
}

/// Compiles, from the binary form alone: text is never parsed.
pub(super) fn compile(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let component = Component::from_binary(engine, bytes).map_err(|error| format!("{error:#}"))?;
    component.serialize().map_err(|error| format!("{error:#}"))
}
