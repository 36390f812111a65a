//! From dispatch to durable event: lanes, `transform`, group commits, marks.
//!
//! Promises:
//! - Dispatches of one lane become events in the order of their submission; lanes run side by side.
//! - A dispatch is *settled* when its outcome is durable: committed as events, known already, of no interest, or a dead
//!   letter. Only then its mark goes back to the session, and only then a checkpoint taken after it may be stored.
//! - A dispatch that `transform` fails on three times is a dead letter, and its lane goes on.
//! - What can't be settled within a second, and what would not fit in memory, is written to the inbox; it survives a crash and
//!   is settled before the next session opens a socket.
//! - Memory is bounded: when too much is unsettled, [`Inbound::pressure`] asks the session to stop reading.
//!
//! It does not talk to platforms, and it does not decide what a payload means.

mod actor;
mod admit;
mod batch;
mod entry;
mod lane;
mod pressure;
mod progress;
mod sanitize;
mod settle;
mod state;
mod transform;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jackfield_engine::transform::Pool;
use jackfield_model::clock::SharedClock;
use jackfield_model::{ConnectionId, Digest, Dispatch, Fence, Generation, Space, Transport};
use jackfield_store::Stores;
use jackfield_store::checkpoint::Checkpoint;
use jackfield_store::commit::Death;
use jackfield_store::state::Write;
use tokio::sync::mpsc;

use crate::connection::facts::Facts;
use crate::failpoint::Failpoint;
pub use progress::{Ended, News};
pub use state::StateMap;

/// What an inbound works with.
#[derive(Clone)]
pub struct Setup {
    /// Whose.
    pub connection: ConnectionId,
    /// Where its contacts live.
    pub space: Space,
    /// The connector's id.
    pub namespace: String,
    /// Where outcomes go.
    pub stores: Stores,
    /// The instances that transform.
    pub pool: Arc<Pool>,
    /// How many may run at once.
    pub transforms: usize,
    /// The code they run.
    pub generation: Generation,
    /// Its digest.
    pub digest: Digest,
    /// The grant that commits are written under.
    pub fence: Fence,
    /// Bytes that may wait in the inbox.
    pub inbox_bytes_max: u64,
    /// Time.
    pub clock: SharedClock,
    /// What status shows.
    pub facts: Arc<Facts>,
    /// For tests that kill the process.
    pub failpoint: Failpoint,
}

/// Something that one call of a session asked to be made durable, in order.
#[derive(Debug)]
pub enum Entry {
    /// A raw dispatch.
    Dispatch {
        /// The dispatch.
        dispatch: Dispatch,
        /// What the session wants to hear once it is settled.
        mark: Option<String>,
        /// How it came.
        via: Transport,
    },
    /// A message that the session's code can't take.
    Dead {
        /// As much of a dispatch as there is.
        dispatch: Dispatch,
        /// How it came.
        via: Transport,
        /// Why.
        death: Death,
    },
    /// A change of the session's map.
    State(Write),
}

impl Entry {
    /// The bytes that it carries.
    fn weight(&self) -> usize {
        match self {
            Self::Dispatch { dispatch, .. } | Self::Dead { dispatch, .. } => dispatch.weight(),
            Self::State(write) => write.weight(),
        }
    }
}

enum Command {
    /// Numbered entries of a session.
    Entries { session: u64, entries: Vec<(u64, Entry)> },
    /// A checkpoint that covers every entry below this number.
    Checkpoint(settle::Candidate),
    /// Rows came into the inbox by another way.
    Rows,
}

impl Command {
    /// The bytes that it holds until it is looked at.
    fn weight(&self) -> usize {
        match self {
            Self::Entries { entries, .. } => {
                entries.iter().map(|(_, entry)| entry.weight() + pressure::ENTRY_BYTES).sum()
            }
            Self::Checkpoint(candidate) => candidate.checkpoint.bytes.len() + pressure::ENTRY_BYTES,
            Self::Rows => 0,
        }
    }
}

/// The inbound of one connection, for the length of one term. Dropping it ends it; what it held comes again from the inbox and
/// the platform.
pub struct Inbound {
    commands: mpsc::UnboundedSender<Command>,
    shared: Arc<progress::Shared>,
    state: Arc<StateMap>,
    next: AtomicU64,
    session: AtomicU64,
    task: tokio::task::JoinHandle<()>,
}

impl Inbound {
    /// Starts it: what waits in the inbox is taken up first.
    #[must_use]
    pub fn start(setup: Setup) -> Self {
        // Unbounded by itself; bounded by `overload`, which the session obeys before every call, and the effects of one call.
        let (commands, received) = mpsc::unbounded_channel();
        let shared = Arc::new(progress::Shared::default());
        let state = Arc::new(StateMap::new(setup.connection.clone(), setup.stores.state.clone()));
        let actor = actor::Actor::new(setup, received, shared.clone(), state.clone());
        let task = tokio::spawn(actor.run());
        Self { commands, shared, state, next: AtomicU64::new(actor::FIRST_SUBMITTED), session: AtomicU64::new(0), task }
    }

    /// A new session begins: from now on only marks of what it submits come back.
    pub fn listen(&self) {
        self.session.store(self.shared.listen(), Ordering::Relaxed);
    }

    /// Takes what a call asked for, in order. Never waits.
    pub fn submit(&self, entries: Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let first = self.next.fetch_add(entries.len() as u64, Ordering::Relaxed);
        for entry in &entries {
            if let Entry::State(write) = entry {
                self.state.overlay(write);
            }
        }
        let session = self.session.load(Ordering::Relaxed);
        self.hand_over(Command::Entries { session, entries: (first..).zip(entries).collect() });
    }

    /// Takes the checkpoint that follows everything submitted so far. It is stored once all of that is settled, unless a newer
    /// one can be.
    pub fn checkpoint(&self, checkpoint: Checkpoint) {
        let below = self.next.load(Ordering::Relaxed);
        let candidate = settle::Candidate { count: self.shared.checkpoint_taken(), below, checkpoint };
        self.hand_over(Command::Checkpoint(candidate));
    }

    /// Rows came into the inbox: a redrive.
    pub fn rows(&self) {
        self.hand_over(Command::Rows);
    }

    fn hand_over(&self, command: Command) {
        self.shared.handed_over(command.weight());
        // A closed channel means that the term is over; the session learns that from `News`.
        let _ = self.commands.send(command);
    }

    /// The session's map.
    #[must_use]
    pub fn state(&self) -> &Arc<StateMap> {
        &self.state
    }

    /// Whether the session must stop reading its sockets for now.
    #[must_use]
    pub fn pressure(&self) -> bool {
        self.shared.pressure()
    }

    /// Whether the session must not be called for now: what it submits in a call would not fit any more. Comes only after
    /// `pressure`, from a connector that submits without reading a socket.
    #[must_use]
    pub fn overload(&self) -> bool {
        self.shared.overload()
    }

    /// Waits for news since the last call: marks, pressure, the end.
    pub async fn news(&self) -> News {
        self.shared.news().await
    }

    /// Waits until what was left in the inbox at the start is settled.
    pub async fn drained(&self) -> Result<(), Ended> {
        self.shared.drained().await
    }

    /// Waits until everything submitted so far is settled and the newest checkpoint is stored, at most this long.
    /// `false` when time ran out or the term ended.
    pub async fn settled(&self, patience: Duration) -> bool {
        let below = self.next.load(Ordering::Relaxed);
        tokio::time::timeout(patience, self.shared.settled(below)).await.is_ok_and(|ended| ended.is_ok())
    }
}

impl Drop for Inbound {
    fn drop(&mut self) {
        self.task.abort();
    }
}
