//! Events and who they are about.

use crate::{Event, Location, Recurrence, Sender, Subject};

impl Event {
    /// Something that can happen once under this key, such as a message with this id.
    pub fn once(name: impl Into<String>, key: impl Into<String>, occurred_at: u64) -> Self {
        Self {
            name: name.into(),
            occurred_at,
            key: key.into(),
            recurrence: Recurrence::Once,
            refers_to: None,
            subject: None,
            location: None,
            properties: "{}".to_owned(),
        }
    }

    /// Something that can happen again under this key: `occurred_at` is part of what tells two apart.
    pub fn recurring(name: impl Into<String>, key: impl Into<String>, occurred_at: u64) -> Self {
        Self { recurrence: Recurrence::Recurring, ..Self::once(name, key, occurred_at) }
    }
}

impl Subject {
    /// Somebody with one id on this platform, not ourselves, of whom nothing else is known. No contact is made
    /// for it until `may_create` is set.
    pub fn new(id: impl Into<String>, sender: Sender) -> Self {
        Self {
            ids: vec![id.into()],
            sender,
            is_self: false,
            email: None,
            email_verified: false,
            external_id: None,
            display_name: None,
            may_create: false,
            properties: "{}".to_owned(),
        }
    }
}

impl Location {
    /// Nowhere in particular: fill in what the platform says.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { account: None, room: None, peer: None, thread: None }
    }
}
