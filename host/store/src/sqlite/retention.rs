//! Pruning, in steps that fit into a group.
//!
//! Events go from the front of the log only: up to the slowest cursor, and up to the first that is too young. A marker that is
//! still inside its connection's window outlives its event in a table of its own, and leaves it with the window. A
//! submission goes with the newest execution under its key, never before it and never without it.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::Result;
use crate::retention::{Policy, Pruned, Retention};
use crate::sqlite::Sqlite;
use crate::sqlite::column::{int, uint};
use crate::sqlite::job::Pass;
use crate::sqlite::memory::Memory;

/// Rows of each kind that one step deletes: they share a flush with commits, which must not wait long for it.
const STEP_ROWS_MAX: u32 = 512;

#[async_trait]
impl Retention for Sqlite {
    async fn prune(&self, policy: Policy) -> Result<Pruned> {
        self.writer.ride(move |pass| prune(pass, policy)).await
    }
}

fn prune(pass: &mut Pass<'_>, policy: Policy) -> rusqlite::Result<Pruned> {
    pass.memory.resize(policy.dedupe_entries);
    let events = prune_events(pass, int(pass.now.before(policy.events).0))?;
    let dead_letters = prune_letters(pass.db, int(pass.now.before(policy.dead_letters).0))?;
    let executions = prune_executions(pass.db, int(pass.now.before(policy.executions).0))?;
    let markers = prune_markers(pass.db, pass.memory)?;
    let full = u64::from(STEP_ROWS_MAX);
    let more = [events, dead_letters, executions, markers].iter().any(|&rows| rows >= full);
    Ok(Pruned { events, dead_letters, executions, more })
}

fn prune_events(pass: &Pass<'_>, older_than: i64) -> rusqlite::Result<u64> {
    let db = pass.db;
    let slowest: Option<i64> =
        db.prepare_cached("SELECT min(position) FROM cursor")?.query_row([], |row| row.get(0))?;
    let mut statement = db.prepare_cached(
        "SELECT position, connection, marker, stored_at FROM event WHERE position <= ?1 ORDER BY position LIMIT ?2",
    )?;
    let mut rows = statement.query(params![slowest.unwrap_or(i64::MAX), STEP_ROWS_MAX])?;
    let mut last = None;
    let mut keep =
        db.prepare_cached("INSERT OR IGNORE INTO marker (connection, position, marker) VALUES (?1, ?2, ?3)")?;
    while let Some(row) = rows.next()? {
        let (position, connection, stored_at): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(3)?);
        if stored_at > older_than {
            break;
        }
        if pass.memory.oldest(connection).is_some_and(|oldest| uint(position) >= oldest) {
            keep.execute(params![connection, position, row.get::<_, [u8; 16]>(2)?])?;
        }
        last = Some(position);
    }
    drop(rows);
    let Some(last) = last else { return Ok(0) };
    db.prepare_cached("DELETE FROM raw WHERE last <= ?1")?.execute([last])?;
    // Counting goes on from here even when nothing is left.
    db.prepare_cached("UPDATE pruned SET position = max(position, ?1)")?.execute([last])?;
    let deleted = db.prepare_cached("DELETE FROM event WHERE position <= ?1")?.execute([last])?;
    Ok(deleted as u64)
}

fn prune_letters(db: &Connection, older_than: i64) -> rusqlite::Result<u64> {
    let deleted = db
        .prepare_cached(
            "DELETE FROM dead_letter WHERE id IN
               (SELECT id FROM dead_letter WHERE died_at <= ?1 ORDER BY id LIMIT ?2)",
        )?
        .execute(params![older_than, STEP_ROWS_MAX])?;
    Ok(deleted as u64)
}

/// What has ended, oldest end first. What runs has none.
fn prune_executions(db: &Connection, older_than: i64) -> rusqlite::Result<u64> {
    const OLD: &str = "(SELECT id FROM execution INDEXED BY execution_by_end WHERE finished_at <= ?1
      ORDER BY finished_at, rowid LIMIT ?2)";
    let delete = |from: &str, column: &str| {
        db.prepare_cached(&format!("DELETE FROM {from} WHERE {column} IN {OLD}"))?
            .execute(params![older_than, STEP_ROWS_MAX])
    };
    delete("submission", "execution")?;
    delete("execution_provider", "execution")?;
    Ok(delete("execution", "id")? as u64)
}

/// Markers that have left their window.
fn prune_markers(db: &Connection, memory: &Memory) -> rusqlite::Result<u64> {
    let mut left = STEP_ROWS_MAX;
    for connection in memory.connections() {
        let Some(oldest) = memory.oldest(connection).map(int) else { continue };
        // The newest of those that go: a range is deleted without looking anything up.
        let last: Option<i64> = db
            .prepare_cached(
                "SELECT max(position) FROM
                   (SELECT position FROM marker WHERE connection = ?1 AND position < ?2 ORDER BY position LIMIT ?3)",
            )?
            .query_row(params![connection, oldest, left], |row| row.get(0))
            .optional()?
            .flatten();
        let Some(last) = last else { continue };
        let deleted = db
            .prepare_cached("DELETE FROM marker WHERE connection = ?1 AND position <= ?2")?
            .execute(params![connection, last])?;
        left = left.saturating_sub(u32::try_from(deleted).unwrap_or(u32::MAX));
        if left == 0 {
            break;
        }
    }
    Ok(u64::from(STEP_ROWS_MAX - left))
}
