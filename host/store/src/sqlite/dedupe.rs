//! What was seen already: a window of markers per connection, counted in entries, never in time.
//!
//! A marker is a hash of what makes an event the same event. It stands in the event's row and in an index that is only
//! appended to; the window itself is in memory. When an event is pruned while its marker is still inside the window,
//! the marker moves to a table of its own (`retention`), so a window does not depend on how long events are kept.

use std::collections::{HashSet, VecDeque};

use jackfield_model::{Event, Recurrence};
use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use crate::sqlite::column::uint;

/// Half a SHA-256: a sender who chooses keys can't make two of them meet, which would swallow an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Marker(pub(super) [u8; 16]);

impl Marker {
    /// Same name, same key, and the same time where the key names something that happens again.
    pub(super) fn of(event: &Event) -> Self {
        let mut hash = Sha256::new();
        // Each part with its length, so that no two events read the same.
        for part in [&event.name, &event.key] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        if event.recurrence == Recurrence::Recurring {
            hash.update(event.occurred_at.0.to_le_bytes());
        }
        let whole: [u8; 32] = hash.finalize().into();
        let mut half = [0; 16];
        for (to, from) in half.iter_mut().zip(whole) {
            *to = from;
        }
        Self(half)
    }
}

/// One connection's markers, in the order of their positions.
#[derive(Debug, Default)]
pub(super) struct Window {
    known: HashSet<Marker>,
    order: VecDeque<(Marker, u64)>,
    /// How many of the newest belong to a transaction that is not committed yet.
    staged: usize,
}

impl Window {
    /// The newest markers of a connection, as the file has them.
    pub(super) fn load(db: &Connection, connection: i64, entries_max: usize) -> rusqlite::Result<Self> {
        let mut statement = db.prepare_cached(
            "SELECT marker, position FROM event INDEXED BY event_by_connection WHERE connection = ?1
             UNION ALL SELECT marker, position FROM marker WHERE connection = ?1
             ORDER BY position DESC LIMIT ?2",
        )?;
        let mut window = Self::default();
        let mut rows = statement.query(params![connection, i64::try_from(entries_max).unwrap_or(i64::MAX)])?;
        while let Some(row) = rows.next()? {
            let marker = Marker(row.get(0)?);
            // Twice where it had left a smaller window before it came again: only the newest place counts.
            if window.known.insert(marker) {
                window.order.push_front((marker, uint(row.get(1)?)));
            }
        }
        Ok(window)
    }

    pub(super) fn knows(&self, marker: &Marker) -> bool {
        self.known.contains(marker)
    }

    pub(super) fn add(&mut self, marker: Marker, position: u64) {
        self.known.insert(marker);
        self.order.push_back((marker, position));
        self.staged += 1;
    }

    pub(super) fn oldest(&self) -> Option<u64> {
        self.order.front().map(|&(_, position)| position)
    }

    pub(super) fn is_settled(&self) -> bool {
        self.staged == 0
    }

    pub(super) fn keep(&mut self) {
        self.staged = 0;
    }

    pub(super) fn undo(&mut self) {
        for _ in 0..std::mem::take(&mut self.staged) {
            if let Some((marker, _)) = self.order.pop_back() {
                self.known.remove(&marker);
            }
        }
    }

    /// Lets go of the oldest. Only after COMMIT: what was let go of can't be taken back.
    pub(super) fn cut(&mut self, entries_max: usize) {
        while self.order.len() > entries_max + self.staged {
            if let Some((marker, _)) = self.order.pop_front() {
                self.known.remove(&marker);
            }
        }
    }
}
