//! What an earlier version kept in a file beside the store: the numbering of generations. Taken over once, then removed.
//!
//! The file goes only after what it says is durable in the store, so a process that dies in between finds both, and only
//! removes it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use jackfield_model::{ConnectionId, Digest, Generation, Timestamp};
use rusqlite::Connection;
use serde::Deserialize;

use crate::error::{Result, StoreError};
use crate::generation::{NamingKey, Serving};
use crate::sqlite::generation;
use crate::sqlite::open::Place;

/// Its name in the data folder.
const FILE: &str = "generations.json";

#[derive(Deserialize)]
struct Book {
    key: NamingKey,
    connections: BTreeMap<ConnectionId, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    digest: Digest,
    number: Generation,
}

/// Takes the file over where there is one.
pub(super) fn take_over(db: &mut Connection, place: &Place, now: Timestamp) -> Result<()> {
    let path = place.folder().join(FILE);
    let Some(book) = read(&path)? else { return Ok(()) };
    let took = write(db, &book, now).map_err(|error| place.unusable(&error))?;
    let removed = fs::remove_file(&path).and_then(|()| File::open(place.folder())?.sync_all());
    removed.map_err(|error| unusable(&path, format!("remove what was taken over into the store: {error}")))?;
    tracing::info!(file = FILE, took, "the numbering of generations is in the store");
    Ok(())
}

/// `false` when it was done before.
fn write(db: &mut Connection, book: &Book, now: Timestamp) -> rusqlite::Result<bool> {
    let known = book.connections.iter().map(|(id, entry)| (id, Serving { digest: entry.digest, number: entry.number }));
    let tx = db.transaction()?;
    let took = generation::take_over(&tx, &book.key, known, now)?;
    tx.commit().map(|()| took)
}

fn read(path: &Path) -> Result<Option<Book>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, format!("read it: {error}"))),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let todo = "put a backup in its place, or remove it: numbers of generations begin again then, and connections that \
                    are parked are tried once more";
        unusable(path, format!("it is damaged ({error}); {todo}"))
    })
}

fn unusable(path: &Path, reason: String) -> StoreError {
    StoreError::Unusable { path: path.display().to_string(), reason }
}
