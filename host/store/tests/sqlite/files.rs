//! The folder and its files: who may read them, who may open them, and what is wrong with them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use jackfield_store::conformance::{batch, connection, event, settled};
use jackfield_store::sqlite::{Options, Sqlite};
use jackfield_store::{Kind, StoreError};
use rusqlite::Connection;

use crate::child::{command, open, start};
use crate::crash::log;

const DATABASE: &str = "jackfield.db";

fn refused(folder: &Path) -> StoreError {
    match Sqlite::open(folder, Options::default()) {
        Err(refused) => refused,
        Ok(_) => panic!("{} was opened", folder.display()),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A store with an event in it.
async fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let stores = open(folder.path());
    stores.commits.commit(batch(&connection(), vec![settled(vec![event("a")])]), None).await.unwrap();
    folder
}

/// Nobody else reads what is stored, whatever the folder was before.
#[tokio::test]
async fn are_private() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("deep/data");
    let files = [DATABASE, "jackfield.db-wal", "jackfield.db-shm", "lock"];
    for round in ["new", "wide open"] {
        let stores = open(&folder);
        stores.commits.commit(batch(&connection(), vec![settled(vec![event(round)])]), None).await.unwrap();
        assert_eq!(mode(&folder), 0o700, "{round}");
        for file in files {
            assert_eq!(mode(&folder.join(file)), 0o600, "{round}: {file}");
        }
        drop(stores);
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        for file in files.iter().map(|file| folder.join(file)).filter(|path| path.exists()) {
            fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
        }
    }
}

/// Somebody else's folder is not written into.
#[test]
fn of_another_user_are_refused() {
    let mine = tempfile::tempdir().unwrap();
    let foreign: PathBuf = if rustix::process::geteuid().is_root() {
        chown(mine.path(), Some(12_345), None).unwrap();
        mine.path().to_owned()
    } else {
        "/".into()
    };
    let refused = refused(&foreign);
    assert!(refused.to_string().contains("belongs to user"), "{refused}");
    assert_eq!(refused.kind(), Kind::Broken);
}

/// One process at a time: the second is told who has it, and gets it once that one is dead, however it died.
#[tokio::test]
async fn are_locked() {
    let folder = filled().await;
    let mut holder = start(command(&[], "hold", folder.path()));
    assert_eq!(holder.hear().as_deref(), Some("open"));
    match refused(folder.path()) {
        StoreError::Locked { pid, .. } => assert_eq!(pid, Some(holder.pid())),
        other => panic!("{other}"),
    }
    holder.kill();
    let stores = open(folder.path());
    assert_eq!(log(&stores).await.len(), 1);
    assert_eq!(refused(folder.path()).kind(), Kind::Locked, "nor twice in one process");
}

/// A file that this version does not understand is left alone.
#[tokio::test]
async fn of_a_newer_version_are_refused() {
    let folder = filled().await;
    let file = folder.path().join(DATABASE);
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&file).unwrap();
    match refused(folder.path()) {
        StoreError::TooNew { found, known, .. } => assert!(found == 99 && known < found, "{known}"),
        other => panic!("{other}"),
    }
    assert!(fs::read(&file).unwrap() == before, "the file was changed");
}

/// A folder that others use is not taken from them.
#[test]
fn a_folder_of_others_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("theirs"), b"dear diary").unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let refused = refused(folder.path()).to_string();
    assert!(refused.contains("a data folder of its own"), "{refused}");
    assert_eq!(mode(folder.path()), 0o755);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was put into it");
    // Empty it may be taken, whatever its mode.
    fs::remove_file(folder.path().join("theirs")).unwrap();
    Sqlite::open(folder.path(), Options::default()).unwrap();
    assert_eq!(mode(folder.path()), 0o700);
}

/// What is not a store, or not whole, is named, with what to do. Nothing panics and nothing is overwritten.
#[tokio::test]
async fn that_are_no_store_are_refused() {
    const PAGE: usize = 4096;
    type Harm = fn(&Path);
    let cases: [(&str, Harm, &str); 4] = [
        ("no database", |file| fs::write(file, "dear diary ".repeat(1000)).unwrap(), "no SQLite database"),
        (
            "all but the first page overwritten",
            |file| {
                let mut bytes = fs::read(file).unwrap();
                bytes[PAGE..].fill(0xa5);
                fs::write(file, bytes).unwrap();
            },
            "damaged",
        ),
        (
            "the end is missing",
            |file| {
                let bytes = fs::read(file).unwrap();
                fs::write(file, &bytes[..PAGE]).unwrap();
            },
            "damaged",
        ),
        (
            "another program's",
            |file| {
                fs::remove_file(file).unwrap();
                Connection::open(file).unwrap().execute_batch("CREATE TABLE diary (entry TEXT)").unwrap();
            },
            "another program's",
        ),
    ];
    for (case, harm, wanted) in cases {
        let folder = filled().await;
        let file = folder.path().join(DATABASE);
        harm(&file);
        let before = fs::read(&file).unwrap();
        let refused = refused(folder.path());
        assert_eq!(refused.kind(), Kind::Broken, "{case}: {refused}");
        let text = refused.to_string();
        assert!(text.contains(wanted) && text.contains(DATABASE), "{case}: {text}");
        assert!(fs::read(&file).unwrap() == before, "{case}: the file was changed");
    }
    let folder = filled().await;
    assert!(refused(&folder.path().join(DATABASE)).to_string().contains("data folder"), "a file is no folder");
}
