//! Users and members as subjects.

use jackfield_sdk::{Sender, Subject};
use serde::{Deserialize, Serialize};

use super::properties;
use crate::wire::{Id, Text};

/// A user, as far as anybody here cares.
#[derive(Deserialize, Debug)]
pub(super) struct User<'a> {
    #[serde(borrow)]
    pub(super) id: Id<'a>,
    #[serde(borrow)]
    pub(super) username: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) global_name: Option<Text<'a>>,
    pub(super) bot: Option<bool>,
    pub(super) system: Option<bool>,
}

/// What a guild knows of a user.
#[derive(Deserialize, Debug)]
pub(super) struct Membership<'a> {
    #[serde(borrow)]
    pub(super) nick: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) user: Option<User<'a>>,
}

#[derive(Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<&'a str>,
}

impl User<'_> {
    /// Whether a name had to be sanitised.
    pub(super) fn is_sanitized(&self) -> bool {
        [&self.username, &self.global_name].into_iter().flatten().any(Text::is_sanitized)
    }

    /// This user as a subject. `nick` is what the guild calls them.
    ///
    /// The username is a property, never an id: names are given up and taken by strangers.
    pub(super) fn subject(&self, nick: Option<&Text<'_>>) -> Subject {
        let sender = match (self.system, self.bot) {
            (Some(true), _) => Sender::System,
            (_, Some(true)) => Sender::Bot,
            _ => Sender::Person,
        };
        let mut subject = Subject::new(self.id.as_str(), sender);
        subject.may_create = sender == Sender::Person;
        subject.display_name =
            nick.or(self.global_name.as_ref()).or(self.username.as_ref()).map(|name| name.as_str().to_owned());
        subject.properties = properties(&Properties { username: self.username.as_ref().map(Text::as_str) });
        subject
    }
}
