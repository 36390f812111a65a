//! The write path with jobs that no trait can send: refused ones, and ones that panic.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use jackfield_model::{ConnectionId, ExecutionId, Fence, Timestamp, Token};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::commit::{Batch, Commit, Commits as _, Ground};
use crate::error::Kind;
use crate::event::Events as _;
use crate::lease::{Acquire, Leases as _};
use crate::lock::Locks as _;
use crate::sqlite::read::READERS_MAX;
use crate::sqlite::{Options, Sqlite};
use crate::trace::Trace as _;

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
    let owner = ExecutionId::new(Timestamp(1), 1);
    let lock = tokio::spawn({
        let store = store.clone();
        async move { store.try_lock(&connection(), "k", owner, PATIENCE).await }
    });
    while store.writer.waiting() < 2 {
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
    while store.writer.waiting() < jobs.len() + 2 {
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
    let fence = lock.await.unwrap().unwrap().expect("held by nobody");
    assert!(store.unlock(&connection(), "k", owner, fence).await.unwrap());
    let next = store.try_lock(&connection(), "k", owner, PATIENCE).await.unwrap();
    assert!(next > Some(fence), "the fence is in the file too: {next:?} after {fence}");
}

/// A search gives way to others between two steps, and needs no writer: one that is busy for hours is not noticed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path(), Options::default()).unwrap();
    let insert =
        "WITH RECURSIVE at (position) AS (VALUES (1) UNION ALL SELECT position + 1 FROM at WHERE position < 20000)
        INSERT INTO event SELECT position, 1, zeroblob(16), 0, 0, 0, 0, 0, 0, 0, 0, 'n', 'k:' || position, NULL, '', '',
          NULL, NULL, NULL, NULL, '{}' FROM at";
    let connection = "INSERT INTO connection (id) VALUES ('acme-discord')";
    let filled = store.writer.ride(move |pass| Ok(pass.db.execute(connection, [])? + pass.db.execute(insert, [])?));
    assert_eq!(filled.await.unwrap(), 20_001);
    let (go, wait) = mpsc::channel::<()>();
    let busy = tokio::spawn({
        let store = store.clone();
        async move { store.writer.ride(move |_| Ok(wait.recv().is_err())).await }
    });
    let _others = store.readers.hold(READERS_MAX as u32 - 1).await;
    let last = store.readers.hold(1).await;
    let read = AtomicBool::new(false);
    let search = async {
        let found = timeout(PATIENCE, store.trace("1", 10)).await;
        assert!(read.load(Ordering::SeqCst), "whoever came later had to wait until all of the log was searched");
        found
    };
    let other = async {
        let read_one = store.readers.read(|db| db.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)));
        let one = timeout(PATIENCE, read_one).await;
        read.store(true, Ordering::SeqCst);
        one
    };
    // In this order they stand in line for the one turn that is left.
    let (found, one, ()) = tokio::join!(biased; search, other, async { drop(last) });
    assert_eq!(one.unwrap().unwrap(), 1);
    let found = found.unwrap().unwrap();
    assert_eq!(found.events.items.iter().map(|record| record.position).collect::<Vec<_>>(), [1]);
    drop(go);
    assert!(busy.await.unwrap().unwrap());
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
