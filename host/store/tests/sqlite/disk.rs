//! Disks that are full, and disks that fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jackfield_model::Token;
use jackfield_store::commit::{Batch, Commit, Ground};
use jackfield_store::conformance::{batch, connection, event, row, settled};
use jackfield_store::event::Filter;
use jackfield_store::{Kind, Stores};
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::child::{command, open, say, start};
use crate::crash::{log, numbered, term};

/// What a file may grow to in the child that runs out of room.
const ROOM: u64 = 3 * 1024 * 1024;

fn large(at: usize) -> Batch {
    let mut large = event(&at.to_string());
    large.properties = format!(r#"{{"text":"{}"}}"#, "x".repeat(20_000));
    batch(&connection(), vec![settled(vec![large])])
}

/// The child: fills its room, finds out that nothing is stored any more, gets more room, and goes on where it was.
pub(crate) async fn fill(folder: &Path) {
    let stores = open(folder);
    let mut ground = term(&stores, Token(1)).await;
    let limit = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, rustix::process::Rlimit { current: Some(ROOM), ..limit }).unwrap();
    let (mut at, mut refusals) = (0, 0);
    // Pages that move from the log into the file make room once more, so a refusal is not the end of it.
    while refusals < 5 {
        match stores.commits.commit(large(at), Some(ground)).await {
            Ok(Commit::Done(_)) => {
                at += 1;
                ground.count += 1;
            }
            Ok(other) => panic!("{other:?}"),
            Err(refused) => {
                assert_eq!(refused.kind(), Kind::Full, "{refused}");
                assert_eq!(log(&stores).await.len(), at, "reading goes on, and shows nothing of what was refused");
                refusals += 1;
            }
        }
        assert!(at < 10_000, "no end of room");
    }
    setrlimit(Resource::Fsize, limit).unwrap();
    for _ in 0..50 {
        let answer = stores.commits.commit(large(at), Some(ground)).await.unwrap();
        assert!(matches!(answer, Commit::Done(_)), "{answer:?}");
        at += 1;
        ground.count += 1;
    }
    say(at);
}

/// A full disk loses nothing and breaks nothing: writing works again once there is room.
#[tokio::test]
async fn full() {
    let folder = tempfile::tempdir().unwrap();
    // A limit on the size of files is something that any process may set. Its signal is ignored, so that writing fails.
    let mut child = start(command(&["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"], "full", folder.path()));
    let stored: usize = child.hear().expect("the child failed; see its output").parse().unwrap();
    child.join();
    let stores = open(folder.path());
    let found: Vec<String> = log(&stores).await.into_iter().map(|record| record.event.key).collect();
    assert_eq!(found, (0..stored).map(|at| at.to_string()).collect::<Vec<_>>());
}

fn flag(folder: &Path) -> PathBuf {
    folder.join("flushes-fail")
}

/// The child: what happens when a flush fails, and works again.
pub(crate) async fn flush_fails(folder: &Path) {
    let stores = open(folder);
    let ground = term(&stores, Token(1)).await;
    stores.commits.commit(numbered(0), Some(ground)).await.unwrap();
    fs::write(flag(folder), "").unwrap();
    let next = Ground { count: 1, ..ground };
    is_broken(&stores, next).await;
    fs::remove_file(flag(folder)).unwrap();
    is_broken(&stores, next).await;
    assert_eq!(stores.events.page(&Filter::default(), 0, 1).await.unwrap_err().kind(), Kind::Broken);
    say("broken");
}

async fn is_broken(stores: &Stores, ground: Ground) {
    let commit = stores.commits.commit(numbered(1), Some(ground)).await;
    assert_eq!(commit.unwrap_err().kind(), Kind::Broken, "a flush that failed is never tried again");
}

/// After a failed flush nothing is answered any more, and a restart finds what was answered.
#[tokio::test]
async fn failed_flushes_are_the_end() {
    let (folder, aside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let library = aside.path().join("flush.so");
    // The bundled SQLite needs a C compiler too, so there is one wherever this is built.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sqlite/flush.c");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status().unwrap();
    assert!(built.success());
    let mut command = command(&[], "flush", folder.path());
    command.env("LD_PRELOAD", &library).env("JACKFIELD_FLUSHES_FAIL", flag(folder.path()));
    let mut child = start(command);
    assert_eq!(child.hear().as_deref(), Some("broken"));
    child.join();
    let stores = open(folder.path());
    let found = log(&stores).await;
    assert_eq!(found.first().map(|record| record.event.key.as_str()), Some("0"));
    assert!(found.len() <= 2, "the batch whose flush failed is whole or not there");
    assert_eq!(stores.inbox.depth(&connection()).await.unwrap().rows as usize, found.len());
}

/// The log does not grow for ever under a writer that never rests.
#[tokio::test]
async fn the_log_starts_over() {
    const MIB: usize = 1024 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let stores = open(folder.path());
    let mut longest = 0;
    for at in 0..150 {
        let mut parking = batch(&connection(), Vec::new());
        parking.parked.push(row("lane", &format!("{at}{}", "x".repeat(MIB))));
        stores.commits.commit(parking, None).await.unwrap();
        let log = fs::metadata(folder.path().join("jackfield.db-wal")).unwrap().len() as usize;
        longest = longest.max(log);
    }
    assert!(longest < 80 * MIB, "{longest} bytes");
    assert_eq!(stores.inbox.depth(&connection()).await.unwrap().rows, 150);
}
