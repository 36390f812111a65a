//! Checkpoints. They ride in whichever group comes next, so they are durable too, though nobody relies on it.

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Generation};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::commit::Ground;
use crate::error::Result;
use crate::sqlite::column::{Payload, Read, int, number, time};
use crate::sqlite::job::Weight;
use crate::sqlite::{Sqlite, connection};

#[async_trait]
impl Checkpoints for Sqlite {
    async fn store(&self, connection: &ConnectionId, checkpoint: Checkpoint, ground: Ground) -> Result<bool> {
        let connection = connection.clone();
        let weight = Weight { dispatches: 0, bytes: checkpoint.bytes.len() };
        self.writer.run(weight, move |pass| store(pass.db, &connection, &checkpoint, ground)).await
    }

    async fn load(&self, connection: &ConnectionId) -> Result<Option<Checkpoint>> {
        let connection = connection.clone();
        self.readers.read(move |db| load(db, &connection)).await
    }
}

fn store(db: &Connection, id: &ConnectionId, checkpoint: &Checkpoint, ground: Ground) -> rusqlite::Result<bool> {
    let Some(ledger) = connection::find(db, id)?.filter(|ledger| ledger.is_ground(ground)) else { return Ok(false) };
    db.prepare_cached(
        "INSERT INTO checkpoint (connection, format, generation, stored_at, bytes) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (connection) DO UPDATE SET
           format = excluded.format, generation = excluded.generation, stored_at = excluded.stored_at, bytes = excluded.bytes",
    )?
    .execute(params![
        ledger.number,
        checkpoint.format,
        int(checkpoint.generation.0),
        int(checkpoint.stored_at.0),
        Payload(&checkpoint.bytes),
    ])?;
    Ok(true)
}

fn load(db: &Connection, id: &ConnectionId) -> rusqlite::Result<Option<Checkpoint>> {
    let Some(ledger) = connection::find(db, id)? else { return Ok(None) };
    db.prepare_cached("SELECT format, generation, stored_at, bytes FROM checkpoint WHERE connection = ?1")?
        .query_row([ledger.number], |row| {
            Ok(Checkpoint {
                bytes: row.get::<_, Read>(3)?.0,
                format: row.get(0)?,
                generation: Generation(number(row, 1)?),
                stored_at: time(row, 2)?,
            })
        })
        .optional()
}
