//! The write path with jobs that no trait can send: refused ones, and ones that panic.

use std::sync::mpsc;
use std::time::Duration;

use jackfield_model::{ConnectionId, Fence, Token};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::commit::{Batch, Commit, Commits as _, Ground};
use crate::error::Kind;
use crate::event::Events as _;
use crate::lease::{Acquire, Leases as _};
use crate::sqlite::{Options, Sqlite};

/// Longer than a write takes on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn connection() -> ConnectionId {
    "acme-discord".parse().unwrap()
}

fn empty() -> Batch {
    Batch {
        connection: connection(),
        space: "acme".parse().unwrap(),
        namespace: "discord".to_owned(),
        settled: Vec::new(),
        parked: Vec::new(),
        attempts: Vec::new(),
        state: Vec::new(),
    }
}

/// One job that SQLite refuses takes nobody with it, though all of them share a transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_job_spoils_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path(), Options::default()).unwrap();
    // Holds the writer up until everything else waits, so that it becomes one group.
    let (go, wait) = mpsc::channel::<()>();
    let (begun, running) = oneshot::channel();
    let mut begun = Some(begun);
    let first = tokio::spawn({
        let store = store.clone();
        async move {
            let held = store.writer.ride(move |_| {
                let _ = begun.take().map(|begun| begun.send(()));
                Ok(wait.recv().is_err())
            });
            held.await
        }
    });
    running.await.unwrap();
    // First in the same group: what it keeps beside the file has to be taken back with the transaction.
    let token = Token(1);
    let lease = tokio::spawn({
        let store = store.clone();
        async move { store.acquire(&connection(), token, PATIENCE).await }
    });
    while store.writer.waiting() < 1 {
        tokio::task::yield_now().await;
    }
    let jobs: Vec<_> = (0..20)
        .map(|at| {
            let store = store.clone();
            tokio::spawn(async move {
                let name = (at % 3 != 0).then(|| format!("cursor {at:02}"));
                let insert = "INSERT INTO cursor (name, position, moved_at) VALUES (?1, 0, 0)";
                (at, store.writer.ride(move |pass| pass.db.execute(insert, [&name])).await)
            })
        })
        .collect();
    while store.writer.waiting() < jobs.len() + 1 {
        tokio::task::yield_now().await;
    }
    drop(go);
    assert!(first.await.unwrap().unwrap());
    for job in jobs {
        let (at, outcome) = timeout(PATIENCE, job).await.unwrap().unwrap();
        let wanted = if at % 3 == 0 { Err(Kind::Unavailable) } else { Ok(1) };
        assert_eq!(outcome.map_err(|error| error.kind()), wanted, "job {at}");
    }
    assert_eq!(store.cursors().await.unwrap().len(), 13);
    let Acquire::Granted { epoch } = lease.await.unwrap().unwrap() else { panic!("held by nobody") };
    let ground = Ground { fence: Fence { epoch, token }, count: 0 };
    let committed = store.commit(empty(), Some(ground)).await.unwrap();
    assert!(matches!(committed, Commit::Done(_)), "the grant is in the file, not in memory alone: {committed:?}");
}

/// A panic in the writer is the end of the store, not of whoever waits for it.
#[tokio::test]
async fn a_panic_is_said_to_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path(), Options::default()).unwrap();
    let panicked = store.writer.ride(|_| -> rusqlite::Result<()> { panic!("a defect") });
    let waiting = store.advance("cursor", 0);
    let (panicked, waiting) = timeout(PATIENCE, async { tokio::join!(panicked, waiting) }).await.unwrap();
    assert_eq!(panicked.unwrap_err().kind(), Kind::Broken);
    assert_eq!(waiting.unwrap_err().kind(), Kind::Broken);
    assert_eq!(timeout(PATIENCE, store.advance("cursor", 0)).await.unwrap().unwrap_err().kind(), Kind::Broken);
}
