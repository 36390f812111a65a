//! Channels and threads that begin and end.

use jackfield_sdk::{Event, Location};
use serde::{Deserialize, Serialize};

use super::{Context, Meaning, ignored, one, place, properties};
use crate::wire::{Id, Text};

/// A channel or a thread.
#[derive(Deserialize)]
pub(super) struct Channel<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    guild_id: Option<Id<'a>>,
    #[serde(rename = "type")]
    kind: Option<u16>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    parent_id: Option<Id<'a>>,
    newly_created: Option<bool>,
}

#[derive(Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_type: Option<u16>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sanitized: bool,
}

/// Types of channels that are threads.
const THREAD_TYPES: [u16; 3] = [10, 11, 12];

pub(super) fn created(channel: &Channel<'_>) -> Meaning {
    // An id says when the thing was made.
    let key = format!("channel:{}", channel.id);
    one(channel.event("conversation.created", key, channel.id.made_at()))
}

/// Also comes when the bot is let into a thread that was there before.
pub(super) fn thread_created(thread: &Channel<'_>) -> Meaning {
    if thread.newly_created == Some(true) { created(thread) } else { Ok(ignored("thread-state")) }
}

pub(super) fn deleted(channel: &Channel<'_>, about: &Context<'_>) -> Meaning {
    let key = format!("channel:{}:deleted", channel.id);
    let mut event = channel.event("conversation.left", key, about.received_at);
    event.refers_to = Some(format!("channel:{}", channel.id));
    one(event)
}

impl Channel<'_> {
    fn event(&self, name: &str, key: String, occurred_at: u64) -> Event {
        let mut event = Event::once(name, key, occurred_at);
        event.location = Some(self.location());
        event.properties = properties(&Properties {
            name: self.name.as_ref().map(Text::as_str),
            channel_type: self.kind,
            sanitized: self.name.as_ref().is_some_and(Text::is_sanitized),
        });
        event
    }

    /// A thread hangs below the channel that it was made in.
    fn location(&self) -> Location {
        let parent = self.parent_id.filter(|_| self.kind.is_some_and(|kind| THREAD_TYPES.contains(&kind)));
        match parent {
            Some(parent) => Location { thread: Some(self.id.to_string()), ..place(self.guild_id, Some(parent)) },
            None => place(self.guild_id, Some(self.id)),
        }
    }
}
