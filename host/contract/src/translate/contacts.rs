//! References to people, and whom they mean.

use jackfield_model::PlatformId;
use jackfield_model::contact::{Contact, Reference, Resolution};

use crate::imports::{contacts, types};

/// A reference of a connector. The namespace of its platform ids is what a text is tried in last.
#[must_use]
pub fn reference(reference: contacts::Reference, namespace: &str) -> Reference {
    match reference {
        contacts::Reference::Text(text) => Reference::Text { text, namespace: Some(namespace.to_owned()) },
        contacts::Reference::Email(email) => Reference::Email(email),
        contacts::Reference::ExternalId(id) => Reference::ExternalId(id),
        contacts::Reference::Platform(types::PlatformId { namespace, id }) => {
            Reference::Platform(PlatformId { namespace, id })
        }
    }
}

impl From<Contact> for contacts::Contact {
    fn from(contact: Contact) -> Self {
        let Contact { id, email, external_id, ids, properties } = contact;
        let ids = ids.into_iter().map(|PlatformId { namespace, id }| types::PlatformId { namespace, id }).collect();
        Self { id, email, external_id, ids, properties }
    }
}

impl From<Resolution> for contacts::Resolution {
    fn from(resolution: Resolution) -> Self {
        match resolution {
            Resolution::Found(contact) => Self::Found(contact.into()),
            Resolution::None => Self::None,
            Resolution::Ambiguous(ids) => Self::Ambiguous(ids),
        }
    }
}
