//! The ledger of actions, and the keys under which callers submit them.
//!
//! The ledger says what was tried, by whom and how it ended. It is for people: nothing decides by it whether something may
//! be done again. That is what submissions are for, a table of its own: one entry for each key that a caller gave, scoped to
//! connection and action, written before anything is sent.
//!
//! A key names one request, for as long as it is kept:
//! - Other arguments under it are a conflict, whatever came of the first ones. Also where the last attempt certainly did
//!   nothing: one before it may have, and whoever changes a request makes another one, under another key.
//! - The same arguments run again only where nothing can be done twice: the last attempt certainly did nothing, or
//!   repeating does no harm, for as long as it does none: platforms know a key for a while. Where an attempt that did nothing,
//!   also one that was rejected, follows one whose outcome is not known, the key's outcome is not known.
//! - It is kept exactly as long as its newest execution is: see [`crate::retention::Policy::executions`]. After that the same
//!   key is a new one, so a caller gives no key again that is older than that.

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::action::{Ending, EndingKind};
use jackfield_model::{ConnectionId, Digest, ExecutionId, Generation, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Where an execution was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// Over the admin socket, which the command line uses.
    Admin,
    /// By the program that embeds the host.
    Library,
}

/// An execution that is about to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Its id.
    pub id: ExecutionId,
    /// Whose action.
    pub connection: ConnectionId,
    /// Which code runs it.
    pub generation: Generation,
    /// The digest of that code.
    pub digest: Digest,
    /// Which action.
    pub action: String,
    /// Where it was asked for.
    pub surface: Surface,
    /// Who asked, as far as that is known: for the admin socket the user of the process.
    pub caller: String,
    /// The arguments, redacted: a JSON object, as text.
    pub args: String,
    /// SHA-256 over the whole arguments in a form that does not depend on spelling.
    pub args_digest: Digest,
    /// The caller's key.
    pub key: Option<String>,
    /// Which attempt the caller says it is, 1 for the first; 0 is taken for 1. With a key the store counts too, and the larger
    /// number is kept.
    pub attempt: u32,
    /// Who approved it, where that was needed.
    pub approved: Option<String>,
    /// When it was asked for.
    pub submitted_at: Timestamp,
    /// Whether one whose outcome is unknown may run again under the same key.
    pub repeats: Repeats,
}

/// Whether what may have been done may be done again under the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// It would be done twice.
    Never,
    /// It does no harm for so long after the first attempt that may have done it was submitted.
    Within(Duration),
    /// It never does any harm.
    Always,
}

impl Repeats {
    /// Whether it does no harm now, when the first attempt that may have done it was submitted then.
    #[must_use]
    pub fn harmless(self, then: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::Never => false,
            Self::Within(window) => now < then.after(window),
            Self::Always => true,
        }
    }
}

/// What came of an opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The row is there, durable, and so is the key. Run it.
    New {
        /// Which attempt it is.
        attempt: u32,
        /// An attempt before it may have done it. When the first such was submitted.
        doubt: Option<Timestamp>,
    },
    /// The same was submitted before under this key. Nothing was written.
    Same {
        /// That execution.
        id: ExecutionId,
        /// Which attempt that was.
        attempt: u32,
        /// What its caller was told; `None` while it runs. `unknown` where it did nothing itself and an attempt before it
        /// may have.
        ending: Option<Ending>,
    },
    /// Something else was submitted before under this key. Nothing was written.
    Conflict {
        /// That execution.
        id: ExecutionId,
    },
}

/// One request that an execution made, or was not allowed to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// When.
    pub at: Timestamp,
    /// HTTP method.
    pub method: String,
    /// Origin and path, without query, masked.
    pub target: String,
    /// It may have reached the platform.
    pub left: bool,
    /// Status of the answer.
    pub status: Option<u16>,
    /// Why there was none: the fault, in a sentence.
    pub fault: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// What the caller is told. Kept whole with the key, so that the same submission is told the same.
    pub ending: Ending,
    /// The output as the ledger shows it: redacted JSON, as text. Empty where there is none.
    pub result: String,
    /// What happened on the way that somebody may want to know: a trap, a lapsed lease. Redacted.
    pub notes: Vec<String>,
    /// What was sent, oldest first.
    pub requests: Vec<Request>,
    /// How long it waited for a place in a bucket, in milliseconds.
    pub waited_ms: u64,
    /// When the guest was first called; `None` when it never was.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Timestamp,
}

/// A row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Execution {
    /// Its id.
    pub id: ExecutionId,
    /// Whose action.
    pub connection: ConnectionId,
    /// Which code ran it.
    pub generation: Generation,
    /// The digest of that code.
    pub digest: Digest,
    /// Which action.
    pub action: String,
    /// Where it was asked for.
    pub surface: Surface,
    /// Who asked.
    pub caller: String,
    /// The caller's key.
    pub key: Option<String>,
    /// Which attempt.
    pub attempt: u32,
    /// Who approved it.
    pub approved: Option<String>,
    /// The arguments, redacted: JSON, as text.
    pub args: String,
    /// When it was asked for.
    pub submitted_at: Timestamp,
    /// When the guest was first called.
    pub started_at: Option<Timestamp>,
    /// When it ended; `None` while it runs.
    pub finished_at: Option<Timestamp>,
    /// How long it waited for a place in a bucket, in milliseconds.
    pub waited_ms: u64,
    /// How it ended.
    pub outcome: Option<EndingKind>,
    /// Why it is not done.
    pub reason: Option<String>,
    /// Redacted output: JSON, as text.
    pub result: String,
    /// The platform's ids of what was made, in order.
    pub provider_ids: Vec<String>,
    /// What happened on the way.
    pub notes: Vec<String>,
    /// What was sent.
    pub requests: Vec<Request>,
}

/// Which executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this connection only.
    pub connection: Option<ConnectionId>,
    /// Of this action only.
    pub action: Option<String>,
    /// That ended so.
    pub outcome: Option<EndingKind>,
    /// Submitted under this key.
    pub key: Option<String>,
    /// That made this, by the platform's id.
    pub provider_id: Option<String>,
}

/// The ledger and the submissions.
#[async_trait]
pub trait Executions: Send + Sync {
    /// Writes the row, and with a key the submission, in one transaction. Returns when both are durable.
    ///
    /// A key whose last execution certainly did nothing (`retry`, `unauthorized`) may be used again for the same; so may one
    /// whose outcome is unknown where the opening says that repeating still does no harm. An id that was opened before is an error.
    async fn open(&self, opening: Opening) -> Result<Opened>;
    /// Ends a row, and tells its submission how, in one transaction. Durable when it returns. An execution that has ended
    /// stays as it is, and one that was never opened is none: `false`.
    async fn close(&self, id: ExecutionId, closing: Closing) -> Result<bool>;
    /// One row.
    async fn execution(&self, id: ExecutionId) -> Result<Option<Execution>>;
    /// Rows with ids below `before` (all where `None`), newest first, at most `limit`. All of the filter has to hold. A page of
    /// heavy rows may be shorter than asked for; only an empty one is the end.
    async fn executions(&self, filter: &Filter, before: Option<ExecutionId>, limit: usize) -> Result<Vec<Execution>>;
    /// Ends what an earlier process left open as `unknown`, with this reason: whether it was done is not known. Rows and
    /// submissions in one transaction. Returns how many rows there were. Called once, before anything is opened.
    async fn interrupted(&self, reason: &str) -> Result<u64>;
}
