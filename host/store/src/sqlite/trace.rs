//! The search for one text. Each step is a read of its own, so that other reads get their turn between two steps, the
//! write-ahead log can start over, and whoever stops waiting ends it.

use std::sync::Arc;

use async_trait::async_trait;
use jackfield_model::ExecutionId;
use memchr::memmem;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::dead_letter::Letter;
use crate::error::Result;
use crate::event::Record;
use crate::execution::{Execution, Filter};
use crate::sqlite::column::{int, number, odd, uint};
use crate::sqlite::read::{PAGE_ROWS_MAX, Page, Readers};
use crate::sqlite::{Sqlite, dead_letter, inbox, ledger, log};
use crate::trace::{Found, Trace, Trail, Waiting};

/// Positions of the log that one step looks at: some milliseconds.
const STEP_POSITIONS: u64 = 8192;

/// Payloads that one step looks at. Each has 1 MiB at most and a few hundred bytes as a rule.
const STEP_PAYLOADS: u32 = 64;

#[async_trait]
impl Trace for Sqlite {
    async fn trace(&self, text: &str, limit: usize) -> Result<Trail> {
        if text.is_empty() {
            return Ok(Trail::default());
        }
        let (readers, text): (_, Arc<str>) = (&self.readers, text.into());
        let limit = limit.clamp(1, PAGE_ROWS_MAX);
        // In the order in which a dispatch goes, so that none slips through: what has left a list before it is looked at
        // is in one that is looked at later.
        Ok(Trail {
            waiting: walk(readers, &text, limit, waiting).await?,
            dead_letters: walk(readers, &text, limit, letters).await?,
            events: walk(readers, &text, limit, events).await?,
            executions: readers.read(move |db| executions(db, &text, limit)).await?,
        })
    }
}

/// Where a step begins, and how much room it has.
struct Room {
    /// Only what is below this.
    below: Option<u64>,
    rows: usize,
    page: Page,
}

/// What one step found.
struct Step<T> {
    items: Vec<T>,
    /// Where the next one begins; `None` when this was the last.
    next: Option<u64>,
    page: Page,
}

/// Steps from the newest to the oldest, until there is enough.
async fn walk<T: Send + 'static>(
    readers: &Arc<Readers>,
    text: &Arc<str>,
    limit: usize,
    step: fn(&Connection, &str, Room) -> rusqlite::Result<Step<T>>,
) -> Result<Found<T>> {
    let mut found = Vec::new();
    let mut room = Room { below: None, rows: limit, page: Page::default() };
    loop {
        let text = Arc::clone(text);
        let Step { items, next, page } = readers.read(move |db| step(db, &text, room)).await?;
        found.extend(items);
        match next {
            None => return Ok(Found { items: found, more: false }),
            Some(_) if found.len() >= limit || page.is_full() => return Ok(Found { items: found, more: true }),
            below => room = Room { below, rows: limit - found.len(), page },
        }
    }
}

fn events(db: &Connection, text: &str, mut room: Room) -> rusqlite::Result<Step<Record>> {
    let (oldest, newest) = log::bounds(db)?;
    let below = room.below.unwrap_or(newest + 1);
    let from = below.saturating_sub(STEP_POSITIONS).max(oldest);
    let named = named(db, text, (from, below), room.rows)?;
    let mut next = if named.len() < room.rows { from } else { named.last().copied().unwrap_or(from) };
    let mut items = Vec::new();
    for position in named {
        if room.page.is_full() {
            next = position + 1;
            break;
        }
        // `None` where it was pruned since it was seen.
        if let Some((bytes, record)) = log::one(db, position)? {
            room.page.add(bytes);
            items.push(record);
        }
    }
    Ok(Step { items, next: (next > oldest).then_some(next), page: room.page })
}

/// Positions of events that are about this, newest first: from the first of the two bounds on, below the second.
fn named(db: &Connection, text: &str, (from, below): (u64, u64), rows: usize) -> rusqlite::Result<Vec<u64>> {
    // No column behind these: a row's large ones are not read for it.
    let mut statement = db.prepare_cached(
        "SELECT position, key, refers_to FROM event WHERE position >= ?1 AND position < ?2 ORDER BY position DESC",
    )?;
    let mut found = statement.query(params![int(from), int(below)])?;
    let mut named = Vec::new();
    while named.len() < rows
        && let Some(row) = found.next()?
    {
        let key = row.get_ref(1)?.as_str().map_err(|error| odd(1, error))?;
        let refers_to = row.get_ref(2)?.as_str_or_null().map_err(|error| odd(2, error))?;
        if names(key, text) || refers_to.is_some_and(|key| names(key, text)) {
            named.push(number(row, 0)?);
        }
    }
    Ok(named)
}

/// A connector's keys say what they are of from the outside in: `channel:message`.
fn names(key: &str, text: &str) -> bool {
    key.strip_suffix(text).is_some_and(|before| before.is_empty() || before.ends_with(':'))
}

fn waiting(db: &Connection, text: &str, room: Room) -> rusqlite::Result<Step<Waiting>> {
    dispatches(db, text, room, &WAITING, |row| {
        let (bytes, (connection, id, row)) = inbox::read(row)?;
        Ok((bytes, Waiting { connection, id, row }))
    })
}

fn letters(db: &Connection, text: &str, room: Room) -> rusqlite::Result<Step<Letter>> {
    dispatches(db, text, room, &LETTERS, dead_letter::read)
}

/// A table that has dispatches in it, with its ids in the first column of what is selected.
struct Table {
    name: &'static str,
    select: &'static str,
    context: usize,
    payload: usize,
}

const WAITING: Table = Table { name: "inbox", select: inbox::ROW, context: 8, payload: 9 };
const LETTERS: Table = Table { name: "dead_letter", select: dead_letter::LETTER, context: 12, payload: 13 };

fn dispatches<T>(
    db: &Connection,
    text: &str,
    mut room: Room,
    Table { name, select, context, payload }: &Table,
    read: fn(&Row<'_>) -> rusqlite::Result<(usize, T)>,
) -> rusqlite::Result<Step<T>> {
    let below = room.below.map_or(i64::MAX, int);
    let floor: Option<i64> = db
        .prepare_cached(&format!("SELECT id FROM {name} WHERE id < ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2"))?
        .query_row(params![below, STEP_PAYLOADS - 1], |row| row.get(0))
        .optional()?;
    let sql = format!("{select} WHERE {name}.id < ?1 AND {name}.id >= ?2 ORDER BY {name}.id DESC");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(params![below, floor.unwrap_or(0)])?;
    let text = memmem::Finder::new(text);
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        let has = |column: usize| Ok::<_, rusqlite::Error>(text.find(bytes(row, column)?).is_some());
        if !has(*context)? && !has(*payload)? {
            continue;
        }
        let (bytes, item) = read(row)?;
        room.page.add(bytes);
        items.push(item);
        if items.len() >= room.rows || room.page.is_full() {
            return Ok(Step { items, next: Some(number(row, 0)?), page: room.page });
        }
    }
    Ok(Step { items, next: floor.map(uint), page: room.page })
}

fn bytes<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [u8]> {
    row.get_ref(column)?.as_bytes().map_err(|error| odd(column, error))
}

/// All of these have an index, and an execution that is found in two ways is one.
fn executions(db: &Connection, text: &str, limit: usize) -> rusqlite::Result<Found<Execution>> {
    let by_key = Filter { key: Some(text.to_owned()), ..Filter::default() };
    let by_provider_id = Filter { provider_id: Some(text.to_owned()), ..Filter::default() };
    let id: Option<ExecutionId> = text.parse().ok();
    let mut items = Vec::new();
    items.extend(id.map(|id| ledger::one(db, id)).transpose()?.flatten());
    let mut more = false;
    for filter in [by_key, by_provider_id] {
        let page = ledger::page(db, &filter, None, limit)?;
        more |= page.len() >= limit;
        items.extend(page);
    }
    items.sort_by_key(|execution| std::cmp::Reverse(execution.id));
    items.dedup_by_key(|execution| execution.id);
    more |= items.len() > limit;
    items.truncate(limit);
    Ok(Found { items, more })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn what_a_key_names() {
        for (key, text, named) in [
            ("4711", "4711", true),
            ("1:4711", "4711", true),
            ("a:1:4711", "1:4711", true),
            ("a:1:4711", "4711", true),
            ("1:4711", "711", false),
            ("14711", "4711", false),
            ("4711:deleted", "4711", false),
            ("4711:1", "4711", false),
            ("é:ß", "ß", true),
            ("xß", "ß", false),
            ("a:", "", true),
            (":4711", "4711", true),
            ("4711", "1:4711", false),
        ] {
            assert_eq!(names(key, text), named, "{key}, {text}");
        }
    }
}
