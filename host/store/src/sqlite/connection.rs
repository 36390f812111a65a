//! A connection's row: its number inside the file, and its fence.

use jackfield_model::{ConnectionId, Epoch, Fence, Timestamp, Token};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::commit::Ground;
use crate::sqlite::column::{int, number, time};

/// A connection's row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledger {
    pub(super) number: i64,
    /// The newest grant; epoch 0 when there was none.
    pub(super) epoch: Epoch,
    pub(super) token: Option<Token>,
    /// Batches committed under it.
    pub(super) count: u64,
    pub(super) granted_at: Timestamp,
}

impl Ledger {
    /// Exactly the newest grant.
    pub(super) fn is_held_by(&self, fence: Fence) -> bool {
        self.epoch == fence.epoch && self.token == Some(fence.token)
    }

    /// Exactly the newest grant, and nothing was committed since.
    pub(super) fn is_ground(&self, ground: Ground) -> bool {
        self.is_held_by(ground.fence) && self.count == ground.count
    }
}

/// The row of a connection that was heard of before.
pub(super) fn find(db: &Connection, id: &ConnectionId) -> rusqlite::Result<Option<Ledger>> {
    db.prepare_cached("SELECT number, epoch, token, count, granted_at FROM connection WHERE id = ?1")?
        .query_row([id.as_str()], |row| {
            let token: Option<[u8; 16]> = row.get(2)?;
            Ok(Ledger {
                number: row.get(0)?,
                epoch: Epoch(number(row, 1)?),
                token: token.map(|bytes| Token(u128::from_be_bytes(bytes))),
                count: number(row, 3)?,
                granted_at: time(row, 4)?,
            })
        })
        .optional()
}

/// The row of a connection, made where it is new.
pub(super) fn ensure(db: &Connection, id: &ConnectionId) -> rusqlite::Result<Ledger> {
    if let Some(ledger) = find(db, id)? {
        return Ok(ledger);
    }
    db.prepare_cached("INSERT INTO connection (id) VALUES (?1)")?.execute([id.as_str()])?;
    let number = db.last_insert_rowid();
    Ok(Ledger { number, epoch: Epoch(0), token: None, count: 0, granted_at: Timestamp(0) })
}

/// A new grant: the fence is written with it, and its count begins.
pub(super) fn grant(db: &Connection, number: i64, fence: Fence, now: Timestamp) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE connection SET epoch = ?2, token = ?3, count = 0, granted_at = ?4 WHERE number = ?1")?
        .execute(params![number, int(fence.epoch.0), fence.token.0.to_be_bytes(), int(now.0)])
        .map(|_| ())
}

/// One more batch under the newest grant.
pub(super) fn count_up(db: &Connection, number: i64) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE connection SET count = count + 1 WHERE number = ?1")?.execute([number]).map(|_| ())
}
