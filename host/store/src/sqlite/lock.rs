//! Connectors' locks. The fence is in the file and outlives everything; who holds a lock is in memory (`grants`), since no
//! owner outlives the process. So a lock that a dead process left is free at once. Lapsing goes by the monotonic clock.

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, ExecutionId};
use rusqlite::Connection;

use crate::error::{Result, StoreError};
use crate::lock::{HELD_MAX, Locks};
use crate::sqlite::column::number;
use crate::sqlite::grants::Grant;
use crate::sqlite::job::Pass;
use crate::sqlite::{Sqlite, connection};

#[async_trait]
impl Locks for Sqlite {
    async fn try_lock(
        &self,
        connection: &ConnectionId,
        key: &str,
        owner: ExecutionId,
        ttl: Duration,
    ) -> Result<Option<u64>> {
        let (connection, key) = (connection.clone(), key.to_owned());
        match self.writer.ride(move |pass| try_lock(pass, &connection, &key, owner, ttl)).await? {
            Try::Granted { fence } => Ok(Some(fence)),
            Try::Held => Ok(None),
            Try::TooMany => Err(StoreError::TooMany { what: "locks of one connection", max: HELD_MAX }),
        }
    }

    async fn renew(
        &self,
        connection: &ConnectionId,
        key: &str,
        owner: ExecutionId,
        fence: u64,
        ttl: Duration,
    ) -> Result<bool> {
        let (connection, key) = (connection.clone(), key.to_owned());
        self.writer
            .ride(move |pass| {
                let until = pass.until(ttl);
                change(pass, &connection, &key, (owner, fence), Some(Grant { owner, fence, until }))
            })
            .await
    }

    async fn release(&self, connection: &ConnectionId, owner: ExecutionId) -> Result<()> {
        let connection = connection.clone();
        self.writer.ride(move |pass| release(pass, &connection, owner)).await
    }

    async fn unlock(&self, connection: &ConnectionId, key: &str, owner: ExecutionId, fence: u64) -> Result<bool> {
        let (connection, key) = (connection.clone(), key.to_owned());
        self.writer.ride(move |pass| change(pass, &connection, &key, (owner, fence), None)).await
    }
}

/// What came of asking for a lock.
enum Try {
    Granted { fence: u64 },
    Held,
    TooMany,
}

fn try_lock(
    pass: &mut Pass<'_>,
    id: &ConnectionId,
    key: &str,
    owner: ExecutionId,
    ttl: Duration,
) -> rusqlite::Result<Try> {
    let number = connection::ensure(pass.db, id)?.number;
    let until = pass.until(ttl);
    let locks = pass.memory.locks(number, pass.monotonic);
    if locks.get(number, key).is_some() {
        return Ok(Try::Held);
    }
    if locks.count(number) >= HELD_MAX {
        return Ok(Try::TooMany);
    }
    let fence = next_fence(pass.db, number)?;
    locks.set(number, key, Some(Grant { owner, fence, until }));
    Ok(Try::Granted { fence })
}

/// Prolongs or ends a lock that is held by this owner under this fence. `false` when it is not.
fn change(
    pass: &mut Pass<'_>,
    id: &ConnectionId,
    key: &str,
    (owner, fence): (ExecutionId, u64),
    to: Option<Grant>,
) -> rusqlite::Result<bool> {
    let Some(ledger) = connection::find(pass.db, id)? else { return Ok(false) };
    let locks = pass.memory.locks(ledger.number, pass.monotonic);
    let ours = locks.get(ledger.number, key).is_some_and(|held| held.owner == owner && held.fence == fence);
    if ours {
        locks.set(ledger.number, key, to);
    }
    Ok(ours)
}

fn release(pass: &mut Pass<'_>, id: &ConnectionId, owner: ExecutionId) -> rusqlite::Result<()> {
    let Some(ledger) = connection::find(pass.db, id)? else { return Ok(()) };
    let locks = pass.memory.locks(ledger.number, pass.monotonic);
    for key in locks.keys(ledger.number, owner) {
        locks.set(ledger.number, &key, None);
    }
    Ok(())
}

/// Larger than every fence of this connection before it, also when the process that grants it dies before it answers.
fn next_fence(db: &Connection, connection: i64) -> rusqlite::Result<u64> {
    db.prepare_cached(
        "INSERT INTO lock_fence (connection, newest) VALUES (?1, 1)
         ON CONFLICT (connection) DO UPDATE SET newest = newest + 1 RETURNING newest",
    )?
    .query_row([connection], |row| number(row, 0))
}
