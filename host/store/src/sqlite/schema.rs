//! The tables, and how an older file becomes a newer one.
//!
//! No index lies over a random key on the way of an event: rows and index entries are appended, so a group touches few pages.
//! No large row is updated again and again: attempts stand apart from what waits, fences from events.

use rusqlite::Connection;

use crate::error::{Result, StoreError};
use crate::sqlite::open::Place;

/// Written into the file's header, so that no other program's database is taken for ours: `JKFD`.
const APPLICATION: i64 = 0x4a4b_4644;

/// One step per version, each in a transaction of its own. Steps are never changed, only added.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// The version of this file, 0 for a new one. Refuses what another or a newer program has written, and changes nothing.
pub(super) fn identify(db: &Connection, place: &Place) -> Result<u32> {
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    let (application, found, tables) = read(db).map_err(|error| place.unusable(&error))?;
    let path = || place.file().display().to_string();
    if application != APPLICATION && tables > 0 {
        let reason = "it is another program's database; give Jackfield a data folder of its own".to_owned();
        return Err(StoreError::Unusable { path: path(), reason });
    }
    if found > known {
        return Err(StoreError::TooNew { path: path(), found, known });
    }
    Ok(found)
}

/// Brings a file of this version to the newest one.
pub(super) fn migrate(db: &mut Connection, place: &Place, from: u32) -> Result<()> {
    for (version, step) in (1_u32..).zip(STEPS).skip(from as usize) {
        apply(db, version, step).map_err(|error| place.unusable(&error))?;
        tracing::info!(version, "the store has a new schema");
    }
    Ok(())
}

fn read(db: &Connection) -> rusqlite::Result<(i64, u32, i64)> {
    let one = |sql| db.query_row(sql, [], |row| row.get(0));
    let application = one("PRAGMA application_id")?;
    let version = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok((application, version, one("SELECT count(*) FROM sqlite_schema")?))
}

fn apply(db: &mut Connection, version: u32, step: &str) -> rusqlite::Result<()> {
    let tx = db.transaction()?;
    tx.execute_batch(step)?;
    tx.pragma_update(None, "application_id", APPLICATION)?;
    tx.pragma_update(None, "user_version", version)?;
    tx.commit()
}
