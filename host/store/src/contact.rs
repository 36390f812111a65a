//! People. Rules: `jackfield_model::contact` for how keys are compared; here for what happens to contacts.
//!
//! A commit looks a subject up by platform id, then external id, then *verified* email. The strongest match is the event's
//! contact; when the keys point to different contacts nothing is merged and the conflict is recorded on the event. Without a
//! match a contact is made only for a person with `may_create`. An upsert adds keys that are free and merges properties; it
//! replaces no key and writes only on change. A deleted contact stays deleted and never matches; its keys may make a new one.

use async_trait::async_trait;
use jackfield_model::Space;
use jackfield_model::contact::{Contact, Reference, Resolution};

use crate::error::Result;

/// People, read side and administration.
#[async_trait]
pub trait Contacts: Send + Sync {
    /// Whom a reference means, among live contacts of this space.
    async fn resolve(&self, space: &Space, reference: &Reference) -> Result<Resolution>;
    /// Live contacts with ids above `after`, by id, at most `limit`.
    async fn contacts(&self, space: &Space, after: &str, limit: usize) -> Result<Vec<Contact>>;
    /// Makes a contact with these keys. Its id is the host's. The error is a value: which of its keys a live contact has.
    async fn create(&self, space: &Space, contact: Draft) -> Result<Created>;
    /// Deletes a contact softly: it never matches again. `false` when there was no live one.
    async fn delete(&self, space: &Space, id: &str) -> Result<bool>;
}

/// A contact to be made by an operator or an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Email address, as given. Two contacts may share one: it is then ambiguous.
    pub email: Option<String>,
    /// The operator's own id. Unique among live contacts.
    pub external_id: Option<String>,
    /// Ids on platforms. Unique among live contacts.
    pub ids: Vec<jackfield_model::PlatformId>,
    /// A JSON object, as text. Empty is `{}`.
    pub properties: String,
}

/// What came of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    /// The new contact.
    New(Contact),
    /// A live contact has one of its unique keys.
    Taken {
        /// Which one.
        contact: String,
        /// Which key: `external_id` or `platform_id`.
        key: &'static str,
    },
}
