//! Files of earlier versions: what was in them is there afterwards, and what stood beside them is taken over once.

use std::fs;
use std::path::Path;

use jackfield_model::{Blob, Digest, Generation};
use jackfield_store::conformance::connection;
use jackfield_store::generation::{NamingKey, Serving};
use jackfield_store::sqlite::{Options, Sqlite};
use jackfield_store::{Kind, Stores};
use rusqlite::Connection;

use crate::child::open;

const FIRST_VERSION: &str = include_str!("../../src/sqlite/schema/1.sql");
const NUMBERING: &str = "generations.json";

/// The data folder of the first version: a connection and its dead letter in the database, the numbering beside it.
fn first_version() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let db = Connection::open(folder.path().join("jackfield.db")).unwrap();
    db.execute_batch(FIRST_VERSION).unwrap();
    db.execute_batch(&format!(
        "INSERT INTO connection (id) VALUES ('{}');
         INSERT INTO dead_letter VALUES (7, 1, 1, 1, 0, 1, 'ingest', 1, '{}', 'too deep', 'KIND', 'lane', '{{}}', 'bad');
         PRAGMA application_id = 0x4a4b4644;
         PRAGMA user_version = 1;",
        connection(),
        digest(),
    ))
    .unwrap();
    numbering(folder.path(), "key of before");
    folder
}

fn digest() -> Digest {
    Digest::of(b"a component")
}

fn numbering(folder: &Path, key: &str) {
    let (id, digest) = (connection(), digest());
    let book = format!(r#"{{"key":"{key}","connections":{{"{id}":{{"digest":"{digest}","number":41}}}}}}"#);
    fs::write(folder.join(NUMBERING), book).unwrap();
}

/// What was taken over: the key, and the number that the component has.
async fn taken_over(stores: &Stores) -> (NamingKey, Vec<u64>) {
    let key = stores.generations.naming_key(NamingKey("fresh".to_owned())).await.unwrap();
    let serving = stores.generations.serving().await.unwrap();
    (key, serving.into_iter().map(|(_, serving)| serving.number.0).collect())
}

#[tokio::test]
async fn the_first_version_is_brought_up_to_date() {
    let folder = first_version();
    let stores = open(folder.path());
    let letter = stores.dead_letters.letter(7).await.unwrap().unwrap();
    assert_eq!((letter.connection, letter.repeats), (connection(), 0));
    assert_eq!(letter.dispatch.payload, Blob::from("bad"));

    assert_eq!(taken_over(&stores).await, (NamingKey("key of before".to_owned()), vec![41]));
    let serving = Serving { digest: digest(), number: Generation(41) };
    assert_eq!(stores.generations.serving().await.unwrap(), [(connection(), serving)]);
    assert!(!folder.path().join(NUMBERING).exists(), "the store has it now");
    let next = stores.generations.number(&connection(), Digest::of(b"another")).await.unwrap();
    assert_eq!(next, Generation(42), "counting goes on");
}

/// Killed between the store and the removal of the file: it is removed, and what was decided since holds.
#[tokio::test]
async fn the_numbering_is_taken_over_once() {
    let folder = first_version();
    let stores = open(folder.path());
    stores.generations.number(&connection(), Digest::of(b"another")).await.unwrap();
    drop(stores);
    numbering(folder.path(), "an old copy");
    let stores = open(folder.path());
    assert_eq!(taken_over(&stores).await, (NamingKey("key of before".to_owned()), vec![42]));
    assert!(!folder.path().join(NUMBERING).exists());
}

/// Numbers that begin again would be another component's: somebody has to decide that.
#[tokio::test]
async fn a_damaged_numbering_is_refused_and_left_alone() {
    let folder = first_version();
    fs::write(folder.path().join(NUMBERING), b"{").unwrap();
    for _ in 0..2 {
        let refused = Sqlite::open(folder.path(), Options::default()).unwrap_err();
        assert_eq!(refused.kind(), Kind::Broken);
        let text = refused.to_string();
        assert!(text.contains(NUMBERING) && text.contains("damaged") && text.contains("remove it"), "{text}");
        assert_eq!(fs::read(folder.path().join(NUMBERING)).unwrap(), b"{");
    }
    fs::remove_file(folder.path().join(NUMBERING)).unwrap();
    assert_eq!(taken_over(&open(folder.path())).await, (NamingKey("fresh".to_owned()), vec![]));
}
