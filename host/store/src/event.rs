//! The event log, read side, and its named cursors.

use async_trait::async_trait;
use jackfield_model::{Blob, ConnectionId, Epoch, Event, Generation, Timestamp, Transport};
use serde::Serialize;
use tokio::sync::watch;

use crate::error::Result;

/// An event as it stands in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// Its place in the log. Grows, never reused; gaps may occur.
    pub position: u64,
    /// Whose.
    pub connection: ConnectionId,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
    /// The contact it is about.
    pub contact: Option<String>,
    /// Keys of its subject point to other contacts too: their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// The platform's name for the payload it came from.
    pub kind: String,
    /// Lane of the dispatch.
    pub lane: String,
    /// How the dispatch came.
    pub via: Transport,
    /// When the host received the dispatch.
    pub received_at: Timestamp,
    /// When it was committed.
    pub stored_at: Timestamp,
    /// The grant it was committed under; 0 without one.
    pub epoch: Epoch,
    /// The generation that submitted the dispatch.
    pub submitted_by: Generation,
    /// The generation that transformed it.
    pub transformed_by: Generation,
    /// Out of its lane's order.
    pub late: bool,
    /// Characters that no store takes were replaced.
    pub sanitized: bool,
}

/// Which events.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this connection only.
    pub connection: Option<ConnectionId>,
    /// With this name only.
    pub name: Option<String>,
}

/// A consumer's place in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cursor {
    /// Its name.
    pub name: String,
    /// Everything up to here is dealt with.
    pub position: u64,
    /// When it last moved.
    pub moved_at: Timestamp,
}

/// The log, read side.
#[async_trait]
pub trait Events: Send + Sync {
    /// Events after `after`, oldest first, at most `limit`.
    async fn page(&self, filter: &Filter, after: u64, limit: usize) -> Result<Vec<Record>>;
    /// The newest `limit` events, oldest first.
    async fn newest(&self, filter: &Filter, limit: usize) -> Result<Vec<Record>>;
    /// The payload as received, of an event in which characters had to be replaced. `None` for any other, and once pruned.
    async fn raw(&self, position: u64) -> Result<Option<Blob>>;
    /// Says the newest position whenever it grew.
    fn head(&self) -> watch::Receiver<u64>;
    /// Where this consumer is; `None` when the name is new.
    async fn cursor(&self, name: &str) -> Result<Option<Cursor>>;
    /// Moves a cursor forward, and makes it where it is new. Never moves it back.
    async fn advance(&self, name: &str, position: u64) -> Result<()>;
    /// All cursors, by name.
    async fn cursors(&self) -> Result<Vec<Cursor>>;
    /// Forgets a cursor, so that it no longer holds up pruning. `false` when there was none.
    async fn forget(&self, name: &str) -> Result<bool>;
}
