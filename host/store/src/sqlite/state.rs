//! A connection's own map.

use async_trait::async_trait;
use jackfield_model::{Blob, ConnectionId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::Result;
use crate::sqlite::column::{Payload, Read, number};
use crate::sqlite::{Sqlite, connection};
use crate::state::{State, Write};

#[async_trait]
impl State for Sqlite {
    async fn get(&self, connection: &ConnectionId, key: &str) -> Result<Option<Blob>> {
        let (connection, key) = (connection.clone(), key.to_owned());
        self.readers.read(move |db| get(db, &connection, &key)).await
    }

    async fn size(&self, connection: &ConnectionId) -> Result<u64> {
        let connection = connection.clone();
        self.readers.read(move |db| size(db, &connection)).await
    }
}

/// One change, inside a commit.
pub(super) fn write(db: &Connection, connection: i64, write: &Write) -> rusqlite::Result<()> {
    match write {
        Write::Set { key, value } => db
            .prepare_cached(
                "INSERT INTO state (connection, key, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (connection, key) DO UPDATE SET value = excluded.value",
            )?
            .execute(params![connection, key, Payload(value)]),
        Write::Delete { key } => {
            db.prepare_cached("DELETE FROM state WHERE connection = ?1 AND key = ?2")?.execute(params![connection, key])
        }
    }
    .map(|_| ())
}

fn get(db: &Connection, id: &ConnectionId, key: &str) -> rusqlite::Result<Option<Blob>> {
    let Some(ledger) = connection::find(db, id)? else { return Ok(None) };
    db.prepare_cached("SELECT value FROM state WHERE connection = ?1 AND key = ?2")?
        .query_row(params![ledger.number, key], |row| row.get(0).map(|Read(value)| value))
        .optional()
}

fn size(db: &Connection, id: &ConnectionId) -> rusqlite::Result<u64> {
    let Some(ledger) = connection::find(db, id)? else { return Ok(0) };
    db.prepare_cached(
        "SELECT coalesce(sum(octet_length(key) + octet_length(value)), 0) FROM state WHERE connection = ?1",
    )?
    .query_row([ledger.number], |row| number(row, 0))
}
