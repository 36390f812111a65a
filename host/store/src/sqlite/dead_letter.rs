//! Dead letters, and their two ways out.

use std::sync::Arc;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Dispatch, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sha2::{Digest as _, Sha256};

use crate::commit::{Death, Settled, Stage};
use crate::dead_letter::{DeadLetters, Letter};
use crate::error::Result;
use crate::inbox::{self, RowId};
use crate::sqlite::column::{self, Payload, int, limit, number, odd, time, via};
use crate::sqlite::read::{PAGE_ROWS_MAX, Page};
use crate::sqlite::{Sqlite, connection, inbox as waiting};

/// A letter's columns, and the connection it is of.
pub(super) const LETTER: &str =
    "SELECT dead_letter.id, connection.id, died_at, received_at, via, submitted_by, stage, attempts, digest, error,
    kind, lane, context, payload, repeats
  FROM dead_letter CROSS JOIN connection ON connection.number = dead_letter.connection";

#[async_trait]
impl DeadLetters for Sqlite {
    async fn letters(&self, connection: Option<&ConnectionId>, after: u64, rows: usize) -> Result<Vec<Letter>> {
        let connection = connection.cloned();
        self.readers.read(move |db| letters(db, connection.as_ref(), after, rows)).await
    }

    async fn letter(&self, id: u64) -> Result<Option<Letter>> {
        self.readers.read(move |db| Ok(letter(db, id)?.map(|(_, letter)| letter))).await
    }

    async fn redrive(&self, id: u64) -> Result<Option<RowId>> {
        self.writer.ride(move |pass| redrive(pass.db, id)).await
    }

    async fn discard(&self, id: u64) -> Result<bool> {
        self.writer.ride(move |pass| remove(pass.db, id)).await
    }

    async fn count(&self, connection: Option<&ConnectionId>) -> Result<u64> {
        let connection = connection.cloned();
        self.readers.read(move |db| count(db, connection.as_ref())).await
    }
}

/// All that a dispatch consists of: what makes it the same letter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity([u8; 32]);

impl Identity {
    pub(super) fn of(dispatch: &Dispatch) -> Self {
        let Dispatch { kind, payload, lane, context } = dispatch;
        let mut hash = Sha256::new();
        // Each part with its length, so that no two dispatches read the same.
        for part in [kind.as_bytes(), lane.as_bytes(), context.as_bytes(), payload.bytes()] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

/// Writes a letter, or counts one more on the one that is there. `false` then.
pub(super) fn add(
    db: &Connection,
    connection: i64,
    settled: &Settled,
    (death, identity): (&Death, Identity),
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let Settled { dispatch, reception, .. } = settled;
    let repeats: i64 = db
        .prepare_cached(
            "INSERT INTO dead_letter (connection, died_at, received_at, via, submitted_by, stage, attempts, digest, error,
               kind, lane, context, payload, identity)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (connection, identity) DO UPDATE SET repeats = repeats + 1 RETURNING repeats",
        )?
        .query_row(
            params![
                connection,
                int(now.0),
                int(reception.at.0),
                via(reception.via),
                int(reception.by.0),
                stage(death.stage),
                death.attempts,
                death.digest.to_string(),
                death.error,
                dispatch.kind,
                dispatch.lane,
                dispatch.context,
                Payload(&dispatch.payload),
                identity.0,
            ],
            |row| row.get(0),
        )?;
    Ok(repeats == 0)
}

/// Ends a letter. `false` when there was none.
fn remove(db: &Connection, id: u64) -> rusqlite::Result<bool> {
    Ok(db.prepare_cached("DELETE FROM dead_letter WHERE id = ?1")?.execute([int(id)])? > 0)
}

/// Back into the inbox, behind everything that waits there, with its attempts forgotten: it is tried because something changed.
fn redrive(db: &Connection, id: u64) -> rusqlite::Result<Option<RowId>> {
    let Some((connection, letter)) = letter(db, id)? else { return Ok(None) };
    let Letter { dispatch, reception, .. } = letter;
    let row = waiting::add(db, connection, &inbox::Row { dispatch, reception, attempts: 0, late: true })?;
    remove(db, id)?;
    Ok(Some(row))
}

fn letter(db: &Connection, id: u64) -> rusqlite::Result<Option<(i64, Letter)>> {
    let found = db
        .prepare_cached(&format!("{LETTER} WHERE dead_letter.id = ?1"))?
        .query_row([int(id)], |row| read(row).map(|(_, letter)| letter))
        .optional()?;
    let Some(letter) = found else { return Ok(None) };
    Ok(connection::find(db, &letter.connection)?.map(|ledger| (ledger.number, letter)))
}

fn letters(db: &Connection, id: Option<&ConnectionId>, after: u64, rows: usize) -> rusqlite::Result<Vec<Letter>> {
    let rows = limit(rows, PAGE_ROWS_MAX);
    let Some(id) = id else {
        let mut statement =
            db.prepare_cached(&format!("{LETTER} WHERE dead_letter.id > ?1 ORDER BY dead_letter.id LIMIT ?2"))?;
        return Page::default().fill(statement.query(params![int(after), rows])?, read);
    };
    let Some(ledger) = connection::find(db, id)? else { return Ok(Vec::new()) };
    let sql =
        format!("{LETTER} WHERE dead_letter.connection = ?3 AND dead_letter.id > ?1 ORDER BY dead_letter.id LIMIT ?2");
    let mut statement = db.prepare_cached(&sql)?;
    Page::default().fill(statement.query(params![int(after), rows, ledger.number])?, read)
}

fn count(db: &Connection, id: Option<&ConnectionId>) -> rusqlite::Result<u64> {
    let Some(id) = id else {
        return db.prepare_cached("SELECT count(*) FROM dead_letter")?.query_row([], |row| number(row, 0));
    };
    let Some(ledger) = connection::find(db, id)? else { return Ok(0) };
    db.prepare_cached("SELECT count(*) FROM dead_letter WHERE connection = ?1")?
        .query_row([ledger.number], |row| number(row, 0))
}

/// A letter, and what it weighs.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<(usize, Letter)> {
    let dispatch = Arc::new(column::dispatch(row, 10)?);
    let digest = column::digest(row, 8)?;
    let stage = match row.get_ref(6)?.as_str().map_err(|error| odd(6, error))? {
        "transform" => Stage::Transform,
        "ingest" => Stage::Ingest,
        "runtime" => Stage::Runtime,
        other => return Err(odd(6, format!("{other} is no stage"))),
    };
    let death = Death { stage, error: row.get(9)?, attempts: row.get(7)?, digest };
    let letter = Letter {
        id: number(row, 0)?,
        connection: column::connection(row, 1)?,
        reception: column::reception(row, 3)?,
        died_at: time(row, 2)?,
        repeats: number(row, 14)?,
        dispatch,
        death,
    };
    Ok((letter.dispatch.weight() + letter.death.error.len(), letter))
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Transform => "transform",
        Stage::Ingest => "ingest",
        Stage::Runtime => "runtime",
    }
}
