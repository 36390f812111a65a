//! Where a session goes on from. Stored only once everything submitted before it is settled.

use async_trait::async_trait;
use jackfield_model::{Blob, ConnectionId, Generation, Timestamp};

use crate::commit::Ground;
use crate::error::Result;

/// A stored checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// What the guest wrote.
    pub bytes: Blob,
    /// Its format, as the descriptor declares it.
    pub format: u32,
    /// The generation that wrote it.
    pub generation: Generation,
    /// When it was stored.
    pub stored_at: Timestamp,
}

/// Checkpoints, one a connection.
#[async_trait]
pub trait Checkpoints: Send + Sync {
    /// Replaces the connection's checkpoint. `false` when the ground is not the newest (fence and count): nothing was written.
    /// Need not be durable before it returns: an older one only means that more comes again.
    async fn store(&self, connection: &ConnectionId, checkpoint: Checkpoint, ground: Ground) -> Result<bool>;
    /// The newest.
    async fn load(&self, connection: &ConnectionId) -> Result<Option<Checkpoint>>;
}
