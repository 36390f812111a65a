//! Generations, and the key of names.

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Digest, Generation, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::Result;
use crate::generation::{Generations, NamingKey, Serving};
use crate::sqlite::column::{self, int, number, odd};
use crate::sqlite::{Sqlite, connection};

#[async_trait]
impl Generations for Sqlite {
    async fn number(&self, connection: &ConnectionId, digest: Digest) -> Result<Generation> {
        let connection = connection.clone();
        self.writer.ride(move |pass| next(pass.db, &connection, digest, pass.now)).await
    }

    async fn serving(&self) -> Result<Vec<(ConnectionId, Serving)>> {
        self.readers.read(all).await
    }

    async fn naming_key(&self, fresh: NamingKey) -> Result<NamingKey> {
        self.writer.ride(move |pass| naming_key(pass.db, &fresh)).await
    }
}

fn next(db: &Connection, id: &ConnectionId, digest: Digest, now: Timestamp) -> rusqlite::Result<Generation> {
    let connection = connection::ensure(db, id)?.number;
    let newest = db
        .prepare_cached("SELECT digest, number FROM generation WHERE connection = ?1 ORDER BY number DESC LIMIT 1")?
        .query_row([connection], |row| serving(row, 0))
        .optional()?;
    let number = match newest {
        Some(newest) if newest.digest == digest => return Ok(newest.number),
        Some(newest) => Generation(newest.number.0.saturating_add(1)),
        None => Generation(1),
    };
    add(db, connection, Serving { digest, number }, now)?;
    Ok(number)
}

fn add(db: &Connection, connection: i64, serving: Serving, now: Timestamp) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO generation (connection, number, digest, since) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![connection, int(serving.number.0), serving.digest.to_string(), int(now.0)])
        .map(|_| ())
}

fn all(db: &Connection) -> rusqlite::Result<Vec<(ConnectionId, Serving)>> {
    // With `max`, SQLite gives the other columns of the row that has it.
    db.prepare_cached(
        "SELECT connection.id, digest, max(generation.number) FROM generation
         JOIN connection ON connection.number = generation.connection GROUP BY generation.connection ORDER BY connection.id",
    )?
    .query_map([], |row| Ok((column::connection(row, 0)?, serving(row, 1)?)))?
    .collect()
}

fn serving(row: &Row<'_>, at: usize) -> rusqlite::Result<Serving> {
    let digest = row.get::<_, String>(at)?.parse().map_err(|error: jackfield_model::InvalidId| odd(at, error))?;
    Ok(Serving { digest, number: Generation(number(row, at + 1)?) })
}

fn naming_key(db: &Connection, fresh: &NamingKey) -> rusqlite::Result<NamingKey> {
    db.prepare_cached("INSERT OR IGNORE INTO naming (one, key) VALUES (1, ?1)")?.execute([&fresh.0])?;
    db.prepare_cached("SELECT key FROM naming")?.query_row([], |row| row.get(0).map(NamingKey))
}

/// Takes over what an earlier version kept in a file beside the store, unless that was done before. `false` then.
pub(super) fn take_over<'a>(
    db: &Connection,
    key: &NamingKey,
    known: impl Iterator<Item = (&'a ConnectionId, Serving)>,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    if db.prepare("INSERT OR IGNORE INTO naming (one, key) VALUES (1, ?1)")?.execute([&key.0])? == 0 {
        return Ok(false);
    }
    for (id, serving) in known {
        add(db, connection::ensure(db, id)?.number, serving, now)?;
    }
    Ok(true)
}
