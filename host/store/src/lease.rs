//! Who may run a connection's session. Every grant has a new, larger epoch; the fence is written with the grant.

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Epoch, Fence, Timestamp, Token};
use serde::Serialize;

use crate::error::Result;

/// Answer to an acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquire {
    /// Ours, under this epoch. The count of its commits starts at 0.
    Granted {
        /// The grant.
        epoch: Epoch,
    },
    /// Somebody else's until then.
    Held {
        /// When it lapses unless renewed.
        until: Timestamp,
    },
}

/// Answer to a renew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renew {
    /// Still ours.
    Held,
    /// Not ours any more.
    Lost,
}

/// The newest grant of a connection, for status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Its number.
    pub epoch: Epoch,
    /// When it was granted.
    pub granted_at: Timestamp,
    /// When it lapses; `None` once released.
    pub until: Option<Timestamp>,
}

/// Leases of sessions.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes the lease, or says who is ahead. With the same token again: extends it under the same epoch.
    /// An embedded backend has one process, so a lease that another process left is always free.
    async fn acquire(&self, connection: &ConnectionId, token: Token, ttl: Duration) -> Result<Acquire>;
    /// Keeps the lease.
    async fn renew(&self, connection: &ConnectionId, fence: Fence, ttl: Duration) -> Result<Renew>;
    /// Gives the lease back: compare and delete. A lease that is not ours stays as it is. The fence stays.
    async fn release(&self, connection: &ConnectionId, fence: Fence) -> Result<()>;
    /// The newest grant.
    async fn standing(&self, connection: &ConnectionId) -> Result<Option<Standing>>;
}
