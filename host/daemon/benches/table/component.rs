//! What the measures share: an engine as the host has it, the loaded components, and a batch of messages.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use jackfield_engine::transform::{Pool, Received};
use jackfield_engine::{Ceilings, CompileLimits, Compiler, Component, Engine, GuestLimits, LogSink, Options};
use jackfield_model::{Dispatch, Timestamp, clock};
use tokio::runtime::Runtime;

use crate::contest::Contender;
use crate::processor::{self, thread_time};
use crate::{guest, message};

/// Dispatches of one call: as many as the host gives to one.
pub(crate) const BATCH: u64 = 32;

/// First argument of this program when it is the engine's compiler.
pub(crate) const COMPILE: &str = "compile-child";

/// What the measures share.
pub(crate) struct Bench {
    /// For calls: nothing here runs side by side.
    pub(crate) runtime: Runtime,
    /// The Discord connector as a file.
    pub(crate) discord_bytes: Vec<u8>,
    /// The Discord connector.
    pub(crate) discord: Component,
    /// A guest that ignores everything, as a file.
    pub(crate) idle_bytes: Vec<u8>,
    /// A guest that ignores everything.
    pub(crate) idle: Component,
}

impl Bench {
    /// Builds the components, and goes to the one processor: builds may use all of them.
    pub(crate) fn build() -> Result<Self> {
        let (discord_bytes, idle_bytes) = (guest::discord()?, guest::idle()?);
        processor::pin()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (discord, idle) = runtime.block_on(async {
            let engine = engine(None)?;
            anyhow::Ok((engine.load(discord_bytes.clone()).await?, engine.load(idle_bytes.clone()).await?))
        })?;
        Ok(Self { runtime, discord_bytes, discord, idle_bytes, idle })
    }

    /// Ours in P1 and P2: one call for each batch, by the time of this thread.
    pub(crate) fn transform<'a>(&'a self, pool: &'a Pool, batch: &'a [Received]) -> Contender<'a> {
        Box::new(move |batches| {
            self.runtime.block_on(async {
                let begun = thread_time();
                for _ in 0..batches {
                    pool.transform(batch).await?;
                }
                Ok(thread_time() - begun)
            })
        })
    }
}

/// An engine as the host makes it, with a cache or without.
pub(crate) fn engine(cache: Option<PathBuf>) -> Result<Engine> {
    let program = env::current_exe().context("find this program")?;
    let compiler = Compiler::Child { program, args: vec![COMPILE.into()], limits: CompileLimits::default() };
    Ok(Engine::new(Options { cache, compiler, ceilings: Ceilings::default(), clock: clock::system() })?)
}

/// A pool as a connection has it.
pub(crate) fn pool(component: &Component) -> Pool {
    pool_with(component, GuestLimits::default())
}

/// The same with other limits.
pub(crate) fn pool_with(component: &Component, limits: GuestLimits) -> Pool {
    /// As many as the host runs side by side.
    const SIZE: usize = 2;
    Pool::new(component, limits, SIZE, LogSink::none(clock::system()))
}

/// A batch of different messages.
pub(crate) fn batch() -> Vec<Received> {
    (0..BATCH).map(|n| received(message::dispatch(n))).collect()
}

/// A dispatch as the pool takes it.
pub(crate) fn received(dispatch: Dispatch) -> Received {
    Received { dispatch: Arc::new(dispatch), via: message::VIA, received_at: Timestamp(message::RECEIVED_AT) }
}
