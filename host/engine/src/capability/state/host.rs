//! `state`, translated.

use jackfield_contract::imports::state::Host;
use jackfield_contract::imports::types::{BlobResult, FaultResult};

use super::StateView;
use crate::failure::two_roads;

impl Host for StateView<'_> {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<BlobResult>, FaultResult>> {
        two_roads(self.get(&key).await.map(|value| value.map(BlobResult::from)))
    }

    async fn set(&mut self, key: String, value: BlobResult) -> wasmtime::Result<Result<(), FaultResult>> {
        two_roads(self.set(key, value.into()).await)
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<(), FaultResult>> {
        two_roads(self.delete(key).await)
    }
}
