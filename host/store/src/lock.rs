//! Connectors' own short critical sections. Not the leases of sessions: those are [`crate::Leases`].

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, ExecutionId};

use crate::error::Result;

/// Locks that one connection may hold at once, over all its executions: what they take of the host's memory. An execution
/// holds a handful; a connector that takes one for every message it ever saw is stopped here.
pub const HELD_MAX: usize = 10_000;

/// Locks of a connection, by key.
///
/// A lock is its owner's until it is released or its time is over. Time is the store's, whose steps of the wall clock neither
/// end nor prolong a lock, and it counts from when the store took the request: an owner that counts from before it asked
/// stops in time. After a restart of an embedded store all are free: their owners died with the process. Fences go on
/// from there.
#[async_trait]
pub trait Locks: Send + Sync {
    /// Takes a lock and says its fence, which is larger than that of every earlier grant of this key, also after a
    /// restart. `None` while it is held, by its owner too. [`StoreError::TooMany`](crate::StoreError::TooMany) when the
    /// connection holds [`HELD_MAX`].
    async fn try_lock(
        &self,
        connection: &ConnectionId,
        key: &str,
        owner: ExecutionId,
        ttl: Duration,
    ) -> Result<Option<u64>>;
    /// Keeps a lock for this long from now. `false` when it is not this owner's under this fence any more: a lock whose time
    /// is over is nobody's, also when nobody took it since.
    async fn renew(
        &self,
        connection: &ConnectionId,
        key: &str,
        owner: ExecutionId,
        fence: u64,
        ttl: Duration,
    ) -> Result<bool>;
    /// Gives back everything that this owner holds. What is somebody else's by now stays theirs.
    async fn release(&self, connection: &ConnectionId, owner: ExecutionId) -> Result<()>;
    /// Gives back one. `false` when it was not this owner's under this fence any more.
    async fn unlock(&self, connection: &ConnectionId, key: &str, owner: ExecutionId, fence: u64) -> Result<bool>;
}
