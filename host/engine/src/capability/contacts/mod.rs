//! Looking up people. In `webhook` and `action` alone.
//!
//! Promised: only live contacts of the connection's own space; the space is the host's, never the guest's.

mod host;

use async_trait::async_trait;
use jackfield_model::Fault;
use jackfield_model::contact::{Reference, Resolution};
use wasmtime::component::{HasData, Linker};

use crate::action::Outbound;
use crate::failure::Refusal;
use crate::guest::Guest;
use crate::phase::{Call, OUTBOUND};

/// The people of one connection's space.
#[async_trait]
pub trait Directory: Send + Sync {
    /// Whom a reference means.
    ///
    /// # Errors
    /// `Unavailable` while the store is away.
    async fn resolve(&self, reference: &Reference) -> Result<Resolution, Fault>;
}

/// What this import works on.
pub(super) struct ContactsView<'a> {
    call: &'a mut Call,
    namespace: &'a str,
    outbound: Option<&'a Outbound>,
}

impl ContactsView<'_> {
    async fn resolve(&mut self, reference: &Reference) -> Result<Resolution, Refusal> {
        const IMPORT: &str = "contacts.resolve";
        self.call.admit(IMPORT, OUTBOUND)?;
        let directory = super::outbound(self.outbound, IMPORT)?.directory.as_ref();
        let directory = directory.ok_or_else(|| Fault::Denied("contacts".to_owned()))?;
        Ok(directory.resolve(reference).await?)
    }
}

struct HasContacts;

impl HasData for HasContacts {
    type Data<'a> = ContactsView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::contacts::add_to_linker::<_, HasContacts>(linker, |guest| ContactsView {
        call: &mut guest.call,
        namespace: &guest.namespace,
        outbound: guest.outbound.as_ref(),
    })
}
