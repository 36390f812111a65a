//! What waits.

use std::sync::Arc;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Timestamp};
use rusqlite::{Connection, params};

use crate::error::Result;
use crate::inbox::{Depth, Inbox, Row, RowId};
use crate::sqlite::column::{self, Payload, int, limit, number, via};
use crate::sqlite::read::{PAGE_ROWS_MAX, Page};
use crate::sqlite::{Sqlite, connection};

/// A row's columns, and the connection it is of.
pub(super) const ROW: &str =
    "SELECT inbox.id, connection.id, received_at, via, submitted_by, late, kind, lane, context,
    payload, coalesce(attempt.count, 0)
  FROM inbox CROSS JOIN connection ON connection.number = inbox.connection LEFT JOIN attempt ON attempt.id = inbox.id";

#[async_trait]
impl Inbox for Sqlite {
    async fn waiting(&self, connection: &ConnectionId, after: RowId, rows: usize) -> Result<Vec<(RowId, Row)>> {
        let connection = connection.clone();
        self.readers.read(move |db| waiting(db, &connection, after, rows)).await
    }

    async fn depth(&self, connection: &ConnectionId) -> Result<Depth> {
        let connection = connection.clone();
        self.readers.read(move |db| depth(db, &connection)).await
    }
}

/// Writes a row.
pub(super) fn add(db: &Connection, connection: i64, row: &Row) -> rusqlite::Result<RowId> {
    let Row { dispatch, reception, attempts, late } = row;
    db.prepare_cached(
        "INSERT INTO inbox (connection, bytes, received_at, via, submitted_by, late, kind, lane, context, payload)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        connection,
        i64::try_from(dispatch.weight()).unwrap_or(i64::MAX),
        int(reception.at.0),
        via(reception.via),
        int(reception.by.0),
        late,
        dispatch.kind,
        dispatch.lane,
        dispatch.context,
        Payload(&dispatch.payload),
    ])?;
    let id = RowId(column::uint(db.last_insert_rowid()));
    if *attempts > 0 {
        count_attempts(db, connection, id, *attempts)?;
    }
    Ok(id)
}

/// Ends a row. `false` when it is not there.
pub(super) fn remove(db: &Connection, connection: i64, row: RowId) -> rusqlite::Result<bool> {
    let ended = db
        .prepare_cached("DELETE FROM inbox WHERE id = ?1 AND connection = ?2")?
        .execute(params![int(row.0), connection])?;
    if ended > 0 {
        db.prepare_cached("DELETE FROM attempt WHERE id = ?1")?.execute([int(row.0)])?;
    }
    Ok(ended > 0)
}

/// Remembers how often a row was tried. A row that is gone has no attempts.
pub(super) fn count_attempts(db: &Connection, connection: i64, row: RowId, count: u32) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO attempt (id, count) SELECT id, ?3 FROM inbox WHERE id = ?1 AND connection = ?2
         ON CONFLICT (id) DO UPDATE SET count = excluded.count",
    )?
    .execute(params![int(row.0), connection, count])
    .map(|_| ())
}

fn waiting(db: &Connection, id: &ConnectionId, after: RowId, rows: usize) -> rusqlite::Result<Vec<(RowId, Row)>> {
    let Some(ledger) = connection::find(db, id)? else { return Ok(Vec::new()) };
    let sql = format!("{ROW} WHERE inbox.connection = ?1 AND inbox.id > ?2 ORDER BY inbox.id LIMIT ?3");
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement.query(params![ledger.number, int(after.0), limit(rows, PAGE_ROWS_MAX)])?;
    Page::default().fill(found, |row| read(row).map(|(bytes, (_, id, row))| (bytes, (id, row))))
}

/// A row, and what it weighs.
pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<(usize, (ConnectionId, RowId, Row))> {
    let dispatch = Arc::new(column::dispatch(row, 6)?);
    let bytes = dispatch.weight();
    let reception = column::reception(row, 2)?;
    let (connection, id) = (column::connection(row, 1)?, RowId(number(row, 0)?));
    Ok((bytes, (connection, id, Row { dispatch, reception, attempts: row.get(10)?, late: row.get(5)? })))
}

fn depth(db: &Connection, id: &ConnectionId) -> rusqlite::Result<Depth> {
    let Some(ledger) = connection::find(db, id)? else { return Ok(Depth::default()) };
    db.prepare_cached("SELECT count(*), coalesce(sum(bytes), 0), min(received_at) FROM inbox WHERE connection = ?1")?
        .query_row([ledger.number], |row| {
            let oldest: Option<i64> = row.get(2)?;
            let oldest = oldest.map(|at| Timestamp(column::uint(at)));
            Ok(Depth { rows: number(row, 0)?, bytes: number(row, 1)?, oldest })
        })
}
