//! Moving pages from the write-ahead log into the file, off the commit path.
//!
//! A thread of its own does it every 100 ms with a connection of its own. It can't keep up with a saturated writer, whose log
//! only starts over when all of it was moved at one moment; so the writer does it itself when the log gets long.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jackfield_model::clock::SharedClock;
use rusqlite::Connection;

use crate::error::{Result, StoreError};
use crate::sqlite::failure::{Class, Failure, Health};
use crate::sqlite::open::{BUSY_TIMEOUT, Place};

/// Often enough that a checkpoint finds a few MiB at most, seldom enough that an idle store costs nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// The log's length at which the writer moves its pages itself: what a start after a crash reads in well under a second.
const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// When that did not empty it (a reader was in the way), try again after so much more.
const LOG_RETRY_BYTES: u64 = 4 * 1024 * 1024;

/// Whose turn it is to move pages: two can't at once, and SQLite would send the second one away instead of letting it wait.
pub(super) type Turn = Arc<Mutex<()>>;

/// How long the log is, as the writer sees it.
pub(super) struct WriteAhead {
    path: PathBuf,
    long_at: u64,
    turn: Turn,
}

impl WriteAhead {
    pub(super) fn new(place: &Place, turn: Turn) -> Self {
        Self { path: place.log(), long_at: LOG_BYTES_MAX, turn }
    }

    /// Time to move its pages.
    pub(super) fn is_long(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|found| found.len() >= self.long_at)
    }

    /// Moves what can be moved now and lets the log start over where that was all of it. Waits for the thread: a log that
    /// grows faster than the disk takes its pages has to hold somebody up.
    pub(super) fn move_pages(&mut self, db: &Connection) -> Result<(), Failure> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let length = fs::metadata(&self.path).map_or(0, |found| found.len());
        // The writer waits for no reader here; the next try comes soon enough.
        db.busy_timeout(Duration::ZERO)?;
        let emptied = checkpoint(db, "PRAGMA wal_checkpoint(TRUNCATE)");
        db.busy_timeout(BUSY_TIMEOUT)?;
        let emptied = match emptied {
            Ok(emptied) => emptied,
            // No room in the file: the log goes on growing while there is room for that.
            Err(error) => match Failure::from(error) {
                failure if failure.class == Class::Broken => return Err(failure),
                failure => {
                    tracing::warn!(reason = ?failure, "could not move pages out of the log");
                    false
                }
            },
        };
        self.long_at = if emptied { LOG_BYTES_MAX } else { length.saturating_add(LOG_RETRY_BYTES) };
        Ok(())
    }

    /// Moves all of it.
    pub(super) fn empty(&mut self, db: &Connection) -> rusqlite::Result<()> {
        checkpoint(db, "PRAGMA wal_checkpoint(TRUNCATE)").map(|_| ())
    }
}

/// The thread that moves pages in the background. Ends when dropped.
pub(super) struct Checkpointer {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// `commits` counts groups: nothing is done while it stands still.
    pub(super) fn start(place: &Place, commits: Arc<AtomicU64>, health: Arc<Health>, turn: Turn) -> Result<Self> {
        let db = place.checkpointer()?;
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || serve(&db, &commits, &health, &turn, &stopped))
            .map_err(|error| StoreError::Unavailable(format!("start the checkpointer: {error}")))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(db: &Connection, commits: &AtomicU64, health: &Health, turn: &Mutex<()>, stopped: &mpsc::Receiver<()>) {
    let mut moved = None;
    while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let seen = commits.load(Ordering::Acquire);
        if moved == Some(seen) || health.check().is_err() {
            continue;
        }
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        match checkpoint(db, "PRAGMA wal_checkpoint(PASSIVE)") {
            Ok(true) => moved = Some(seen),
            Ok(false) => {}
            Err(error) => match Failure::from(error) {
                // A page may be in neither place now. What was committed is in the log; only a new process may read it.
                failure if failure.class == Class::Broken => health.fail(&failure),
                failure => tracing::warn!(reason = ?failure, "could not move pages out of the log"),
            },
        }
    }
}

/// Whether all of the log was moved.
fn checkpoint(db: &Connection, sql: &str) -> rusqlite::Result<bool> {
    let mut statement = db.prepare_cached(sql)?;
    statement.query_row([], |row| {
        let (busy, frames, moved): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(busy == 0 && frames == moved)
    })
}

/// Benchmarks only: a flush that takes a known time at least. See [`crate::sqlite::Options::flush_delay`].
pub(super) struct Flush {
    log: File,
    delay: Duration,
    clock: SharedClock,
}

impl Flush {
    /// From now on the log is flushed here and not inside COMMIT.
    pub(super) fn instead_of_sqlite(
        place: &Place,
        db: &Connection,
        delay: Duration,
        clock: SharedClock,
    ) -> Result<Self> {
        db.pragma_update(None, "synchronous", "normal").map_err(|error| place.unusable(&error))?;
        let log = File::options().read(true).write(true).open(place.log());
        let log = log.map_err(|error| StoreError::Unavailable(format!("open the log: {error}")))?;
        Ok(Self { log, delay, clock })
    }

    pub(super) fn run(&self) -> Result<(), Failure> {
        let begun = self.clock.monotonic();
        self.log.sync_data().map_err(|error| Failure::broken(format!("flush the log: {error}")))?;
        let taken = self.clock.monotonic().saturating_duration_since(begun);
        thread::sleep(self.delay.saturating_sub(taken));
        Ok(())
    }
}
