//! Short critical sections. In `webhook` and `action` alone.
//!
//! Promised: a guard is freed when it is dropped or lapses. One that is dropped after the call has asked for something, which is
//! only done when the call has returned, stays held: whoever made the [`Locks`] of a call frees what is left once that is
//! done, and at its end, a trap included. The key is private to the connection.

mod host;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::Fault;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};

use crate::action::Outbound;
use crate::effects::Effects;
use crate::failure::{Refusal, Stop};
use crate::guest::Guest;
use crate::limits::LABEL_BYTES_MAX;
use crate::phase::{Call, OUTBOUND};

/// Shortest and longest time that a guard may ask for.
const TTL_MIN: Duration = Duration::from_secs(1);
/// See [`TTL_MIN`].
const TTL_MAX: Duration = Duration::from_secs(15 * 60);

/// Locks that every host of a connection shares.
#[async_trait]
pub trait Locks: Send + Sync {
    /// Takes a lock, or says at once that somebody else holds it.
    ///
    /// # Errors
    /// `Unavailable` while the store is away, `Exhausted` when the connection holds too many.
    async fn try_acquire(&self, key: &str, ttl: Duration) -> Result<Option<Arc<dyn Held>>, Fault>;
}

/// A lock that is held.
#[async_trait]
pub trait Held: Send + Sync {
    /// Grows with every grant of the same key.
    fn fence(&self) -> u64;
    /// Keeps it.
    ///
    /// # Errors
    /// `Unavailable` when it is not ours any more or the store is away.
    async fn renew(&self, ttl: Duration) -> Result<(), Fault>;
    /// Gives it back: the guest dropped it. One that is not ours any more stays as it is.
    async fn free(&self);
}

/// What this import works on.
pub(super) struct LeaseView<'a> {
    call: &'a mut Call,
    table: &'a mut ResourceTable,
    effects: &'a Effects,
    outbound: Option<&'a Outbound>,
}

impl LeaseView<'_> {
    async fn try_acquire(&mut self, key: &str, ttl: Duration) -> Result<Option<Resource<Arc<dyn Held>>>, Refusal> {
        const IMPORT: &str = "lease.try-acquire";
        self.call.admit(IMPORT, OUTBOUND)?;
        if key.is_empty() || key.len() > LABEL_BYTES_MAX {
            return Err(Fault::Invalid(format!("key: use 1 to {LABEL_BYTES_MAX} bytes")).into());
        }
        let ttl = checked(ttl)?;
        let locks = super::outbound(self.outbound, IMPORT)?.locks.as_ref();
        let locks = locks.ok_or_else(|| Fault::Denied("lease".to_owned()))?;
        let Some(held) = locks.try_acquire(key, ttl).await? else { return Ok(None) };
        let guard = self.table.push(held).map_err(|error| Stop::misuse(IMPORT, error.to_string()))?;
        Ok(Some(guard))
    }

    fn held(&self, guard: &Resource<Arc<dyn Held>>) -> wasmtime::Result<Arc<dyn Held>> {
        Ok(Arc::clone(self.table.get(guard)?))
    }
}

fn checked(ttl: Duration) -> Result<Duration, Fault> {
    if (TTL_MIN..=TTL_MAX).contains(&ttl) {
        return Ok(ttl);
    }
    Err(Fault::Invalid(format!("ttl: use {} s to {} s", TTL_MIN.as_secs(), TTL_MAX.as_secs())))
}

struct HasLease;

impl HasData for HasLease {
    type Data<'a> = LeaseView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::lease::add_to_linker::<_, HasLease>(linker, |guest| LeaseView {
        call: &mut guest.call,
        table: &mut guest.table,
        effects: &guest.effects,
        outbound: guest.outbound.as_ref(),
    })
}
