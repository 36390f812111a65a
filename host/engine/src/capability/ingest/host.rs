//! `ingest`, translated.

use jackfield_contract::imports::ingest::Host;
use jackfield_contract::imports::types::{DispatchResult, FaultResult};

use super::IngestView;
use crate::failure::two_roads;

impl Host for IngestView<'_> {
    fn submit(&mut self, dispatch: DispatchResult, mark: Option<String>) -> wasmtime::Result<Result<(), FaultResult>> {
        two_roads(self.submit(dispatch.into(), mark))
    }

    fn submit_signal(
        &mut self,
        index: u32,
        kind: String,
        lane: String,
        context: String,
        mark: Option<String>,
    ) -> wasmtime::Result<Result<(), FaultResult>> {
        two_roads(self.submit_signal(index, kind, lane, context, mark))
    }
}
