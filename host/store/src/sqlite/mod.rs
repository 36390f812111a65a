//! The embedded backend: one SQLite file in one data folder, used by one process.
//!
//! What it promises:
//! - **Durable before answered.** Writes go through one thread; everything that waits becomes one transaction and one
//!   flush (`synchronous = FULL`), and nobody is answered before COMMIT returned. What was answered is there after
//!   `kill -9` and after a power cut, as far as the disk keeps what it was told to flush.
//! - **One process.** The kernel's lock on `lock` in the data folder; gone when its holder is. Not on network file systems.
//! - **A failed flush is the end.** Whether the pages reached the disk can't be known, and asking again would lie:
//!   the store answers [`StoreError::Broken`](crate::StoreError::Broken) from then on. A full disk is not: nothing was
//!   written, and writing works again once there is room.
//! - **Reads wait for nobody.** They run on read-only connections, in short transactions.
//!
//! How it is laid out: `open`, `process`, `schema`, `legacy` make the file; `writer`, `job`, `group`, `wal` are the write path;
//! `memory`, `dedupe` and `grants` are what is kept beside the file and taken back with a transaction; `read` is the read
//! path; every other file is the trait of the same name, or a part of one that says so.
//!
//! A caller that stops waiting takes nothing back: a batch that was handed over may still be committed.

mod checkpoint;
mod column;
mod commit;
mod connection;
mod contact;
mod dead_letter;
mod dedupe;
mod event;
mod execution;
mod failure;
mod generation;
mod grants;
mod group;
mod inbox;
mod job;
mod lease;
mod ledger;
mod legacy;
mod lock;
mod log;
mod memory;
mod open;
mod parked;
mod people;
mod process;
mod read;
mod retention;
mod schema;
mod start;
mod state;
mod subject;
mod submission;
mod trace;
mod wal;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jackfield_model::clock::{self, SharedClock};
use jackfield_model::limits::DEDUPE_ENTRIES_MAX;
use tokio::sync::watch;

use crate::error::Result;

/// What is called at the points of [`Options::failpoint`], with their names.
pub type Failpoint = Arc<dyn Fn(&'static str) + Send + Sync>;

/// What a store is opened with.
#[derive(Clone)]
pub struct Options {
    /// Where time comes from.
    pub clock: SharedClock,
    /// Entries of a connection's dedupe window. About 60 bytes of memory each.
    pub dedupe_entries: usize,
    /// For benchmarks: a flush takes at least so long, so that runs on different disks compare. The write-ahead log is then
    /// flushed by the writer itself after COMMIT instead of by SQLite inside it; the promise is the same, except that
    /// a reader may see what is not durable yet.
    pub flush_delay: Option<Duration>,
    /// For crash tests: called on the writer's thread, around every transaction that settles a batch, with `before-commit`
    /// (nothing is written), `in-transaction` (everything is, COMMIT comes next) and `after-commit-before-answer`.
    pub failpoint: Option<Failpoint>,
}

impl Default for Options {
    fn default() -> Self {
        Self { clock: clock::system(), dedupe_entries: DEDUPE_ENTRIES_MAX, flush_delay: None, failpoint: None }
    }
}

/// The embedded backend. Implements every trait of this crate.
pub struct Sqlite {
    writer: writer::Writer,
    readers: Arc<read::Readers>,
    clock: SharedClock,
    head: watch::Receiver<u64>,
    // Last: the folder is free only when nothing of this store touches it any more.
    _process: process::Lock,
}

impl Sqlite {
    /// Opens the store in this folder and makes it where it is new. Blocks: it reads every connection's dedupe window.
    ///
    /// The folder becomes 0700 and its files 0600. A folder of another user is refused: what is written into it
    /// could be read and replaced by somebody else.
    pub fn open(folder: &Path, options: Options) -> Result<Arc<Self>> {
        let place = open::Place::prepare(folder)?;
        let process = process::Lock::take(&place)?;
        let health = Arc::new(failure::Health::default());
        let mut db = place.writer()?;
        let version = schema::identify(&db, &place)?;
        place.begin_writing(&db)?;
        schema::migrate(&mut db, &place, version)?;
        legacy::take_over(&mut db, &place, options.clock.now())?;
        // Again: by now SQLite has made the files beside the database.
        place.protect()?;
        let memory = memory::Memory::load(&db, options.dedupe_entries).map_err(|error| place.unusable(&error))?;
        let (sender, head) = watch::channel(memory.head());
        let readers = Arc::new(read::Readers::new(place.clone(), Arc::clone(&health)));
        let clock = Arc::clone(&options.clock);
        let writer = writer::Writer::start(&place, db, memory, sender, options, health)?;
        Ok(Arc::new(Self { writer, readers, clock, head, _process: process }))
    }
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").field("head", &*self.head.borrow()).finish_non_exhaustive()
    }
}
