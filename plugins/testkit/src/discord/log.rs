//! The log: everything the double did and was told, so that a test can count what was lost, doubled or reordered.
//!
//! Kept in memory (the newest [`ENTRIES_MAX`] entries; counts and message ids are complete) and, if asked, appended to a file as
//! JSON lines. A line is handed to the operating system before the next thing happens, so a killed double leaves a whole log.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::entry::{Entry, Event};
use super::said::Said;
use super::script::LimitScope;
use super::snowflake::Id;
use crate::clock::Clock;

/// Entries kept in memory, about 100 bytes each.
pub const ENTRIES_MAX: usize = 1 << 20;

/// Numbers connections from 1.
pub type ConnectionId = u64;

/// A handle on the log; clones share it, and it can be read after the double has stopped.
#[derive(Debug, Clone)]
pub struct Log {
    clock: Clock,
    record: Arc<Mutex<Record>>,
    grown: Arc<watch::Sender<u64>>,
}

/// What was logged so far.
#[derive(Debug, Default)]
pub struct Record {
    entries: VecDeque<Entry>,
    dropped: u64,
    counts: Counts,
    messages: BTreeMap<Id, Vec<Id>>,
    said: Vec<Said>,
    file: Option<File>,
}

/// How often what happened.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// WebSocket connections that were opened.
    pub connections: u64,
    /// Of these, how many are open.
    pub open: u64,
    /// Upgrades answered with an error status.
    pub upgrades_refused: u64,
    /// Identifies received, whatever became of them.
    pub identifies: u64,
    /// READY promised in answer.
    pub readies: u64,
    /// Resumes received, whatever became of them.
    pub resumes: u64,
    /// Resumes that were accepted.
    pub resumed: u64,
    /// Heartbeats received.
    pub heartbeats: u64,
    /// Heartbeats that were acknowledged.
    pub acks: u64,
    /// REST requests.
    pub requests: u64,
    /// Of these, those that happened.
    pub carried_out: u64,
    /// Of these, those that were refused with 429.
    pub rate_limited: u64,
    /// Of these, those that Discord calls invalid: answered with 401, 403, or 429 unless the limit is a shared one. With 10,000
    /// in ten minutes it bans the address.
    pub invalid_requests: u64,
    /// Of these, those that met a fault.
    pub rest_faults: u64,
    /// Messages that requests of the bot made.
    pub said: u64,
    /// Dispatches made (READY and RESUMED are not counted).
    pub created: u64,
    /// Of these, messages.
    pub messages: u64,
    /// Dispatches written to sockets, with every repetition.
    pub sent: u64,
    /// Of these, repetitions.
    pub replayed: u64,
    /// Sessions that ended.
    pub sessions_ended: u64,
    /// Steps of the script that were done.
    pub steps: u64,
}

/// What was waited for did not happen in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the double did not see what was waited for within {waited:?}; so far: {counts:?}")]
pub struct Late {
    /// The deadline.
    pub waited: Duration,
    /// What was seen.
    pub counts: Counts,
}

impl Record {
    /// What happened, oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// How many entries were let go because there were more than [`ENTRIES_MAX`].
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How often what happened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Every message ever made, by channel, in the order of making. What a lossless consumer has to end up with.
    #[must_use]
    pub fn messages(&self) -> &BTreeMap<Id, Vec<Id>> {
        &self.messages
    }

    /// Every message that a request of the bot made, in the order of making.
    #[must_use]
    pub fn said(&self) -> &[Said] {
        &self.said
    }

    fn push(&mut self, entry: Entry) {
        self.counts.count(&entry.event);
        if let Event::Said(said) = &entry.event {
            self.said.push(said.clone());
        }
        if let Event::Created { kind, channel: Some(channel), message: Some(message) } = &entry.event
            && &**kind == "MESSAGE_CREATE"
        {
            self.messages.entry(*channel).or_default().push(*message);
        }
        self.entries.push_back(entry);
        if self.entries.len() > ENTRIES_MAX {
            self.entries.pop_front();
            self.dropped += 1;
        }
    }
}

impl Counts {
    fn count(&mut self, event: &Event) {
        let counter = match event {
            Event::ConnectionOpened { .. } => {
                self.open += 1;
                &mut self.connections
            }
            Event::ConnectionClosed { .. } => {
                self.open = self.open.saturating_sub(1);
                return;
            }
            Event::UpgradeRefused { .. } => &mut self.upgrades_refused,
            Event::Identify { outcome, .. } => {
                self.readies += u64::from(outcome.accepted());
                &mut self.identifies
            }
            Event::Resume { outcome, .. } => {
                self.resumed += u64::from(outcome.accepted());
                &mut self.resumes
            }
            Event::Heartbeat { acked, .. } => {
                self.acks += u64::from(*acked);
                &mut self.heartbeats
            }
            Event::Request { status, carried_out, limit, fault, .. } => {
                let status = status.unwrap_or_default();
                let shared = *limit == Some(LimitScope::Shared);
                self.carried_out += u64::from(*carried_out);
                self.rate_limited += u64::from(status == 429);
                self.invalid_requests += u64::from(matches!(status, 401 | 403) || status == 429 && !shared);
                self.rest_faults += u64::from(fault.is_some());
                &mut self.requests
            }
            Event::Said(_) => &mut self.said,
            Event::Created { kind, .. } => {
                self.messages += u64::from(&**kind == "MESSAGE_CREATE");
                &mut self.created
            }
            Event::Sent { again, .. } => {
                self.replayed += u64::from(*again);
                &mut self.sent
            }
            Event::SessionEnded { .. } => &mut self.sessions_ended,
            Event::Step { .. } => &mut self.steps,
            Event::Listening { .. } | Event::TokenReset | Event::Stopped => return,
        };
        *counter += 1;
    }
}

impl Log {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, record: Arc::default(), grown: Arc::new(watch::Sender::new(0)) }
    }

    /// Everything so far, oldest first.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Entry> {
        self.lock().entries.iter().cloned().collect()
    }

    /// How often what happened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// Every message ever made, by channel, in the order of making.
    #[must_use]
    pub fn messages(&self) -> BTreeMap<Id, Vec<Id>> {
        self.lock().messages.clone()
    }

    /// Looks at the log in place, without copying it. The double waits meanwhile.
    pub fn read<T>(&self, look: impl FnOnce(&Record) -> T) -> T {
        look(&self.lock())
    }

    /// Waits until the predicate holds; it is asked again whenever the log grew, so it should be cheap.
    ///
    /// # Errors
    /// [`Late`] when it does not hold within `deadline`.
    pub async fn wait_for(&self, mut predicate: impl FnMut(&Record) -> bool, deadline: Duration) -> Result<(), Late> {
        let mut grown = self.grown.subscribe();
        let holds = async {
            loop {
                grown.mark_unchanged();
                // The sender lives as long as this handle, so a change is the only way on.
                if self.read(&mut predicate) || grown.changed().await.is_err() {
                    return;
                }
            }
        };
        let waited = tokio::time::timeout(deadline, holds).await;
        waited.map_err(|_| Late { waited: deadline, counts: self.counts() })
    }

    /// Appends everything so far, and everything that follows, to this file as JSON lines.
    ///
    /// # Errors
    /// When the file can't be opened or written.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut record = self.lock();
        let mut file = File::options().create(true).append(true).open(path)?;
        file.write_all(&lines(record.entries.iter()))?;
        record.file = Some(file);
        Ok(())
    }

    pub(crate) fn push(&self, event: Event) {
        self.extend(std::iter::once(event));
    }

    pub(crate) fn say(&self, said: Said) {
        self.push(Event::Said(said));
    }

    pub(crate) fn extend(&self, events: impl IntoIterator<Item = Event>) {
        let at_ms = self.clock.elapsed_ms();
        let mut record = self.lock();
        let entries: Vec<Entry> = events.into_iter().map(|event| Entry { at_ms, event }).collect();
        if let Some(file) = &mut record.file
            && let Err(error) = file.write_all(&lines(entries.iter()))
        {
            tracing::warn!(%error, "append to the log of the double");
            record.file = None;
        }
        for entry in entries {
            record.push(entry);
        }
        drop(record);
        self.grown.send_modify(|version| *version = version.wrapping_add(1));
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lines<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        // Writing strings and numbers to memory can't fail.
        _ = serde_json::to_writer(&mut bytes, entry);
        bytes.push(b'\n');
    }
    bytes
}
