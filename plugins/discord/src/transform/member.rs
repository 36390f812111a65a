//! Who comes to a guild, goes, and is called or ranked differently. Needs the GUILD_MEMBERS intent.

use jackfield_sdk::{Event, Location};
use serde::{Deserialize, Serialize};

use super::person::User;
use super::{Context, Meaning, ignored, one, properties};
use crate::wire::{Id, Text, when};

/// A member that came, changed, or went: then only the guild and the user are there.
#[derive(Deserialize)]
pub(super) struct Member<'a> {
    #[serde(borrow)]
    guild_id: Id<'a>,
    #[serde(borrow)]
    user: User<'a>,
    #[serde(borrow)]
    nick: Option<Text<'a>>,
    #[serde(borrow)]
    roles: Option<Vec<Id<'a>>>,
    joined_at: Option<&'a str>,
    pending: Option<bool>,
}

#[derive(Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<Vec<&'a str>>,
    /// Has yet to agree to the guild's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sanitized: bool,
}

pub(super) fn joined(member: &Member<'_>, about: &Context<'_>) -> Meaning {
    let joined_at = member.joined_at.and_then(|at| Some((when::millis(at)?, when::canonical(at)?)));
    // Who leaves and comes back joins at another time; a replay repeats the old one.
    let (occurred_at, which) = match joined_at {
        Some(joined) => joined,
        None => (about.received_at, about.position()?),
    };
    member.event("member.joined", "joined", &which, occurred_at, true, about)
}

pub(super) fn left(member: &Member<'_>, about: &Context<'_>) -> Meaning {
    let which = about.position()?;
    member.event("member.left", "left", &which, about.received_at, false, about)
}

pub(super) fn updated(member: &Member<'_>, about: &Context<'_>) -> Meaning {
    let which = about.position()?;
    member.event("member.updated", "updated", &which, about.received_at, false, about)
}

impl Member<'_> {
    /// `towards_us`: whether it is something that this person did, and no mere observation.
    fn event(
        &self,
        name: &str,
        what: &str,
        which: &str,
        occurred_at: u64,
        towards_us: bool,
        about: &Context<'_>,
    ) -> Meaning {
        if about.is_me(Some(self.user.id)) {
            return Ok(ignored("own-member"));
        }
        let key = format!("{}:{}:{what}:{which}", self.guild_id, self.user.id);
        let mut event = Event::once(name, key, occurred_at);
        let mut subject = self.user.subject(self.nick.as_ref());
        subject.may_create &= towards_us;
        event.subject = Some(subject);
        event.location = Some(Location { account: Some(self.guild_id.to_string()), ..Location::nowhere() });
        event.properties = properties(&Properties {
            roles: self.roles.as_ref().map(|roles| roles.iter().map(|role| role.as_str()).collect()),
            pending: self.pending,
            sanitized: self.user.is_sanitized() || self.nick.as_ref().is_some_and(Text::is_sanitized),
        });
        one(event)
    }
}
