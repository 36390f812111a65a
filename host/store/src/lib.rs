//! What has to survive: one trait per store, the suites that every backend passes, and the backends.
//!
//! | trait | keeps | promise |
//! | --- | --- | --- |
//! | [`Commits`] | events, dedupe markers, contacts, dead letters, inbox rows, session state | one function, one transaction, under the fence |
//! | [`Events`] | the event log, read side, and its named cursors | total order by position; pruned behind the slowest cursor only |
//! | [`Inbox`] | dispatches that could not be settled at once | in order per lane; attempts survive a crash |
//! | [`DeadLetters`] | what could not be settled at all | raw bytes and reason; nothing is dropped unseen |
//! | [`Contacts`] | people | no merge, no revival, no creation by observation |
//! | [`State`] | a small map per connection | read side; written by a commit |
//! | [`Checkpoints`] | the newest checkpoint that is settled | under the fence |
//! | [`Leases`] | who may run a session | epochs only grow |
//! | [`Starts`] | the start budget | durable, never more than the platform allows |
//! | [`Parked`] | connections that need somebody | until that changed |
//! | [`Executions`] | the ledger of actions, and the keys under which callers submit them | durable before anything is sent; one key, one execution |
//! | [`Locks`] | connectors' short critical sections | one owner at a time; fences only grow |
//! | [`Trace`] | nothing: it searches all of these | holds nobody up |
//! | [`Generations`] | which code serves a connection, numbered; the key of names | a number stands for one digest for ever |
//! | [`Retention`] | nothing: it prunes | never before the slowest named cursor |
//!
//! [`sqlite`] is the embedded backend: one file, one process.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "tests")
)]

pub mod checkpoint;
pub mod commit;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod contact;
pub mod dead_letter;
pub mod error;
pub mod event;
pub mod execution;
pub mod generation;
pub mod inbox;
pub mod lease;
pub mod lock;
pub mod parked;
pub mod retention;
pub mod sqlite;
pub mod start;
pub mod state;
pub mod trace;

use std::sync::Arc;

pub use checkpoint::Checkpoints;
pub use commit::Commits;
pub use contact::Contacts;
pub use dead_letter::DeadLetters;
pub use error::{Kind, StoreError};
pub use event::Events;
pub use execution::Executions;
pub use generation::Generations;
pub use inbox::Inbox;
pub use lease::Leases;
pub use lock::Locks;
pub use parked::Parked;
pub use retention::Retention;
pub use start::Starts;
pub use state::State;
pub use trace::Trace;

/// Everything that a host needs, behind whichever backend.
#[derive(Clone)]
pub struct Stores {
    /// The only way in for what was received.
    pub commits: Arc<dyn Commits>,
    /// The event log.
    pub events: Arc<dyn Events>,
    /// What waits.
    pub inbox: Arc<dyn Inbox>,
    /// What could not be settled.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// People.
    pub contacts: Arc<dyn Contacts>,
    /// Connectors' own maps.
    pub state: Arc<dyn State>,
    /// Where sessions go on from.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// Who may run what.
    pub leases: Arc<dyn Leases>,
    /// Start budgets.
    pub starts: Arc<dyn Starts>,
    /// What waits for somebody.
    pub parked: Arc<dyn Parked>,
    /// What was asked of the platform, and how it ended.
    pub executions: Arc<dyn Executions>,
    /// Connectors' own locks.
    pub locks: Arc<dyn Locks>,
    /// The search.
    pub trace: Arc<dyn Trace>,
    /// Which code serves what.
    pub generations: Arc<dyn Generations>,
    /// Pruning.
    pub retention: Arc<dyn Retention>,
}

impl Stores {
    /// All stores from one backend that implements them all.
    pub fn of<B>(backend: Arc<B>) -> Self
    where
        B: Commits
            + Events
            + Inbox
            + DeadLetters
            + Contacts
            + State
            + Checkpoints
            + Leases
            + Starts
            + Parked
            + Executions
            + Locks
            + Trace
            + Generations
            + Retention
            + 'static,
    {
        Self {
            commits: backend.clone(),
            events: backend.clone(),
            inbox: backend.clone(),
            dead_letters: backend.clone(),
            contacts: backend.clone(),
            state: backend.clone(),
            checkpoints: backend.clone(),
            leases: backend.clone(),
            starts: backend.clone(),
            parked: backend.clone(),
            executions: backend.clone(),
            locks: backend.clone(),
            trace: backend.clone(),
            generations: backend.clone(),
            retention: backend,
        }
    }
}
