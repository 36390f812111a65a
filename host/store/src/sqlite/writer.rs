//! The one thread that writes, and the queue in front of it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::{self, JoinHandle};

use jackfield_model::limits::{COMMIT_BYTES_MAX, COMMIT_DISPATCHES_MAX};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::error::{Result, StoreError};
use crate::sqlite::Options;
use crate::sqlite::failure::Health;
use crate::sqlite::group::Groups;
use crate::sqlite::job::{Job, Pass, Task, Weight};
use crate::sqlite::memory::Memory;
use crate::sqlite::open::Place;
use crate::sqlite::wal::{Checkpointer, Flush, Turn, WriteAhead};

/// Jobs that wait in front of the writer; whoever comes then waits to be let in. One group takes at most so many, so a full
/// queue is one flush away from empty.
const QUEUE_JOBS_MAX: usize = 256;

/// Hands jobs to the thread. Ends it when dropped, after what was handed over.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    checkpointer: Option<Checkpointer>,
    health: Arc<Health>,
}

impl Writer {
    pub(super) fn start(
        place: &Place,
        db: Connection,
        memory: Memory,
        head: watch::Sender<u64>,
        options: Options,
        health: Arc<Health>,
    ) -> Result<Self> {
        let commits = Arc::new(AtomicU64::new(0));
        let turn = Turn::default();
        let checkpointer = Checkpointer::start(place, Arc::clone(&commits), Arc::clone(&health), Arc::clone(&turn))?;
        let log = WriteAhead::new(place, turn);
        let Options { clock, failpoint, flush_delay, .. } = options;
        let flush = flush_delay.map(|delay| Flush::instead_of_sqlite(place, &db, delay, Arc::clone(&clock)));
        let (flush, seen) = (flush.transpose()?, Arc::clone(&health));
        let groups = Groups { db, memory, head, clock, failpoint, flush, log, commits, health: Arc::clone(&health) };
        let (queue, jobs) = mpsc::channel(QUEUE_JOBS_MAX);
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || serve(&seen, groups, jobs))
            .map_err(|error| StoreError::Unavailable(format!("start the writer: {error}")))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), checkpointer: Some(checkpointer), health })
    }

    /// Runs this in the next group, and answers once it is durable. The closure may run twice; only its last run counts.
    pub(super) async fn run<T, W>(&self, weight: Weight, work: W) -> Result<T>
    where
        W: FnMut(&mut Pass<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Task { weight, work, done: None, reply });
        let Some(queue) = &self.queue else { return Err(self.health.silent()) };
        if queue.send(job).await.is_err() {
            return Err(self.health.silent());
        }
        answer.await.unwrap_or_else(|_| Err(self.health.silent()))
    }

    /// The same for what weighs nothing.
    pub(super) async fn ride<T, W>(&self, work: W) -> Result<T>
    where
        W: FnMut(&mut Pass<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.run(Weight::default(), work).await
    }

    /// Jobs that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.max_capacity() - queue.capacity())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // First the background checkpoints, so that the writer's last one finds nobody in its way.
        drop(self.checkpointer.take());
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic was caught and said inside.
            let _ = thread.join();
        }
    }
}

/// Until nobody can send any more, or the store is broken. Jobs that are dropped then answer through [`Health::silent`].
fn serve(health: &Health, mut groups: Groups, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    let mut held = None;
    while let Some(first) = held.take().or_else(|| jobs.blocking_recv()) {
        // The checkpointer may have seen a flush fail. What still waits is dropped and reads as broken.
        if health.check().is_err() {
            return;
        }
        let mut group = vec![first];
        held = gather(&mut group, &mut jobs);
        groups.commit(group);
    }
    if health.check().is_ok() {
        groups.close();
    }
}

/// Adds everything that waits to the group, up to the ceilings. Gives back the job that did not fit.
fn gather(group: &mut Vec<Box<dyn Job>>, jobs: &mut mpsc::Receiver<Box<dyn Job>>) -> Option<Box<dyn Job>> {
    let mut weight = group.iter().map(|job| job.weight()).fold(Weight::default(), Weight::and);
    while group.len() < QUEUE_JOBS_MAX {
        let next = jobs.try_recv().ok()?;
        weight = weight.and(next.weight());
        if weight.dispatches > COMMIT_DISPATCHES_MAX || weight.bytes > COMMIT_BYTES_MAX {
            return Some(next);
        }
        group.push(next);
    }
    None
}
