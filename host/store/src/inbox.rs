//! Where dispatches wait that could not be settled at once: a slow or failing `transform`, a lane that is backed up, a redrive.

use std::sync::Arc;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Dispatch};

use crate::commit::Reception;
use crate::error::Result;

/// Number of an inbox row. Grows in the order of writing, so a lane's rows are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct RowId(pub u64);

/// A dispatch that waits. Written by [`crate::Commits::commit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The dispatch.
    pub dispatch: Arc<Dispatch>,
    /// How it came.
    pub reception: Reception,
    /// How often it failed.
    pub attempts: u32,
    /// Out of its lane's order.
    pub late: bool,
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Depth {
    /// Rows.
    pub rows: u64,
    /// Bytes of dispatches.
    pub bytes: u64,
    /// Age base: when the oldest one was received, in milliseconds since the epoch.
    pub oldest: Option<jackfield_model::Timestamp>,
}

/// What waits, read side.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Rows of a connection after `after`, oldest first, at most `limit`.
    async fn waiting(&self, connection: &ConnectionId, after: RowId, limit: usize) -> Result<Vec<(RowId, Row)>>;
    /// How much of a connection waits.
    async fn depth(&self, connection: &ConnectionId) -> Result<Depth>;
}
