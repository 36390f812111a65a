//! Compiling: in a process of its own, so that a component made to exhaust the compiler exhausts nobody else.
//!
//! The host sends the limits and the component on the child's stdin; the child limits itself, answers on stdout, and is
//! killed when it takes too long. It inherits no environment and no other file.

mod child;
mod entry;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use self::child::ARTIFACT_BYTES_MAX;
pub use self::entry::compile_child;
use crate::engine::Engine;
use crate::load::LoadError;

/// How components are compiled.
#[derive(Clone, Debug)]
pub enum Compiler {
    /// In a child process.
    Child {
        /// The program: one whose `main` calls [`compile_child`].
        program: PathBuf,
        /// What tells it to.
        args: Vec<OsString>,
        /// What it may use.
        limits: CompileLimits,
    },
    /// In this process, without limits: for the child itself and for tests.
    Inline,
}

/// What one compilation may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// Processor time in seconds, over all threads.
    pub cpu_seconds: u64,
    /// Address space in bytes.
    pub address_space: u64,
    /// Time by the wall.
    pub wall: Duration,
}

impl Default for CompileLimits {
    /// An 18 MB Python connector takes 13 s and less than 2 GiB.
    fn default() -> Self {
        Self { cpu_seconds: 120, address_space: 4 << 30, wall: Duration::from_secs(120) }
    }
}

/// Compiles a component that was found valid.
pub(crate) async fn compile(engine: &Engine, bytes: Vec<u8>) -> Result<Vec<u8>, LoadError> {
    let Ok(_permit) = engine.compiles().acquire().await else {
        return Err(LoadError::Host("the engine is shutting down".to_owned()));
    };
    match engine.compiler() {
        Compiler::Child { program, args, limits } => child::compile(program, args, limits, bytes).await,
        Compiler::Inline => {
            let wasmtime = engine.wasmtime().clone();
            blocking(move || entry::compile(&wasmtime, &bytes).map_err(LoadError::Compile)).await
        }
    }
}

/// Runs work that takes long on a thread for that. A panic in it is an error of the host, not its end.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(LoadError::Host(format!("a worker failed: {error}"))),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
