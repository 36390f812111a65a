//! Guilds that the bot is added to and removed from. Guilds that come and go because Discord has trouble, or because
//! the session begins, say nothing.

use jackfield_sdk::{Event, Location};
use serde::{Deserialize, Serialize};

use super::{Context, Meaning, ignored, one, properties};
use crate::wire::{Id, Text, when};

/// A guild, as far as anybody here cares.
#[derive(Deserialize)]
pub(super) struct Guild<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    joined_at: Option<&'a str>,
    member_count: Option<u64>,
    unavailable: Option<bool>,
}

#[derive(Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member_count: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sanitized: bool,
}

pub(super) fn created(guild: &Guild<'_>, about: &Context<'_>) -> Meaning {
    if about.startup || guild.unavailable == Some(true) {
        return Ok(ignored("guild-state"));
    }
    let joined_at = guild.joined_at.and_then(|at| Some((when::millis(at)?, when::canonical(at)?)));
    let (occurred_at, which) = match joined_at {
        Some(joined) => joined,
        None => (about.received_at, about.position()?),
    };
    let key = format!("guild:{}:added:{which}", guild.id);
    one(guild.event("installation.added", key, occurred_at))
}

pub(super) fn deleted(guild: &Guild<'_>, about: &Context<'_>) -> Meaning {
    if guild.unavailable == Some(true) {
        return Ok(ignored("guild-unavailable"));
    }
    let key = format!("guild:{}:removed:{}", guild.id, about.position()?);
    one(guild.event("installation.removed", key, about.received_at))
}

impl Guild<'_> {
    fn event(&self, name: &str, key: String, occurred_at: u64) -> Event {
        let mut event = Event::once(name, key, occurred_at);
        event.location = Some(Location { account: Some(self.id.to_string()), ..Location::nowhere() });
        event.properties = properties(&Properties {
            name: self.name.as_ref().map(Text::as_str),
            member_count: self.member_count,
            sanitized: self.name.as_ref().is_some_and(Text::is_sanitized),
        });
        event
    }
}
