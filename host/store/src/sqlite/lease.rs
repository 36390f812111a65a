//! Leases of one process. The fence is in the file and outlives everything; who holds a lease is in memory, since the
//! kernel's lock on the folder already says that nobody outside holds one.
//!
//! So a lease that a dead process left is free at once, and a second controller in this process is still kept out.
//! Lapsing goes by the monotonic clock.

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::{ConnectionId, Epoch, Fence, Token};

use crate::error::Result;
use crate::lease::{Acquire, Leases, Renew, Standing};
use crate::sqlite::job::Pass;
use crate::sqlite::memory::Held;
use crate::sqlite::{Sqlite, connection};

#[async_trait]
impl Leases for Sqlite {
    async fn acquire(&self, connection: &ConnectionId, token: Token, ttl: Duration) -> Result<Acquire> {
        let connection = connection.clone();
        self.writer.ride(move |pass| acquire(pass, &connection, token, ttl)).await
    }

    async fn renew(&self, connection: &ConnectionId, fence: Fence, ttl: Duration) -> Result<Renew> {
        let connection = connection.clone();
        self.writer.ride(move |pass| renew(pass, &connection, fence, ttl)).await
    }

    async fn release(&self, connection: &ConnectionId, fence: Fence) -> Result<()> {
        let connection = connection.clone();
        self.writer.ride(move |pass| release(pass, &connection, fence)).await
    }

    async fn standing(&self, connection: &ConnectionId) -> Result<Option<Standing>> {
        let connection = connection.clone();
        // Through the writer, which has the leases in memory. A group that writes nothing flushes nothing.
        self.writer.ride(move |pass| standing(pass, &connection)).await
    }
}

fn acquire(pass: &mut Pass<'_>, id: &ConnectionId, token: Token, ttl: Duration) -> rusqlite::Result<Acquire> {
    let ledger = connection::ensure(pass.db, id)?;
    let until = pass.until(ttl);
    if let Some(held) = pass.memory.lease(ledger.number).filter(|held| held.until > pass.monotonic) {
        if held.fence.token != token {
            let left = held.until.saturating_duration_since(pass.monotonic);
            return Ok(Acquire::Held { until: pass.now.after(left) });
        }
        pass.memory.set_lease(ledger.number, Some(Held { until, ..held }));
        return Ok(Acquire::Granted { epoch: held.fence.epoch });
    }
    let fence = Fence { epoch: Epoch(ledger.epoch.0 + 1), token };
    connection::grant(pass.db, ledger.number, fence, pass.now)?;
    pass.memory.set_lease(ledger.number, Some(Held { fence, until }));
    Ok(Acquire::Granted { epoch: fence.epoch })
}

/// A lease that lapsed and that nobody took meanwhile is still ours; one that was released is not.
fn renew(pass: &mut Pass<'_>, id: &ConnectionId, fence: Fence, ttl: Duration) -> rusqlite::Result<Renew> {
    let Some(ledger) = connection::find(pass.db, id)? else { return Ok(Renew::Lost) };
    let until = pass.until(ttl);
    Ok(match pass.memory.lease(ledger.number) {
        Some(held) if held.fence == fence => {
            pass.memory.set_lease(ledger.number, Some(Held { fence, until }));
            Renew::Held
        }
        _ => Renew::Lost,
    })
}

fn release(pass: &mut Pass<'_>, id: &ConnectionId, fence: Fence) -> rusqlite::Result<()> {
    if let Some(ledger) = connection::find(pass.db, id)?
        && pass.memory.lease(ledger.number).is_some_and(|held| held.fence == fence)
    {
        pass.memory.set_lease(ledger.number, None);
    }
    Ok(())
}

fn standing(pass: &mut Pass<'_>, id: &ConnectionId) -> rusqlite::Result<Option<Standing>> {
    let ledger = connection::find(pass.db, id)?.filter(|ledger| ledger.epoch > Epoch(0));
    Ok(ledger.map(|ledger| {
        let held = pass.memory.lease(ledger.number);
        let left = |held: Held| pass.now.after(held.until.saturating_duration_since(pass.monotonic));
        Standing { epoch: ledger.epoch, granted_at: ledger.granted_at, until: held.map(left) }
    }))
}
