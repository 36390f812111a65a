//! Pruning: what has outlived its use, in small steps that hold nobody up.

use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;

use crate::error::Result;

/// How long what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Events, counted from their commit. Never pruned before the slowest named cursor has passed.
    pub events: Duration,
    /// Dead letters. They carry raw payloads, so they end too; the count of what ended is returned.
    pub dead_letters: Duration,
    /// Executions, counted from their end, with their submissions: for so long a key is known. One that runs never ends by this.
    pub executions: Duration,
    /// Entries of a connection's dedupe window, counted.
    pub dedupe_entries: usize,
}

/// What one step pruned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Events.
    pub events: u64,
    /// Dead letters that nobody dealt with: the caller logs and counts them.
    pub dead_letters: u64,
    /// Executions.
    pub executions: u64,
    /// There is more: call again.
    pub more: bool,
}

/// Pruning.
#[async_trait]
pub trait Retention: Send + Sync {
    /// One step, at most 512 rows of each kind.
    async fn prune(&self, policy: Policy) -> Result<Pruned>;
}
