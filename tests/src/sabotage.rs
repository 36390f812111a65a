//! A host on a store that lies. See `bin/sabotaged.rs`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jackfield::config::Environment;
use jackfield::failpoint::Failpoint;
use jackfield::host::{Host, Options};
use jackfield::serve;
use jackfield_model::{ConnectionId, clock};
use jackfield_store::checkpoint::Checkpoint;
use jackfield_store::commit::{Batch, Commit, Ground, Outcome, Receipt, Stored};
use jackfield_store::retention::Policy;
use jackfield_store::sqlite::Sqlite;
use jackfield_store::{Checkpoints, Commits, StoreError, Stores};
use rustix::process::{Signal, getpid, kill_process};

use crate::embedded::Embedded;

/// How long a batch that counts as committed is on its way.
const LATE: Duration = Duration::from_millis(300);

/// Runs the host of `jackfield.toml` in this folder until it is killed.
pub fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let sabotage = std::env::var("JACKFIELD_SABOTAGE").expect("how");
        let failpoint = failpoint();
        let engine = |data: &Path| serve::engine(Some(data), clock::system()).expect("an engine");
        let Embedded { file, specs, store, engine } =
            Embedded::new(Path::new("jackfield.toml"), &Environment::process(), engine, &failpoint).await;
        let honest = Stores::of(store.clone());
        let early = Arc::new(Early(store.clone()));
        let stores = match sabotage.as_str() {
            "early" => Stores { commits: early.clone(), checkpoints: early, ..honest },
            "doubles" => Stores { commits: Arc::new(Doubles(store, AtomicU64::new(0))), ..honest },
            other => panic!("JACKFIELD_SABOTAGE={other}: use early or doubles"),
        };
        let week = Duration::from_secs(7 * 24 * 3_600);
        let retention = Policy { events: week, dead_letters: week, executions: week, dedupe_entries: 500_000 };
        let options = Options { stores, engine, clock: clock::system(), data: file.data.clone(), retention, failpoint };
        let host = Host::start(options, specs).await.expect("the ledger can be opened");
        let error = host.broken().await;
        panic!("the store is broken: {error}");
    })
}

/// `JACKFIELD_FAILPOINT=name:n`, as the host itself reads it.
fn failpoint() -> Failpoint {
    let asked = std::env::var("JACKFIELD_FAILPOINT").expect("where");
    let (name, count) = asked.split_once(':').expect("name:n");
    let (name, count) = (name.to_owned(), count.parse::<u64>().expect("a number"));
    let hits = AtomicU64::new(0);
    Failpoint::new(Some(Arc::new(move |reached: &'static str| {
        if reached == name && hits.fetch_add(1, Ordering::SeqCst) + 1 == count {
            let _ = kill_process(getpid(), Signal::KILL);
        }
    })))
}

/// Answers first and commits later, in order.
struct Early(Arc<Sqlite>);

#[async_trait]
impl Commits for Early {
    async fn commit(&self, batch: Batch, _: Option<Ground>) -> Result<Commit, StoreError> {
        let new = |outcome: &Outcome| match outcome {
            Outcome::Events(events) => events.iter().map(|_| Stored::New(1)).collect(),
            Outcome::Ignored | Outcome::Dead(_) => Vec::new(),
        };
        let receipt = Receipt {
            events: batch.settled.iter().map(|settled| new(&settled.outcome)).collect(),
            rows: Vec::new(),
            conflicts: 0,
            repeats: 0,
        };
        let store = self.0.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LATE).await;
            // Without the fence: the store's count would not be the one that it builds on.
            store.commit(batch, None).await
        });
        Ok(Commit::Done(receipt))
    }
}

#[async_trait]
impl Checkpoints for Early {
    /// Stands on what was answered, which the store does not have: to it, nothing was committed under this fence yet.
    async fn store(
        &self,
        connection: &ConnectionId,
        checkpoint: Checkpoint,
        ground: Ground,
    ) -> Result<bool, StoreError> {
        Checkpoints::store(&*self.0, connection, checkpoint, Ground { count: 0, ..ground }).await
    }

    async fn load(&self, connection: &ConnectionId) -> Result<Option<Checkpoint>, StoreError> {
        Checkpoints::load(&*self.0, connection).await
    }
}

/// Makes every event one that was never seen.
struct Doubles(Arc<Sqlite>, AtomicU64);

#[async_trait]
impl Commits for Doubles {
    async fn commit(&self, mut batch: Batch, ground: Option<Ground>) -> Result<Commit, StoreError> {
        for settled in &mut batch.settled {
            if let Outcome::Events(events) = &mut settled.outcome {
                for admitted in events {
                    let number = self.1.fetch_add(1, Ordering::Relaxed);
                    let key = &mut admitted.event.key;
                    // In front: the id at its end is what the checker reads.
                    *key = format!("{}-{number}:{key}", std::process::id());
                }
            }
        }
        self.0.commit(batch, ground).await
    }
}
