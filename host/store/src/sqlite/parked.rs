//! Connections that wait for somebody.

use async_trait::async_trait;
use jackfield_model::ConnectionId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::commit::Ground;
use crate::error::Result;
use crate::parked::{Parked, Record};
use crate::sqlite::column::{json, odd};
use crate::sqlite::{Sqlite, connection};

#[async_trait]
impl Parked for Sqlite {
    async fn park(&self, connection: &ConnectionId, record: Record, ground: Ground) -> Result<bool> {
        let connection = connection.clone();
        self.writer.ride(move |pass| park(pass.db, &connection, &record, ground)).await
    }

    async fn parked(&self, connection: &ConnectionId) -> Result<Option<Record>> {
        let connection = connection.clone();
        self.readers.read(move |db| parked(db, &connection)).await
    }

    async fn unpark(&self, connection: &ConnectionId) -> Result<bool> {
        let connection = connection.clone();
        self.writer.ride(move |pass| unpark(pass.db, &connection)).await
    }
}

fn park(db: &Connection, id: &ConnectionId, record: &Record, ground: Ground) -> rusqlite::Result<bool> {
    let holder = connection::find(db, id)?.filter(|ledger| ledger.is_held_by(ground.fence));
    let Some(ledger) = holder else { return Ok(false) };
    let record = serde_json::to_string(record).map_err(|error| odd(0, error))?;
    db.prepare_cached(
        "INSERT INTO parked (connection, record) VALUES (?1, ?2)
         ON CONFLICT (connection) DO UPDATE SET record = excluded.record",
    )?
    .execute(params![ledger.number, record])?;
    Ok(true)
}

fn parked(db: &Connection, id: &ConnectionId) -> rusqlite::Result<Option<Record>> {
    let Some(ledger) = connection::find(db, id)? else { return Ok(None) };
    let found = db
        .prepare_cached("SELECT record FROM parked WHERE connection = ?1")?
        .query_row([ledger.number], |row| json(row, 0))
        .optional()?;
    Ok(found.flatten())
}

fn unpark(db: &Connection, id: &ConnectionId) -> rusqlite::Result<bool> {
    let Some(ledger) = connection::find(db, id)? else { return Ok(false) };
    let ended = db.prepare_cached("DELETE FROM parked WHERE connection = ?1")?.execute([ledger.number])?;
    Ok(ended > 0)
}
