//! From bytes to a component: checked whole, compared with the contract, compiled (or taken from the cache), linked, and
//! asked who it is.
//!
//! Promised: nothing is compiled before the whole file is valid and every name in it is known; no import is ever stubbed; a
//! file that is refused leaves nothing behind.

mod actions;
mod describe;
mod error;
mod file;
mod shape;

use std::sync::Arc;

use jackfield_contract::exports;
use jackfield_model::Digest;

pub use self::error::{LoadError, LoadErrorKind};
pub use self::file::COMPONENT_BYTES_MAX;
use self::shape::Item;
pub(crate) use self::shape::Shape;
use crate::cache::{Kept, deserialize};
use crate::compile;
use crate::component::{Component, Exports, Facts, Import, Indices, Inner};
use crate::engine::Engine;

/// What a component is, before anything of it is compiled or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Of the whole file.
    pub digest: Digest,
    /// Length of the file in bytes.
    pub size: usize,
    /// What it imports.
    pub imports: Vec<Import>,
    /// What it exports.
    pub exports: Exports,
    /// The version of the contract that would serve it.
    pub contract: &'static str,
}

/// Checks a file as `load` does, without compiling or running it. Takes no longer than reading it a few times.
///
/// # Errors
/// Everything that is wrong with it, with what to change.
pub fn inspect(bytes: &[u8]) -> Result<Inspection, LoadError> {
    let shape = file::validate(bytes)?;
    shape.check()?;
    Ok(Inspection {
        digest: Digest::of(bytes),
        size: bytes.len(),
        imports: imports(&shape),
        exports: shape.exported(),
        contract: jackfield_contract::names::VERSION,
    })
}

impl Engine {
    /// Loads a component. Compiling happens in the background; the caller's thread stays free.
    ///
    /// # Errors
    /// The file, or what it says of itself, is not what this host runs; or it could not be compiled within the limits.
    pub async fn load(&self, bytes: Vec<u8>) -> Result<Component, LoadError> {
        let began = self.clock().monotonic();
        file::measure(&bytes)?;
        let size = bytes.len();
        let (bytes, digest) = compile::blocking(move || {
            let digest = Digest::of(&bytes);
            Ok((bytes, digest))
        })
        .await?;
        let found = match self.cache() {
            Some(cache) => cache.find(digest).await,
            None => None,
        };
        let cached = found.is_some();
        let Kept { component, artifact_size, shape } = match found {
            Some(kept) => kept,
            None => self.compile(bytes, digest).await?,
        };
        // Of a cached one too: the host that sealed it may have known other names.
        shape.check()?;

        let pre = self.linker().instantiate_pre(&component).map_err(|error| LoadError::contract(&error))?;
        let exported = shape.exported();
        let indices = Indices {
            connector: exports::connector::GuestIndices::new(&pre).map_err(|error| LoadError::contract(&error))?,
            transform: lookup(exported.transform, || exports::transform::GuestIndices::new(&pre))?,
            runtime: lookup(exported.runtime, || exports::runtime::GuestIndices::new(&pre))?,
            webhook: lookup(exported.webhook, || exports::webhook::GuestIndices::new(&pre))?,
            action: lookup(exported.action, || exports::action::GuestIndices::new(&pre))?,
        };
        let facts = Facts {
            digest,
            size,
            artifact_size,
            cached,
            load_time: self.clock().monotonic().saturating_duration_since(began),
            imports: imports(&shape),
        };
        let undescribed = Component(Arc::new(Inner {
            engine: self.clone(),
            pre,
            indices,
            descriptor: describe::none(),
            namespace: Arc::from(""),
            actions: Vec::new(),
            facts,
        }));
        describe::describe(undescribed).await
    }

    /// Checks the whole file, compiles it, and keeps what came of it for the next time.
    async fn compile(&self, bytes: Vec<u8>, digest: Digest) -> Result<Kept, LoadError> {
        let (bytes, shape) = compile::blocking(move || {
            let shape = file::validate(&bytes)?;
            shape.check()?;
            Ok((bytes, shape))
        })
        .await?;
        let artifact = compile::compile(self, bytes).await?;
        let artifact_size = artifact.len();
        if let Some(cache) = self.cache() {
            cache.keep(digest, &shape, &artifact).await;
        }
        let component = deserialize::trusted(self.wasmtime(), artifact).await.map_err(LoadError::compile)?;
        Ok(Kept { component, artifact_size, shape })
    }
}

fn lookup<T>(exported: bool, new: impl FnOnce() -> wasmtime::Result<T>) -> Result<Option<T>, LoadError> {
    exported.then(new).transpose().map_err(|error| LoadError::contract(&error))
}

fn imports(shape: &Shape) -> Vec<Import> {
    let import = |item: &Item| {
        let (name, version) = shape::split(&item.name);
        Import { name: name.to_owned(), version: version.map(str::to_owned) }
    };
    shape.imports.iter().map(import).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
