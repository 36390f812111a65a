//! The engine: wasmtime in the hardened profile, its ticker, its cache and its compiler. One for the whole host.

use std::path::PathBuf;
use std::sync::Arc;

use jackfield_model::clock::SharedClock;
use tokio::sync::Semaphore;
use wasmtime::component::Linker;

use crate::cache::{Cache, CacheError};
use crate::compile::Compiler;
use crate::guest::Guest;
use crate::limits::Ceilings;
use crate::ticker::{Health, Ticker};
use crate::{capability, profile, wasi};

/// Components that are compiled at once. Compiling uses every processor by itself.
const COMPILES_MAX: usize = 2;

/// What an engine is made of.
pub struct Options {
    /// Folder for compiled components. `None`: every load compiles.
    pub cache: Option<PathBuf>,
    /// How components are compiled.
    pub compiler: Compiler,
    /// What all guests may use together.
    pub ceilings: Ceilings,
    /// Time.
    pub clock: SharedClock,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Wasmtime refused the configuration, or the address space for the pool is not to be had.
    #[error("the engine can't be set up: {0}; if address space is short, lower the number of instances")]
    Setup(String),
    /// The ticker thread could not be started.
    #[error("the engine's clock thread can't be started: {0}")]
    Ticker(#[source] std::io::Error),
    /// The cache folder can't be trusted or used.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// Loads and runs components. Clones are the same engine.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    wasmtime: wasmtime::Engine,
    linker: Linker<Guest>,
    ticker: Ticker,
    cache: Option<Cache>,
    compiler: Compiler,
    compiles: Semaphore,
    ceilings: Ceilings,
    clock: SharedClock,
}

impl Engine {
    /// Reserves the pool, starts the ticker, and checks the cache folder.
    ///
    /// # Errors
    /// No address space, no thread, or a cache folder that others may write to.
    pub fn new(options: Options) -> Result<Self, EngineError> {
        let Options { cache, compiler, ceilings, clock } = options;
        let setup = |error: wasmtime::Error| EngineError::Setup(format!("{error:#}"));
        let wasmtime = wasmtime::Engine::new(&profile::running(&ceilings)).map_err(setup)?;
        let mut linker = Linker::new(&wasmtime);
        capability::link(&mut linker).map_err(setup)?;
        wasi::link(&mut linker).map_err(setup)?;
        let weak = wasmtime.weak();
        let tick = move || {
            if let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
            }
        };
        let ticker = Ticker::start(Arc::clone(&clock), tick).map_err(EngineError::Ticker)?;
        let cache = cache.map(|folder| Cache::open(folder, &wasmtime)).transpose()?;
        let compiles = Semaphore::new(COMPILES_MAX);
        Ok(Self(Arc::new(Inner { wasmtime, linker, ticker, cache, compiler, compiles, ceilings, clock })))
    }

    /// Whether deadlines work. Calls are refused while they don't.
    #[must_use]
    pub fn health(&self) -> Health {
        self.0.ticker.health()
    }

    pub(crate) fn ticks(&self) -> u64 {
        self.0.ticker.ticks()
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.wasmtime
    }

    pub(crate) fn linker(&self) -> &Linker<Guest> {
        &self.0.linker
    }

    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.0.cache.as_ref()
    }

    pub(crate) fn compiler(&self) -> &Compiler {
        &self.0.compiler
    }

    pub(crate) fn compiles(&self) -> &Semaphore {
        &self.0.compiles
    }

    pub(crate) fn ceilings(&self) -> &Ceilings {
        &self.0.ceilings
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.0.clock
    }

    #[cfg(test)]
    pub(crate) fn ticker(&self) -> &Ticker {
        &self.0.ticker
    }
}
