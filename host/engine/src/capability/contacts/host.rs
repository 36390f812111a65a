//! `contacts`, translated.

use jackfield_contract::imports::contacts::{Host, Reference, Resolution};
use jackfield_contract::imports::types::FaultResult;
use jackfield_contract::translate;

use super::ContactsView;
use crate::failure::two_roads;

impl Host for ContactsView<'_> {
    async fn resolve(&mut self, reference: Reference) -> wasmtime::Result<Result<Resolution, FaultResult>> {
        let reference = translate::reference(reference, self.namespace);
        two_roads(self.resolve(&reference).await)
    }
}
