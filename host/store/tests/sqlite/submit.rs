//! Executions in processes that are killed: what was answered is in the ledger and under its key, and no fence comes again.

use std::path::Path;
use std::time::Duration;

use jackfield_model::ExecutionId;
use jackfield_model::action::EndingKind;
use jackfield_store::Stores;
use jackfield_store::conformance::{closing, connection, execution, opening};
use jackfield_store::execution::{Filter, Opened};

use crate::child::{command, open, say, start};

/// Processes that are killed, one after the other, on the same folder.
const KILLS: u64 = 6;

/// Longer than this takes: no lock lapses by itself.
const HOUR: Duration = Duration::from_secs(3600);

/// The caller's key of an execution.
fn key(at: u64) -> String {
    format!("key {at}")
}

/// How every execution ends that ends at all.
const KIND: EndingKind = EndingKind::Done;

async fn ledger(stores: &Stores) -> Vec<(ExecutionId, Option<EndingKind>)> {
    let mut rows = Vec::new();
    loop {
        let before = rows.last().map(|(id, _)| *id);
        let page = stores.executions.executions(&Filter::default(), before, 1000).await.unwrap();
        if page.is_empty() {
            return rows;
        }
        rows.extend(page.into_iter().map(|row| (row.id, row.outcome)));
    }
}

/// The child: submits, takes a lock, ends every other execution, and says what was answered, until it is killed.
pub(crate) async fn submit(folder: &Path) {
    let stores = open(folder);
    let mut at = ledger(&stores).await.len() as u64;
    loop {
        at += 1;
        let opened = stores.executions.open(opening(at, Some(&key(at)))).await.unwrap();
        assert_eq!(opened, Opened::New { attempt: 1, doubt: None });
        let fence = stores.locks.try_lock(&connection(), "k", execution(at), HOUR).await.unwrap();
        let fence = fence.expect("the one before gave it back, or died");
        say(format!("{at} {fence}"));
        if at.is_multiple_of(2) {
            assert!(stores.executions.close(execution(at), closing(KIND)).await.unwrap());
            say(format!("{at} {fence} ended"));
        }
        stores.locks.release(&connection(), execution(at)).await.unwrap();
    }
}

/// kill -9 between opening and closing, again and again.
#[tokio::test]
async fn killed_processes_forget_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut newest = 0;
    for kill in 0..KILLS {
        let mut child = start(command(&[], "execute", folder.path()));
        let mut heard = Vec::new();
        for _ in 0..=kill * 5 {
            heard.push(child.hear().expect("the child ended by itself"));
        }
        child.kill();
        let stores = open(folder.path());
        let interrupted = stores.executions.interrupted("killed").await.unwrap();
        let rows = ledger(&stores).await;
        let wanted: Vec<ExecutionId> = (1..=rows.len() as u64).rev().map(execution).collect();
        assert_eq!(rows.iter().map(|(id, _)| *id).collect::<Vec<_>>(), wanted);
        assert!(rows.iter().all(|(_, outcome)| outcome.is_some()), "{rows:?}");
        assert!(interrupted <= 1 + rows.len() as u64 / 2);
        for line in heard {
            let words: Vec<&str> = line.split(' ').collect();
            let (at, fence): (u64, u64) = (words[0].parse().unwrap(), words[1].parse().unwrap());
            newest = newest.max(fence);
            let outcome = rows.iter().find(|(id, _)| *id == execution(at)).unwrap_or_else(|| panic!("{at} is lost")).1;
            if words.len() > 2 {
                assert_eq!(outcome, Some(KIND), "{at} was said to have ended");
            }
            match stores.executions.open(opening(1 << 40, Some(&key(at)))).await.unwrap() {
                Opened::Same { id, ending, .. } => {
                    assert_eq!((id, ending.map(|ending| ending.kind())), (execution(at), outcome), "{at}");
                }
                other => panic!("{at}: {other:?}"),
            }
        }
        let next = stores.locks.try_lock(&connection(), "k", execution(1), HOUR).await.unwrap();
        assert!(next > Some(newest), "{next:?} after {newest}");
        newest = next.unwrap();
    }
}
