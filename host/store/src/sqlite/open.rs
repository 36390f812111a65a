//! The data folder and its files: who may read them, and how connections to them are opened.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Result, StoreError};

/// The database file.
const FILE: &str = "jackfield.db";

/// Payloads can carry platform tokens: nobody else reads them.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// How long a connection waits for a foreign lock. Nobody of ours holds one; somebody with a database shell might.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Page cache of the writer, in KiB (negative: as SQLite wants it said). Holds the hot pages of the log's end, the fences and
/// the contacts of a busy hour; a transaction of one group dirties well under 1 MiB.
const WRITER_CACHE_KIB: i64 = -16_384;

/// More statements than the write path has, so that none is ever compiled twice.
const STATEMENTS_MAX: usize = 128;

/// A data folder that is ours.
#[derive(Clone, Debug)]
pub(super) struct Place {
    folder: PathBuf,
}

impl Place {
    /// Makes the folder and its file where they are missing, and closes them to others where they are not.
    pub(super) fn prepare(folder: &Path) -> Result<Self> {
        let refuse = |reason: String| StoreError::Unusable { path: folder.display().to_string(), reason };
        DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(folder)
            .map_err(|error| refuse(format!("make the data folder: {error}")))?;
        // Absolute, so that no name in it is ever read as a URI.
        let folder = folder.canonicalize().map_err(|error| refuse(format!("find the data folder: {error}")))?;
        let found = fs::metadata(&folder).map_err(|error| refuse(format!("look at the data folder: {error}")))?;
        let us = rustix::process::geteuid().as_raw();
        if found.uid() != us {
            let owner = found.uid();
            return Err(refuse(format!(
                "it belongs to user {owner}, this process runs as user {us}; change its owner"
            )));
        }
        let place = Self { folder };
        // Closing it would take it away from whoever uses it, for example /tmp.
        let open_to_others = found.mode() & 0o077 != 0;
        if open_to_others && !place.file().exists() {
            let mut entries =
                fs::read_dir(&place.folder).map_err(|error| refuse(format!("look at the data folder: {error}")))?;
            if entries.next().is_some() {
                return Err(refuse(
                    "it is open to others and holds their files; give Jackfield a data folder of its own".to_owned(),
                ));
            }
        }
        place.protect()?;
        Ok(place)
    }

    /// Takes everybody else's rights away, and makes the file's name durable.
    pub(super) fn protect(&self) -> Result<()> {
        let refuse = |error: io::Error| StoreError::Unusable {
            path: self.folder.display().to_string(),
            reason: format!("protect the data folder: {error}"),
        };
        restrict(&self.folder, FOLDER_MODE).map_err(refuse)?;
        open_private(&self.file()).map_err(refuse)?;
        for path in [self.file(), self.log(), self.beside("-shm"), self.lock()] {
            match restrict(&path, FILE_MODE) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(refuse)?,
            }
        }
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(refuse)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The database file.
    pub(super) fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The write-ahead log.
    pub(super) fn log(&self) -> PathBuf {
        self.beside("-wal")
    }

    /// What the kernel locks.
    pub(super) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{FILE}{suffix}"))
    }

    /// An error that names this file.
    pub(super) fn unusable(&self, error: &rusqlite::Error) -> StoreError {
        let path = self.file().display().to_string();
        let reason = match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => "it is no SQLite database; move it away".to_owned(),
            Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
                format!("it is damaged ({error}); put a backup in its place, or move it away and start empty")
            }
            _ => format!("open it: {error}"),
        };
        StoreError::Unusable { path, reason }
    }

    /// The one connection that writes. Changes nothing yet: whose file it is has to be seen first.
    pub(super) fn writer(&self) -> Result<Connection> {
        self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE, |_| Ok(()))
    }

    /// How the file is written from now on.
    pub(super) fn begin_writing(&self, db: &Connection) -> Result<()> {
        let set = || {
            db.pragma_update(None, "journal_mode", "wal")?;
            db.pragma_update(None, "synchronous", "full")?;
            db.pragma_update(None, "cache_size", WRITER_CACHE_KIB)?;
            // Deleted payloads are overwritten where that costs no extra write.
            db.pragma_update_and_check(None, "secure_delete", "fast", |_| Ok(()))
        };
        set().map_err(|error: rusqlite::Error| self.unusable(&error))
    }

    /// A connection that moves pages from the log into the file.
    pub(super) fn checkpointer(&self) -> Result<Connection> {
        self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE, |db| db.pragma_update(None, "synchronous", "full"))
    }

    /// A connection that reads.
    pub(super) fn reader(&self) -> Result<Connection> {
        self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY, |_| Ok(()))
    }

    fn connect(&self, mode: OpenFlags, set: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<Connection> {
        let open = || {
            let db = Connection::open_with_flags(self.file(), mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            db.busy_timeout(BUSY_TIMEOUT)?;
            db.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
            // Checkpoints never happen by the way: not in somebody's commit, and not after a failed flush.
            db.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
            db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            set(&db)?;
            Ok(db)
        };
        open().map_err(|error: rusqlite::Error| self.unusable(&error))
    }
}

/// A file that only its owner reads, made where it is missing.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    let found = fs::metadata(path)?.permissions().mode() & 0o7777;
    if found & !mode == 0 { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(found & mode)) }
}
