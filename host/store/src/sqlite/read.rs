//! The read path: read-only connections that are shared, one short transaction a statement.
//!
//! A read transaction that stays open keeps the log from starting over, so nothing here holds one while somebody waits, and
//! a page ends early when it gets heavy.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Row, Rows};
use tokio::sync::Semaphore;
use tokio::task;

use crate::error::{Result, StoreError};
use crate::sqlite::failure::{Class, Failure, Health};
use crate::sqlite::open::Place;

/// Reads that run at once. More would only compete for the disk with the writer.
pub(super) const READERS_MAX: usize = 4;

/// Most rows of one page, whatever was asked for.
pub(super) const PAGE_ROWS_MAX: usize = 1000;

/// Bytes after which a page ends, whatever its rows: it is held in memory, and a slow consumer asks for many.
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Connections that read.
pub(super) struct Readers {
    place: Place,
    health: Arc<Health>,
    permits: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(place: Place, health: Arc<Health>) -> Self {
        Self { place, health, permits: Semaphore::new(READERS_MAX), idle: Mutex::new(Vec::new()) }
    }

    /// Runs this on a thread that may block.
    pub(super) async fn read<T, F>(self: &Arc<Self>, read: F) -> Result<T>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.health.check()?;
        let _permit = self.permits.acquire().await.map_err(|_| self.health.silent())?;
        let readers = Arc::clone(self);
        let outcome = task::spawn_blocking(move || readers.run(read)).await;
        outcome.unwrap_or_else(|error| Err(StoreError::Unavailable(format!("a read did not end: {error}"))))
    }

    /// Takes the turns of so many reads, until what is returned is dropped.
    #[cfg(test)]
    pub(super) async fn hold(&self, reads: u32) -> tokio::sync::SemaphorePermit<'_> {
        self.permits.acquire_many(reads).await.unwrap()
    }

    fn run<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let db = match self.lend() {
            Some(db) => db,
            None => self.place.reader().map_err(|error| StoreError::Unavailable(error.to_string()))?,
        };
        let outcome = read(&db).map_err(|error| {
            let failure = Failure::from(error);
            if failure.class == Class::Broken {
                self.health.fail(&failure);
            }
            failure.error()
        });
        // A connection whose read panicked is not given back.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
        outcome
    }

    fn lend(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// Rows of a page, counted by weight.
#[derive(Debug, Default)]
pub(super) struct Page {
    bytes: usize,
}

impl Page {
    /// No room for another row.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= PAGE_BYTES_MAX
    }

    /// One more row, of so many bytes.
    pub(super) fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Takes rows until there are no more, or the page is heavy enough. At least one, so that a reader gets on.
    pub(super) fn fill<T>(
        &mut self,
        mut rows: Rows<'_>,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<(usize, T)>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut page = Vec::new();
        while !self.is_full()
            && let Some(row) = rows.next()?
        {
            let (bytes, item) = read(row)?;
            self.add(bytes);
            page.push(item);
        }
        Ok(page)
    }
}
