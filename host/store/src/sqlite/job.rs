//! One write that somebody waits for. Runs inside a group's transaction, maybe twice: when the first try was taken back.

use std::time::Duration;

use jackfield_model::{Monotonic, Timestamp};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::Result;
use crate::sqlite::failure::Failure;
use crate::sqlite::memory::Memory;

/// What a ttl is cut to when the clock can't count so far.
const TTL_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What a job works on.
pub(super) struct Pass<'a> {
    /// Inside a transaction.
    pub(super) db: &'a Connection,
    /// What is kept beside the file; taken back with the transaction.
    pub(super) memory: &'a mut Memory,
    /// Wall time of the group.
    pub(super) now: Timestamp,
    /// Monotonic time of the group.
    pub(super) monotonic: Monotonic,
}

impl Pass<'_> {
    /// When something lapses that is granted now for this long.
    pub(super) fn until(&self, ttl: Duration) -> Monotonic {
        self.monotonic.checked_add(ttl.min(TTL_MAX)).unwrap_or(self.monotonic)
    }
}

/// What a job weighs against the ceilings of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Dispatches it settles or parks. 0 for everything but batches.
    pub(super) dispatches: usize,
    /// Their bytes.
    pub(super) bytes: usize,
}

impl Weight {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            dispatches: self.dispatches.saturating_add(other.dispatches),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// A write that waits.
pub(super) trait Job: Send {
    /// What it weighs.
    fn weight(&self) -> Weight;
    /// Does it, and keeps what to answer.
    fn run(&mut self, pass: &mut Pass<'_>) -> rusqlite::Result<()>;
    /// Answers: what it kept, or how the group failed.
    fn answer(self: Box<Self>, failure: Option<&Failure>);
}

/// A job made of a closure.
pub(super) struct Task<W, T> {
    pub(super) weight: Weight,
    pub(super) work: W,
    pub(super) done: Option<T>,
    pub(super) reply: oneshot::Sender<Result<T>>,
}

impl<W, T> Job for Task<W, T>
where
    W: FnMut(&mut Pass<'_>) -> rusqlite::Result<T> + Send,
    T: Send,
{
    fn weight(&self) -> Weight {
        self.weight
    }

    fn run(&mut self, pass: &mut Pass<'_>) -> rusqlite::Result<()> {
        self.done = Some((self.work)(pass)?);
        Ok(())
    }

    fn answer(self: Box<Self>, failure: Option<&Failure>) {
        let answer = match (failure, self.done) {
            (None, Some(done)) => Ok(done),
            (Some(failure), _) => Err(failure.error()),
            // Not answering reads as broken, which this would be.
            (None, None) => return,
        };
        // Whoever waited may be gone; what was written stays.
        let _ = self.reply.send(answer);
    }
}
