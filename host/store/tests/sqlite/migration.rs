//! Files of earlier versions: what is in them is there afterwards, and everything that is new works on them.

use std::path::Path;

use jackfield_model::action::EndingKind;
use jackfield_model::contact::{Reference, Resolution};
use jackfield_model::{Blob, ConnectionId, Fence, Timestamp, Token};
use jackfield_store::commit::{Commit, Ground, Settled, Stored};
use jackfield_store::conformance::{batch, closing, connection, event, execution, opening, settled};
use jackfield_store::event::Filter;
use jackfield_store::execution::Opened;
use jackfield_store::inbox::RowId;
use jackfield_store::lease::Acquire;
use jackfield_store::sqlite::{Options, Sqlite};
use rusqlite::Connection;

use crate::child::open;

/// The first version, as it was, and a file with something in every table of it.
const FIRST: &str = include_str!("../../src/sqlite/schema/1.sql");
const FILLED: &str = include_str!("schema_1.sql");

/// Makes a file of the first version.
fn first(folder: &Path) {
    let file = Connection::open(folder.join("jackfield.db")).unwrap();
    file.execute_batch(FIRST).unwrap();
    file.execute_batch(FILLED).unwrap();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let tables: Vec<String> =
        file.prepare(tables).unwrap().query_map([], |row| row.get(0)).unwrap().flatten().collect();
    for table in tables {
        let rows: i64 = file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert!(rows > 0, "there is nothing in `{table}`");
    }
    file.pragma_update(None, "application_id", 0x4a4b_4644).unwrap();
    file.pragma_update(None, "user_version", 1).unwrap();
    file.pragma_update(None, "journal_mode", "wal").unwrap();
}

/// Nothing of the first version is lost, its markers and fences still hold, and what came since works.
#[tokio::test]
async fn from_the_first_version() {
    let folder = tempfile::tempdir().unwrap();
    first(folder.path());
    for round in ["migrated", "opened again"] {
        let stores = open(folder.path());
        let id = connection();
        let log = stores.events.page(&Filter::default(), 0, 10).await.unwrap();
        let keys: Vec<(u64, &str)> = log.iter().map(|record| (record.position, record.event.key.as_str())).collect();
        assert_eq!(keys, [(3, "a"), (4, "b")], "{round}");
        assert_eq!(log[0].connection, id);
        assert_eq!(stores.events.raw(4).await.unwrap(), Some(Blob::from("raw")));
        assert_eq!(stores.events.cursor("consumer").await.unwrap().unwrap().position, 3);
        let waiting = stores.inbox.waiting(&id, RowId(0), 10).await.unwrap();
        assert_eq!((waiting.len(), waiting[0].0, waiting[0].1.attempts), (1, RowId(7), 2), "{round}");
        let letter = stores.dead_letters.letter(5).await.unwrap().unwrap();
        assert_eq!(letter.dispatch.payload, Blob::Binary(vec![0, 0xff].into()), "{round}");
        assert_eq!(stores.state.get(&id, "cursor").await.unwrap(), Some(Blob::from("7")), "{round}");
        assert_eq!(stores.checkpoints.load(&id).await.unwrap().unwrap().format, 1, "{round}");
        let person = Reference::Email("ada@example.org".to_owned());
        let person = stores.contacts.resolve(&"acme".parse().unwrap(), &person).await.unwrap();
        assert!(matches!(person, Resolution::Found(contact) if contact.id == "c_ada"), "{round}");
        let parked = stores.parked.parked(&"other".parse().unwrap()).await.unwrap().unwrap();
        assert_eq!((parked.code.as_str(), parked.since), ("fatal", Timestamp(7)), "{round}");
        let budget = jackfield_model::session::StartBudget { starts: 5, window: std::time::Duration::MAX };
        assert_eq!(stores.starts.left("credential", budget).await.unwrap().spent, 1, "{round}");
        let standing = stores.leases.standing(&id).await.unwrap().unwrap();
        assert_eq!(standing.epoch.0, 9, "{round}");
    }
    let stores = open(folder.path());
    let id = connection();
    let ground = Ground { fence: Fence { epoch: jackfield_model::Epoch(9), token: Token(1) }, count: 4 };
    let sent = batch(&id, vec![settled(vec![event("c")])]);
    match stores.commits.commit(sent, Some(ground)).await.unwrap() {
        Commit::Done(receipt) => assert_eq!(receipt.events, [[Stored::New(5)]]),
        other => panic!("the grant was lost: {other:?}"),
    }
    let Acquire::Granted { epoch } = stores.leases.acquire(&id, Token(2), std::time::Duration::MAX).await.unwrap()
    else {
        panic!("held by a process that is gone")
    };
    assert_eq!(epoch.0, 10);
    let other: ConnectionId = "other".parse().unwrap();
    let pruned = Settled { row: None, ..settled(vec![event("pruned")]) };
    match stores.commits.commit(batch(&other, vec![pruned]), None).await.unwrap() {
        Commit::Done(receipt) => assert_eq!(receipt.events, [[Stored::Known]], "a marker that outlived its event"),
        other => panic!("{other:?}"),
    }
    assert_eq!(stores.executions.open(opening(1, Some("k"))).await.unwrap(), Opened::New { attempt: 1, doubt: None });
    assert!(stores.executions.close(execution(1), closing(EndingKind::Done)).await.unwrap());
    assert!(stores.locks.try_lock(&id, "k", execution(1), std::time::Duration::MAX).await.unwrap().is_some());
    let trail = stores.trace.trace("raw", 10).await.unwrap();
    assert_eq!((trail.waiting.items.len(), trail.dead_letters.items.len()), (1, 0));
}

/// A step that can't be taken leaves the file as it was, so that the version that wrote it still opens it.
#[test]
fn that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    first(folder.path());
    let file = folder.path().join("jackfield.db");
    let file = || Connection::open(&file).unwrap();
    // Somebody made a table of his own, whose name a later version has.
    file().execute_batch("CREATE TABLE lock_fence (mine TEXT)").unwrap();
    let refused = Sqlite::open(folder.path(), Options::default()).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("lock_fence"), "{refused}");
    let version: i64 = file().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'execution'";
    let made: i64 = file().query_row(tables, [], |row| row.get(0)).unwrap();
    assert_eq!((version, made), (1, 0));
    file().execute_batch("DROP TABLE lock_fence").unwrap();
    Sqlite::open(folder.path(), Options::default()).unwrap();
}
