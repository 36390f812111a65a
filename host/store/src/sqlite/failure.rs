//! What an error of SQLite means for whoever waits, and whether the store lives on.

use std::sync::OnceLock;

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_NOMEM, SQLITE_IOERR_WRITE};

use crate::error::StoreError;

/// What has to happen after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// No room. Everybody waiting is told so; nothing was written.
    Full,
    /// Busy, out of memory, out of descriptors: everybody waiting may try again; nothing was written.
    Unavailable,
    /// The store can't be trusted any more.
    Broken,
    /// Somebody's own doing: the others are tried without it.
    Own,
}

/// An error, and what it means. Made once, told to everyone in the group.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) class: Class,
    text: String,
}

impl Failure {
    pub(super) fn broken(text: impl Into<String>) -> Self {
        Self { class: Class::Broken, text: text.into() }
    }

    pub(super) fn error(&self) -> StoreError {
        let text = self.text.clone();
        match self.class {
            Class::Full => StoreError::Full(text),
            Class::Unavailable | Class::Own => StoreError::Unavailable(text),
            Class::Broken => StoreError::Broken(text),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self { class: classify(&error), text: error.to_string() }
    }
}

fn classify(error: &rusqlite::Error) -> Class {
    let Some(found) = error.sqlite_error() else {
        // Not SQLite's: a value that reads back as something else than was written.
        return Class::Own;
    };
    match (found.code, found.extended_code) {
        // A buffered write fails for want of room (disk, quota, file size) and leaves no valid frame behind. What the disk
        // itself can't do shows in the flush.
        (ErrorCode::DiskFull, _) | (_, SQLITE_IOERR_WRITE) => Class::Full,
        (ErrorCode::OutOfMemory, _) | (_, SQLITE_IOERR_NOMEM) => Class::Unavailable,
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::CannotOpen | ErrorCode::ReadOnly, _) => {
            Class::Unavailable
        }
        (ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _) => Class::Broken,
        _ => Class::Own,
    }
}

/// Whether the store can still be trusted. Once broken, broken for good.
#[derive(Debug, Default)]
pub(super) struct Health {
    broken: OnceLock<String>,
}

impl Health {
    /// Says that it can't. The first reason stays.
    pub(super) fn fail(&self, failure: &Failure) {
        if self.broken.set(failure.text.clone()).is_ok() {
            tracing::error!(reason = %failure.text, "the store is broken");
        }
    }

    /// The reason, once there is one.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.broken.get().map_or(Ok(()), |reason| Err(StoreError::Broken(reason.clone())))
    }

    /// Why nobody answers any more.
    pub(super) fn silent(&self) -> StoreError {
        self.check().err().unwrap_or_else(|| StoreError::Broken("the writer has ended".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn what_an_error_means() {
        for (code, class) in [
            (ffi::SQLITE_FULL, Class::Full),
            (ffi::SQLITE_IOERR_WRITE, Class::Full),
            (ffi::SQLITE_IOERR_FSYNC, Class::Broken),
            (ffi::SQLITE_IOERR_DIR_FSYNC, Class::Broken),
            (ffi::SQLITE_IOERR_READ, Class::Broken),
            (ffi::SQLITE_CORRUPT, Class::Broken),
            (ffi::SQLITE_CORRUPT_INDEX, Class::Broken),
            (ffi::SQLITE_NOTADB, Class::Broken),
            (ffi::SQLITE_BUSY, Class::Unavailable),
            (ffi::SQLITE_NOMEM, Class::Unavailable),
            (ffi::SQLITE_IOERR_NOMEM, Class::Unavailable),
            (ffi::SQLITE_CANTOPEN, Class::Unavailable),
            (ffi::SQLITE_READONLY, Class::Unavailable),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, Class::Own),
            (ffi::SQLITE_TOOBIG, Class::Own),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(classify(&error), class, "{error}");
        }
        assert_eq!(classify(&rusqlite::Error::QueryReturnedNoRows), Class::Own);
    }
}
