//! `lease`, translated. The contract's guard and ours are one entry of the resource table.

use std::sync::Arc;

use jackfield_contract::imports::lease::{Guard, Host, HostGuard};
use jackfield_contract::imports::types::FaultResult;
use jackfield_contract::translate::duration;
use wasmtime::component::Resource;

use super::{Held, LeaseView, checked};
use crate::failure::two_roads;
use crate::phase::OUTBOUND;

fn ours(guard: &Resource<Guard>) -> Resource<Arc<dyn Held>> {
    Resource::new_own(guard.rep())
}

impl Host for LeaseView<'_> {
    async fn try_acquire(
        &mut self,
        key: String,
        ttl: u32,
    ) -> wasmtime::Result<Result<Option<Resource<Guard>>, FaultResult>> {
        let acquired = self.try_acquire(&key, duration(ttl)).await;
        two_roads(acquired.map(|guard| guard.map(|guard| Resource::new_own(guard.rep()))))
    }
}

impl HostGuard for LeaseView<'_> {
    fn fence(&mut self, guard: Resource<Guard>) -> wasmtime::Result<u64> {
        self.call.admit("lease.guard.fence", OUTBOUND)?;
        Ok(self.held(&ours(&guard))?.fence())
    }

    async fn renew(&mut self, guard: Resource<Guard>, ttl: u32) -> wasmtime::Result<Result<(), FaultResult>> {
        self.call.admit("lease.guard.renew", OUTBOUND)?;
        let held = self.held(&ours(&guard))?;
        let renewed = match checked(duration(ttl)) {
            Ok(ttl) => held.renew(ttl).await,
            Err(fault) => Err(fault),
        };
        Ok(renewed.map_err(Into::into))
    }

    async fn drop(&mut self, guard: Resource<Guard>) -> wasmtime::Result<()> {
        let held = self.table.delete(ours(&guard))?;
        // What was asked for under it is not stored yet: whoever gets it next would not see that. It ends with the call.
        if self.effects.is_empty() {
            held.free().await;
        }
        Ok(())
    }
}
