//! Looking up people. In `webhook` and `action` alone; nothing serves those yet, so every call is a trap that says so.
//!
//! Promised: only live contacts of the connection's own space; the space is the host's, never the guest's.

mod host;

use async_trait::async_trait;
use jackfield_model::Fault;
use jackfield_model::contact::{Reference, Resolution};
use wasmtime::component::{HasData, Linker};

use crate::failure::{Refusal, Stop};
use crate::guest::Guest;
use crate::phase::{Call, OUTBOUND};

/// The people of one connection's space.
#[async_trait]
pub trait Directory: Send + Sync {
    /// Whom a reference means.
    ///
    /// # Errors
    /// `Denied` without the grant, `Unavailable` while the store is away.
    async fn resolve(&self, reference: &Reference) -> Result<Resolution, Fault>;
}

/// What this import works on.
pub(super) struct ContactsView<'a> {
    call: &'a mut Call,
    namespace: &'a str,
    directory: Option<&'a dyn Directory>,
}

impl ContactsView<'_> {
    async fn resolve(&mut self, reference: &Reference) -> Result<Resolution, Refusal> {
        const IMPORT: &str = "contacts.resolve";
        self.call.admit(IMPORT, OUTBOUND)?;
        let directory = self.directory.ok_or_else(|| Stop::misuse(IMPORT, "not served to this call"))?;
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
        directory: guest.outbound.directory.as_deref(),
    })
}
