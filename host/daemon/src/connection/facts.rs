//! What is known about a connection: facts with their times, gathered where they happen, read by status.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jackfield_model::clock::SharedClock;
use jackfield_model::session::{Condition, Notice};
use jackfield_model::{Epoch, Timestamp};

use crate::status::{Counters, Socket, State, Trouble};

/// Most distinct reasons that are counted by name; the text comes from connectors, so it needs a ceiling.
const REASONS_MAX: usize = 32;
/// Where the others go.
const OTHER: &str = "other";
/// Longest metadata of a connection, in bytes: status shows it whole.
const METADATA_BYTES_MAX: usize = 64 * 1024;
/// Longest reason, in bytes.
const REASON_BYTES_MAX: usize = 64;

/// What is known at one moment.
#[derive(Clone, Debug)]
pub struct Known {
    /// The one word.
    pub state: State,
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub cause: String,
    /// What somebody has to do.
    pub todo: Option<String>,
    /// The grant.
    pub epoch: Option<Epoch>,
    /// What the connector last said that an operator should know.
    pub notice: Option<Notice>,
    /// Sockets by label.
    pub sockets: BTreeMap<String, Socket>,
    /// The last thing that went wrong on the way to the platform.
    pub last_trouble: Option<Trouble>,
    /// Last signal.
    pub last_signal: Option<Timestamp>,
    /// Last durable commit.
    pub last_commit: Option<Timestamp>,
    /// When the next start is due.
    pub next_start: Option<Timestamp>,
    /// Received and not settled.
    pub unsettled: u64,
    /// The connector's own.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// Counters.
    pub counters: Counters,
    /// What was not kept, by reason.
    pub drops: BTreeMap<String, u64>,
    /// Ignored dispatches, by reason.
    pub ignored: BTreeMap<String, u64>,
}

/// The facts about one connection.
pub struct Facts {
    clock: SharedClock,
    known: Mutex<Known>,
}

impl Facts {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(clock: SharedClock) -> Self {
        let known = Known {
            state: State::Connecting,
            since: clock.now(),
            cause: "starting".to_owned(),
            todo: None,
            epoch: None,
            notice: None,
            sockets: BTreeMap::new(),
            last_trouble: None,
            last_signal: None,
            last_commit: None,
            next_start: None,
            unsettled: 0,
            metadata: serde_json::Map::new(),
            counters: Counters::default(),
            drops: BTreeMap::new(),
            ignored: BTreeMap::new(),
        };
        Self { clock, known: Mutex::new(known) }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known now.
    #[must_use]
    pub fn known(&self) -> Known {
        self.lock().clone()
    }

    /// Changes facts.
    pub fn update<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.lock())
    }

    /// Changes counters.
    pub fn counters(&self, change: impl FnOnce(&mut Counters)) {
        change(&mut self.lock().counters);
    }

    /// The one word changes, or its cause does. `since` moves only with the word.
    pub fn state(&self, state: State, cause: impl Into<String>, todo: Option<String>) {
        let now = self.clock.now();
        let mut known = self.lock();
        if known.state != state {
            known.state = state;
            known.since = now;
        }
        known.cause = cause.into();
        known.todo = todo;
        if state != State::Waiting {
            known.next_start = None;
        }
    }

    /// What the connector says of itself.
    pub fn condition(&self, condition: Condition) {
        match condition {
            Condition::Connecting => {
                self.lock().notice = None;
                self.state(State::Connecting, "the connector is connecting", None);
            }
            Condition::Ready => {
                self.lock().notice = None;
                self.state(State::Ready, "the connector reported its protocol up", None);
            }
            Condition::Degraded(notice) => {
                let (cause, todo) = (format!("{}: {}", notice.code, notice.message), notice.todo.clone());
                self.lock().notice = Some(notice);
                self.state(State::Degraded, cause, todo);
            }
        }
    }

    /// Something went wrong on the way to the platform.
    pub fn trouble(&self, what: String) {
        let at = self.clock.now();
        self.lock().last_trouble = Some(Trouble { at, what });
    }

    /// Merges the connector's metadata. A patch that would make it too large is refused and counted.
    pub fn metadata(&self, patch: serde_json::Map<String, serde_json::Value>) {
        let mut known = self.lock();
        let mut merged = known.metadata.clone();
        merged.extend(patch);
        if serde_json::to_string(&merged).is_ok_and(|text| text.len() <= METADATA_BYTES_MAX) {
            known.metadata = merged;
        } else {
            tally(&mut known.drops, "metadata-too-large");
        }
    }

    /// A dispatch was of no interest.
    pub fn ignored(&self, reason: &str) {
        tally(&mut self.lock().ignored, reason);
    }

    /// Something was not kept.
    pub fn dropped(&self, reason: &str) {
        tally(&mut self.lock().drops, reason);
    }
}

fn tally(reasons: &mut BTreeMap<String, u64>, reason: &str) {
    let fits = reason.len() <= REASON_BYTES_MAX && (reasons.len() < REASONS_MAX || reasons.contains_key(reason));
    let reason = if fits && !reason.is_empty() { reason } else { OTHER };
    *reasons.entry(reason.to_owned()).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_bounded() {
        let facts = Facts::new(jackfield_model::clock::system());
        for n in 0..100 {
            facts.ignored(&format!("reason-{n}"));
        }
        facts.ignored(&"x".repeat(65));
        let ignored = facts.known().ignored;
        assert_eq!(ignored.len(), REASONS_MAX + 1);
        assert_eq!(ignored[OTHER], 100 - REASONS_MAX as u64 + 1);
    }

    #[test]
    fn since_moves_with_the_word_alone() {
        let facts = Facts::new(jackfield_model::clock::system());
        facts.state(State::Ready, "a", None);
        let since = facts.known().since;
        facts.state(State::Ready, "b", None);
        assert_eq!((facts.known().since, facts.known().cause.as_str()), (since, "b"));
    }
}
