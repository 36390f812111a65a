//! What happened to a message: everything that the store has about one id of a platform, or one key of an event.
//!
//! For people on call. No index leads there, since none lies on the way of an event; so the log and what waits are looked
//! through from the newest to the oldest, in small steps. That takes as long as the log is, and holds nobody up. Whoever
//! stops waiting ends it.

use async_trait::async_trait;
use jackfield_model::ConnectionId;

use crate::dead_letter::Letter;
use crate::error::Result;
use crate::event::Record;
use crate::execution::Execution;
use crate::inbox::{Row, RowId};

/// What was found. Payloads and contexts in it can carry platform tokens: show them redacted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    /// Events whose key, or the key that they refer to, is the text or ends in `:` and the text.
    pub events: Found<Record>,
    /// Dispatches in the inbox whose payload or context has the text in it, byte by byte.
    pub waiting: Found<Waiting>,
    /// Dead letters, by the same rule.
    pub dead_letters: Found<Letter>,
    /// Executions with this id, under this key, or that made this by the platform's id.
    pub executions: Found<Execution>,
}

/// One list of what was found, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<T> {
    /// At most as many as were asked for; fewer where they are heavy.
    pub items: Vec<T>,
    /// The search ended before it had seen all, since these are enough.
    pub more: bool,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self { items: Vec::new(), more: false }
    }
}

/// A dispatch that waits in the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Whose.
    pub connection: ConnectionId,
    /// Its number.
    pub id: RowId,
    /// The dispatch.
    pub row: Row,
}

/// The search.
#[async_trait]
pub trait Trace: Send + Sync {
    /// Everything about this text, at most `limit` of each kind and at least one. An empty text is about nothing.
    ///
    /// What is settled while the search runs is found where it was or where it went, perhaps in both; only a dead letter that
    /// is redriven at that moment may be missed. What comes after the search began may be missed.
    async fn trace(&self, text: &str, limit: usize) -> Result<Trail>;
}
