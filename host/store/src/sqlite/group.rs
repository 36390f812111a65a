//! One transaction for everyone who waits, and what happens when it fails.
//!
//! A batch that is fenced or has the wrong count writes nothing and spoils nothing. A job that SQLite refuses takes
//! the transaction down; then every job of the group gets one of its own, and only the refused one fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jackfield_model::clock::SharedClock;
use rusqlite::Connection;
use tokio::sync::watch;

use crate::sqlite::Failpoint;
use crate::sqlite::failure::{Class, Failure, Health};
use crate::sqlite::job::{Job, Pass};
use crate::sqlite::memory::Memory;
use crate::sqlite::wal::{Flush, WriteAhead};

/// The writer's side of the file.
pub(super) struct Groups {
    pub(super) db: Connection,
    /// What is kept beside the file.
    pub(super) memory: Memory,
    /// Told the newest position.
    pub(super) head: watch::Sender<u64>,
    pub(super) clock: SharedClock,
    pub(super) failpoint: Option<Failpoint>,
    /// Benchmarks only: flushes in the place of SQLite.
    pub(super) flush: Option<Flush>,
    pub(super) log: WriteAhead,
    /// Counts groups, for whoever moves their pages.
    pub(super) commits: Arc<AtomicU64>,
    pub(super) health: Arc<Health>,
}

impl Groups {
    /// Does all of it, or each job alone where one of them can't be done. Everybody is answered.
    pub(super) fn commit(&mut self, mut group: Vec<Box<dyn Job>>) {
        // Caught here, so that the store is known to be broken before anybody hears of it.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.attempt(&mut group)));
        match outcome.unwrap_or_else(|_| Err(Failure::broken("the writer panicked"))) {
            Ok(()) => group.into_iter().for_each(|job| job.answer(None)),
            Err(failure) if failure.class == Class::Own && group.len() > 1 => {
                for job in group {
                    self.commit(vec![job]);
                }
            }
            Err(failure) => {
                if failure.class == Class::Broken {
                    self.health.fail(&failure);
                } else {
                    tracing::warn!(reason = ?failure, jobs = group.len(), "nothing of this group was stored");
                }
                group.into_iter().for_each(|job| job.answer(Some(&failure)));
            }
        }
    }

    /// Empties the log into the file, so that the next start has little to read.
    pub(super) fn close(&mut self) {
        if let Err(error) = self.log.empty(&self.db) {
            tracing::warn!(%error, "could not empty the log at the end; the next start reads it");
        }
    }

    fn attempt(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Failure> {
        // A job of a broken group that is tried alone.
        self.health.check().map_err(|error| Failure::broken(error.to_string()))?;
        let settles = group.iter().any(|job| job.weight().dispatches > 0);
        self.at(settles, "before-commit");
        if let Err(failure) = self.write(group, settles) {
            self.take_back()?;
            return Err(failure);
        }
        self.memory.keep();
        self.commits.fetch_add(1, Ordering::Release);
        let head = self.memory.head();
        self.head.send_if_modified(|known| std::mem::replace(known, head) != head);
        if self.log.is_long() {
            self.log.move_pages(&self.db)?;
        }
        self.at(settles, "after-commit-before-answer");
        Ok(())
    }

    fn write(&mut self, group: &mut [Box<dyn Job>], settles: bool) -> Result<(), Failure> {
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let mut pass = Pass { db: &self.db, memory: &mut self.memory, now, monotonic };
        for job in group {
            job.run(&mut pass)?;
        }
        self.at(settles, "in-transaction");
        self.db.prepare_cached("COMMIT")?.execute([])?;
        match &self.flush {
            Some(flush) => flush.run(),
            None => Ok(()),
        }
    }

    /// Undoes the transaction, in the file and beside it.
    fn take_back(&mut self) -> Result<(), Failure> {
        self.memory.undo();
        // SQLite has already rolled back after some errors.
        if !self.db.is_autocommit() {
            let undone = self.db.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
            undone.map_err(|error| Failure::broken(format!("roll back: {error}")))?;
        }
        Ok(())
    }

    fn at(&self, settles: bool, point: &'static str) {
        if let (true, Some(failpoint)) = (settles, &self.failpoint) {
            failpoint(point);
        }
    }
}
