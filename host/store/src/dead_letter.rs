//! What could not be settled: raw bytes, where and why it died, and the two ways out.

use std::sync::Arc;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Dispatch, Timestamp};

use crate::commit::{Death, Reception};
use crate::error::Result;
use crate::inbox::RowId;

/// A dead letter. Its payload can carry platform tokens: show it redacted.
///
/// A dispatch that dies again while its letter is there (the same kind, lane, context and payload on the same connection) is
/// counted on it and not listed twice: a platform repeats what was not acknowledged to it, and a host that was killed
/// between the letter and the acknowledgement can't know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its number.
    pub id: u64,
    /// Whose.
    pub connection: ConnectionId,
    /// The dispatch, as received.
    pub dispatch: Arc<Dispatch>,
    /// How it came.
    pub reception: Reception,
    /// Why it died.
    pub death: Death,
    /// When.
    pub died_at: Timestamp,
    /// How often it died again since.
    pub repeats: u64,
}

/// Dead letters.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// Letters with numbers above `after`, oldest first, at most `limit`.
    async fn letters(&self, connection: Option<&ConnectionId>, after: u64, limit: usize) -> Result<Vec<Letter>>;
    /// One letter.
    async fn letter(&self, id: u64) -> Result<Option<Letter>>;
    /// Moves a letter into its connection's inbox, marked late, in one transaction. `None` when there is no such letter.
    async fn redrive(&self, id: u64) -> Result<Option<RowId>>;
    /// Ends a letter. `false` when there was none.
    async fn discard(&self, id: u64) -> Result<bool>;
    /// How many there are, of one connection or of all.
    async fn count(&self, connection: Option<&ConnectionId>) -> Result<u64>;
}
