//! The event log, read side, and its cursors.

use std::collections::HashMap;

use async_trait::async_trait;
use jackfield_model::{Blob, ConnectionId, Epoch, Event, Generation, Recurrence, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use tokio::sync::watch;

use crate::error::Result;
use crate::event::{Cursor, Events, Filter, Record};
use crate::sqlite::column::{self, int, json, number, time, transport, uint};
use crate::sqlite::event::{LATE, RECURRING, SANITIZED};
use crate::sqlite::read::{PAGE_ROWS_MAX, Page};
use crate::sqlite::{Sqlite, connection, event};

/// Positions that one statement looks at when a name is wanted, which no index has: so that a rare name keeps no read
/// transaction open over a whole log.
const SCAN_POSITIONS: u64 = 8192;

/// A record's columns, with its connection's number in the second.
const RECORD: &str =
    "SELECT position, connection, name, occurred_at, key, flags, refers_to, subject, location, properties,
    contact, conflicts, kind, lane, via, received_at, stored_at, epoch, submitted_by, transformed_by
  FROM event";

#[async_trait]
impl Events for Sqlite {
    async fn page(&self, filter: &Filter, after: u64, rows: usize) -> Result<Vec<Record>> {
        let filter = filter.clone();
        self.readers
            .read(move |db| Scan::new(db, &filter, rows)?.map_or(Ok(Vec::new()), |scan| scan.onward(after)))
            .await
    }

    async fn newest(&self, filter: &Filter, rows: usize) -> Result<Vec<Record>> {
        let filter = filter.clone();
        self.readers.read(move |db| Scan::new(db, &filter, rows)?.map_or(Ok(Vec::new()), Scan::back)).await
    }

    async fn raw(&self, position: u64) -> Result<Option<Blob>> {
        self.readers.read(move |db| event::raw(db, position)).await
    }

    fn head(&self) -> watch::Receiver<u64> {
        self.head.clone()
    }

    async fn cursor(&self, name: &str) -> Result<Option<Cursor>> {
        let name = name.to_owned();
        self.readers.read(move |db| cursor(db, &name)).await
    }

    async fn advance(&self, name: &str, position: u64) -> Result<()> {
        let name = name.to_owned();
        // Not past the head: what comes next would count as dealt with.
        self.writer.ride(move |pass| advance(pass.db, &name, position.min(pass.memory.head()), pass.now)).await
    }

    async fn cursors(&self) -> Result<Vec<Cursor>> {
        self.readers.read(cursors).await
    }

    async fn forget(&self, name: &str) -> Result<bool> {
        let name = name.to_owned();
        self.writer.ride(move |pass| forget(pass.db, &name)).await
    }
}

/// One question to the log.
struct Scan<'a> {
    db: &'a Connection,
    connection: Option<i64>,
    name: Option<&'a str>,
    rows: usize,
    names: HashMap<i64, ConnectionId>,
    page: Page,
}

impl<'a> Scan<'a> {
    /// `None` when nothing can match.
    fn new(db: &'a Connection, filter: &'a Filter, rows: usize) -> rusqlite::Result<Option<Self>> {
        let connection = match &filter.connection {
            None => None,
            Some(id) => match connection::find(db, id)? {
                Some(ledger) => Some(ledger.number),
                None => return Ok(None),
            },
        };
        let names = db
            .prepare_cached("SELECT number, id FROM connection")?
            .query_map([], |row| Ok((row.get(0)?, column::connection(row, 1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let rows = rows.min(PAGE_ROWS_MAX);
        Ok(Some(Self { db, connection, name: filter.name.as_deref(), rows, names, page: Page::default() }))
    }

    fn onward(mut self, after: u64) -> rusqlite::Result<Vec<Record>> {
        let (first, head) = bounds(self.db)?;
        let mut found = Vec::new();
        let mut from = after.max(first.saturating_sub(1));
        while from < head && !self.is_done(&found) {
            let to = head.min(from.saturating_add(self.step()));
            found.extend(self.look(from, to, "ASC", self.rows - found.len())?);
            from = to;
        }
        Ok(found)
    }

    fn back(mut self) -> rusqlite::Result<Vec<Record>> {
        let (first, mut to) = bounds(self.db)?;
        let mut found = Vec::new();
        while to >= first.max(1) && !self.is_done(&found) {
            let from = to.saturating_sub(self.step());
            found.extend(self.look(from, to, "DESC", self.rows - found.len())?);
            to = from;
        }
        found.reverse();
        Ok(found)
    }

    fn is_done(&self, found: &[Record]) -> bool {
        found.len() >= self.rows || self.page.is_full()
    }

    fn step(&self) -> u64 {
        if self.name.is_some() { SCAN_POSITIONS } else { u64::MAX }
    }

    /// Positions above `from`, up to `to`.
    fn look(&mut self, from: u64, to: u64, order: &str, rows: usize) -> rusqlite::Result<Vec<Record>> {
        let mut sql = format!("{RECORD} WHERE position > ?1 AND position <= ?2");
        let mut values: Vec<Value> = vec![int(from).into(), int(to).into(), column::limit(rows, PAGE_ROWS_MAX).into()];
        if let Some(connection) = self.connection {
            values.push(connection.into());
            sql.push_str(&format!(" AND connection = ?{}", values.len()));
        }
        if let Some(name) = self.name {
            values.push(name.to_owned().into());
            sql.push_str(&format!(" AND name = ?{}", values.len()));
        }
        sql.push_str(&format!(" ORDER BY position {order} LIMIT ?3"));
        let mut statement = self.db.prepare_cached(&sql)?;
        let names = &self.names;
        self.page.fill(statement.query(params_from_iter(values))?, |row| {
            let number = row.get(1)?;
            // Only a connection that was made since this page was begun is not among them.
            let connection = match names.get(&number) {
                Some(connection) => connection.clone(),
                None => name_of(self.db, number)?,
            };
            record(row, connection)
        })
    }
}

/// The oldest position and the newest, 0 where there is none.
pub(super) fn bounds(db: &Connection) -> rusqlite::Result<(u64, u64)> {
    let end =
        |sql| db.prepare_cached(sql)?.query_row([], |row| row.get::<_, Option<i64>>(0).map(|at| at.map_or(0, uint)));
    Ok((end("SELECT min(position) FROM event")?, end("SELECT max(position) FROM event")?))
}

/// One record, and what it weighs.
pub(super) fn one(db: &Connection, position: u64) -> rusqlite::Result<Option<(usize, Record)>> {
    db.prepare_cached(&format!("{RECORD} WHERE position = ?1"))?
        .query_row([int(position)], |row| record(row, name_of(db, row.get(1)?)?))
        .optional()
}

fn name_of(db: &Connection, number: i64) -> rusqlite::Result<ConnectionId> {
    db.prepare_cached("SELECT id FROM connection WHERE number = ?1")?
        .query_row([number], |row| column::connection(row, 0))
}

/// A record, and what it weighs.
fn record(row: &Row<'_>, connection: ConnectionId) -> rusqlite::Result<(usize, Record)> {
    let flags: i64 = row.get(5)?;
    let properties: String = row.get(9)?;
    let bytes = properties.len() + row.get_ref(7)?.as_str_or_null().ok().flatten().map_or(0, str::len);
    let recurrence = if flags & RECURRING != 0 { Recurrence::Recurring } else { Recurrence::Once };
    let event = Event {
        name: row.get(2)?,
        occurred_at: time(row, 3)?,
        key: row.get(4)?,
        recurrence,
        refers_to: row.get(6)?,
        subject: json(row, 7)?,
        location: json(row, 8)?,
        properties,
    };
    let record = Record {
        position: number(row, 0)?,
        connection,
        event,
        contact: row.get(10)?,
        conflicts: json(row, 11)?.unwrap_or_default(),
        kind: row.get(12)?,
        lane: row.get(13)?,
        via: transport(row, 14)?,
        received_at: time(row, 15)?,
        stored_at: time(row, 16)?,
        epoch: Epoch(number(row, 17)?),
        submitted_by: Generation(number(row, 18)?),
        transformed_by: Generation(number(row, 19)?),
        late: flags & LATE != 0,
        sanitized: flags & SANITIZED != 0,
    };
    Ok((bytes, record))
}

fn cursor(db: &Connection, name: &str) -> rusqlite::Result<Option<Cursor>> {
    db.prepare_cached("SELECT name, position, moved_at FROM cursor WHERE name = ?1")?
        .query_row([name], place)
        .optional()
}

fn cursors(db: &Connection) -> rusqlite::Result<Vec<Cursor>> {
    db.prepare_cached("SELECT name, position, moved_at FROM cursor ORDER BY name")?.query_map([], place)?.collect()
}

fn place(row: &Row<'_>) -> rusqlite::Result<Cursor> {
    Ok(Cursor { name: row.get(0)?, position: number(row, 1)?, moved_at: time(row, 2)? })
}

fn advance(db: &Connection, name: &str, position: u64, now: Timestamp) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO cursor (name, position, moved_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET position = excluded.position, moved_at = excluded.moved_at
         WHERE excluded.position > cursor.position",
    )?
    .execute(params![name, int(position), int(now.0)])
    .map(|_| ())
}

fn forget(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    Ok(db.prepare_cached("DELETE FROM cursor WHERE name = ?1")?.execute([name])? > 0)
}
