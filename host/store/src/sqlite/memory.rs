//! What the writer keeps beside the file: dedupe windows, leases, locks, the newest position. Changed inside a transaction, kept
//! after COMMIT, taken back when there was none.

use std::collections::HashMap;

use jackfield_model::{Fence, Monotonic};
use rusqlite::Connection;

use crate::sqlite::column::uint;
use crate::sqlite::dedupe::{Marker, Window};
use crate::sqlite::grants::Grants;

/// A lease that somebody in this process holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) fence: Fence,
    /// On the monotonic clock, so that no clock step ends or prolongs it.
    pub(super) until: Monotonic,
}

/// Beside the file.
pub(super) struct Memory {
    windows: HashMap<i64, Window>,
    entries_max: usize,
    /// Windows with markers of this transaction.
    touched: Vec<i64>,
    leases: HashMap<i64, Held>,
    /// Leases as they were, oldest change first.
    before: Vec<(i64, Option<Held>)>,
    locks: Grants,
    head: u64,
    durable_head: u64,
}

impl Memory {
    /// Reads it from the file.
    pub(super) fn load(db: &Connection, entries_max: usize) -> rusqlite::Result<Self> {
        let numbers: Vec<i64> = db
            .prepare("SELECT number FROM connection")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let windows = numbers
            .into_iter()
            .map(|number| Ok((number, Window::load(db, number, entries_max)?)))
            .collect::<rusqlite::Result<_>>()?;
        let head = db.query_row(
            "SELECT max(position, coalesce((SELECT max(position) FROM event), 0)) FROM pruned",
            [],
            |row| row.get(0).map(uint),
        )?;
        Ok(Self {
            windows,
            entries_max,
            touched: Vec::new(),
            leases: HashMap::new(),
            before: Vec::new(),
            locks: Grants::default(),
            head,
            durable_head: head,
        })
    }

    /// The newest position.
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// The position of an event that is being appended, and its marker with it.
    pub(super) fn append(&mut self, connection: i64, marker: Marker) -> u64 {
        self.head += 1;
        let window = self.windows.entry(connection).or_default();
        if window.is_settled() {
            self.touched.push(connection);
        }
        window.add(marker, self.head);
        self.head
    }

    /// Whether this marker is inside the connection's window.
    pub(super) fn knows(&self, connection: i64, marker: &Marker) -> bool {
        self.windows.get(&connection).is_some_and(|window| window.knows(marker))
    }

    /// The oldest position inside a connection's window; `None` when it is empty.
    pub(super) fn oldest(&self, connection: i64) -> Option<u64> {
        self.windows.get(&connection).and_then(Window::oldest)
    }

    /// Connections that have a window.
    pub(super) fn connections(&self) -> impl Iterator<Item = i64> + '_ {
        self.windows.keys().copied()
    }

    /// From now on windows hold so many. Larger ones are cut at once; what they held before does not come back.
    pub(super) fn resize(&mut self, entries_max: usize) {
        self.entries_max = entries_max;
        for window in self.windows.values_mut() {
            window.cut(entries_max);
        }
    }

    /// The lease of a connection, lapsed or not.
    pub(super) fn lease(&self, connection: i64) -> Option<Held> {
        self.leases.get(&connection).copied()
    }

    /// Sets or ends a lease.
    pub(super) fn set_lease(&mut self, connection: i64, held: Option<Held>) {
        let before = match held {
            Some(held) => self.leases.insert(connection, held),
            None => self.leases.remove(&connection),
        };
        self.before.push((connection, before));
    }

    /// Connectors' locks, without those of this connection that have lapsed by now.
    pub(super) fn locks(&mut self, connection: i64, now: Monotonic) -> &mut Grants {
        self.locks.lapse(connection, now);
        &mut self.locks
    }

    /// COMMIT returned: what was changed stays, and windows let go of what is too old.
    pub(super) fn keep(&mut self) {
        for connection in self.touched.drain(..) {
            if let Some(window) = self.windows.get_mut(&connection) {
                window.keep();
                window.cut(self.entries_max);
            }
        }
        self.before.clear();
        self.locks.keep();
        self.durable_head = self.head;
    }

    /// There was no COMMIT: everything is as before.
    pub(super) fn undo(&mut self) {
        for connection in self.touched.drain(..) {
            if let Some(window) = self.windows.get_mut(&connection) {
                window.undo();
            }
        }
        for (connection, before) in self.before.drain(..).rev() {
            match before {
                Some(held) => self.leases.insert(connection, held),
                None => self.leases.remove(&connection),
            };
        }
        self.locks.undo();
        self.head = self.durable_head;
    }
}
