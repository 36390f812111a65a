//! Processes that are killed, and writers that end at a named point: what was answered is there, what was not is whole or
//! not there at all.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jackfield_model::{Fence, Token};
use jackfield_store::commit::{Batch, Commit, Ground, Outcome};
use jackfield_store::conformance::{admitted, batch, connection, death, dispatch, event, row, settled};
use jackfield_store::event::{Filter, Record};
use jackfield_store::inbox::RowId;
use jackfield_store::lease::Acquire;
use jackfield_store::sqlite::{Options, Sqlite};
use jackfield_store::{Kind, StoreError, Stores};
use tokio::time::timeout;

use crate::child::{command, open, say, start};

/// Longer than a write takes on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processes that are killed, one after the other, on the same folder.
const KILLS: usize = 6;

pub(crate) async fn term(stores: &Stores, token: Token) -> Ground {
    match stores.leases.acquire(&connection(), token, PATIENCE).await.unwrap() {
        Acquire::Granted { epoch } => Ground { fence: Fence { epoch, token }, count: 0 },
        Acquire::Held { until } => panic!("held until {until} by a process that is gone"),
    }
}

pub(crate) async fn log(stores: &Stores) -> Vec<Record> {
    let mut log: Vec<Record> = Vec::new();
    loop {
        let after = log.last().map_or(0, |record| record.position);
        let page = stores.events.page(&Filter::default(), after, 1000).await.unwrap();
        if page.is_empty() {
            return log;
        }
        log.extend(page);
    }
}

/// Number `at`: an event, a dead letter and a row that waits.
pub(crate) fn numbered(at: usize) -> Batch {
    let dispatch = dispatch("lane", &at.to_string());
    let dead = jackfield_store::commit::Settled { dispatch, outcome: Outcome::Dead(death()), ..settled(Vec::new()) };
    let mut batch = batch(&connection(), vec![settled(vec![event(&at.to_string())]), dead]);
    batch.parked.push(row("lane", &at.to_string()));
    batch
}

/// The child: goes on where the log ends, and says what was answered, until it is killed.
pub(crate) async fn write(folder: &Path) {
    let stores = open(folder);
    let mut at = log(&stores).await.len();
    let mut ground = term(&stores, Token(u128::from(std::process::id()))).await;
    loop {
        let answer = stores.commits.commit(numbered(at), Some(ground)).await.unwrap();
        assert!(matches!(answer, Commit::Done(_)), "{answer:?}");
        say(at);
        ground.count += 1;
        at += 1;
    }
}

/// kill -9 in the middle of writing, again and again: nothing that was answered is missing, nothing is there twice.
#[tokio::test]
async fn killed_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut epoch = 0;
    for kill in 0..KILLS {
        let mut child = start(command(&[], "write", folder.path()));
        let mut answered = None;
        for _ in 0..=kill * 7 {
            answered = child.hear();
        }
        let answered: usize = answered.expect("the child ended by itself").parse().unwrap();
        child.kill();
        let stores = open(folder.path());
        let log = log(&stores).await;
        let keys: Vec<String> = log.iter().map(|record| record.event.key.clone()).collect();
        let wanted: Vec<String> = (0..log.len()).map(|at| at.to_string()).collect();
        assert_eq!(keys, wanted);
        assert!(log.len() > answered, "{answered} was answered, the log ends before it at {}", log.len());
        let letters = stores.dead_letters.count(None).await.unwrap() as usize;
        let rows = stores.inbox.depth(&connection()).await.unwrap().rows as usize;
        assert_eq!((letters, rows), (log.len(), log.len()), "batches are whole");
        let standing = stores.leases.standing(&connection()).await.unwrap().unwrap();
        assert!(standing.epoch.0 > epoch);
        assert_eq!(log.last().unwrap().epoch, standing.epoch);
        epoch = standing.epoch.0;
    }
}

/// Ends the writer at a named point of its next batch. A panic there is as good as a crash: nothing is undone, nothing said.
struct Fuse(Arc<AtomicBool>);

fn fused(folder: &Path, at: &'static str) -> (Stores, Fuse) {
    let armed = Arc::new(AtomicBool::new(false));
    let fuse = Fuse(Arc::clone(&armed));
    let failpoint = move |point: &'static str| {
        assert!(point != at || !armed.load(Ordering::SeqCst), "the fuse at {at} blows");
    };
    let options = Options { failpoint: Some(Arc::new(failpoint)), ..Options::default() };
    (Stores::of(Sqlite::open(folder, options).unwrap()), fuse)
}

/// At each point: no hang, nobody is told that it was stored, everything afterwards is refused; and what a restart finds is
/// what the point says.
#[tokio::test]
async fn writers_that_end_in_the_middle() {
    for (point, stored) in [("before-commit", false), ("in-transaction", false), ("after-commit-before-answer", true)] {
        let folder = tempfile::tempdir().unwrap();
        let (stores, fuse) = fused(folder.path(), point);
        let ground = term(&stores, Token(1)).await;
        let done = stores.commits.commit(numbered(0), Some(ground)).await.unwrap();
        assert!(matches!(done, Commit::Done(_)));
        fuse.0.store(true, Ordering::SeqCst);
        let ground = Ground { count: 1, ..ground };
        let others = (2..30).map(|at| {
            let commits = Arc::clone(&stores.commits);
            tokio::spawn(async move { commits.commit(numbered(at), None).await })
        });
        let others: Vec<_> = others.collect();
        let first = timeout(PATIENCE, stores.commits.commit(numbered(1), Some(ground))).await.unwrap();
        assert_eq!(first.as_ref().map_err(StoreError::kind), Err(Kind::Broken), "{point}");
        for other in others {
            let other = timeout(PATIENCE, other).await.unwrap().unwrap();
            assert_eq!(other.map_err(|error| error.kind()), Err(Kind::Broken), "{point}");
        }
        let read = timeout(PATIENCE, stores.events.page(&Filter::default(), 0, 1)).await.unwrap();
        assert_eq!(read.map_err(|error| error.kind()), Err(Kind::Broken), "{point}");
        drop(stores);

        let stores = open(folder.path());
        let found: Vec<String> = log(&stores).await.into_iter().map(|record| record.event.key).collect();
        assert!(found.first().is_some_and(|key| key == "0"), "{point}: what was answered is there");
        assert_eq!(found.len() > 1, stored, "{point}: {found:?}");
        let rows = stores.inbox.waiting(&connection(), RowId(0), 100).await.unwrap();
        assert_eq!(rows.len(), found.len(), "{point}: batches are whole");
        if found.contains(&"1".to_owned()) {
            let again = stores.commits.commit(numbered(1), Some(ground)).await.unwrap();
            assert_eq!(again, Commit::Repeated, "{point}: the answer was lost, the batch was not");
        } else if !stored {
            let again = stores.commits.commit(numbered(1), Some(ground)).await.unwrap();
            assert!(matches!(again, Commit::Done(_)), "{point}: {again:?}");
        }
    }
}

/// Events in one batch with what is known already: a restart in between changes nothing.
#[tokio::test]
async fn a_batch_goes_again_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let (stores, fuse) = fused(folder.path(), "in-transaction");
    let events = |keys: &[&str]| {
        let events = keys.iter().map(|key| admitted(event(key))).collect();
        let settled = jackfield_store::commit::Settled { outcome: Outcome::Events(events), ..settled(Vec::new()) };
        batch(&connection(), vec![settled])
    };
    stores.commits.commit(events(&["a"]), None).await.unwrap();
    fuse.0.store(true, Ordering::SeqCst);
    assert!(stores.commits.commit(events(&["a", "b", "c"]), None).await.is_err());
    drop(stores);
    let stores = open(folder.path());
    stores.commits.commit(events(&["a", "b", "c"]), None).await.unwrap();
    let keys: Vec<String> = log(&stores).await.into_iter().map(|record| record.event.key).collect();
    assert_eq!(keys, ["a", "b", "c"]);
}
