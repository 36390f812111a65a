//! Reactions. They have neither an id nor a time: the session and its sequence number name them.

use jackfield_sdk::{Event, Sender, Subject};
use serde::{Deserialize, Serialize};

use super::person::Membership;
use super::{Context, Meaning, ignored, message_key, one, place, properties};
use crate::wire::{Id, Text};

/// One reaction, or all of one kind, or all.
#[derive(Deserialize)]
pub(super) struct Reaction<'a> {
    #[serde(borrow)]
    message_id: Id<'a>,
    #[serde(borrow)]
    channel_id: Option<Id<'a>>,
    #[serde(borrow)]
    guild_id: Option<Id<'a>>,
    #[serde(borrow)]
    user_id: Option<Id<'a>>,
    #[serde(borrow)]
    member: Option<Membership<'a>>,
    #[serde(borrow)]
    emoji: Option<Emoji<'a>>,
}

#[derive(Deserialize)]
struct Emoji<'a> {
    #[serde(borrow)]
    id: Option<Id<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
}

#[derive(Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    emoji: Option<EmojiProperties<'a>>,
    /// Everybody's, not one person's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    all: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sanitized: bool,
}

#[derive(Serialize)]
struct EmojiProperties<'a> {
    /// Of a guild's own emoji.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

pub(super) fn added(reaction: &Reaction<'_>, about: &Context<'_>) -> Meaning {
    by_somebody("reaction.added", reaction, about)
}

pub(super) fn removed(reaction: &Reaction<'_>, about: &Context<'_>) -> Meaning {
    by_somebody("reaction.removed", reaction, about)
}

/// A moderator took away everybody's reactions: all, or all of one emoji.
pub(super) fn cleared(reaction: &Reaction<'_>, about: &Context<'_>) -> Meaning {
    one(event("reaction.removed", reaction, true, about)?)
}

fn by_somebody(name: &str, reaction: &Reaction<'_>, about: &Context<'_>) -> Meaning {
    if about.is_me(reaction.user_id) {
        return Ok(ignored("own-reaction"));
    }
    let mut event = event(name, reaction, false, about)?;
    event.subject = reaction.subject();
    one(event)
}

fn event(name: &str, reaction: &Reaction<'_>, all: bool, about: &Context<'_>) -> Result<Event, String> {
    let message = message_key(reaction.channel_id, reaction.message_id);
    let key = format!("{message}:reaction:{}", about.position()?);
    let mut event = Event::once(name, key, about.received_at);
    event.refers_to = Some(message);
    event.location = Some(place(reaction.guild_id, reaction.channel_id));
    event.properties = properties(&reaction.properties(all));
    Ok(event)
}

impl Reaction<'_> {
    /// Whoever reacted: in full where the guild says, by id alone otherwise, and then possibly a bot.
    fn subject(&self) -> Option<Subject> {
        let user = self.user_id?;
        let Some((member, known)) = self.member.as_ref().and_then(|member| Some((member, member.user.as_ref()?)))
        else {
            return Some(Subject::new(user.as_str(), Sender::Person));
        };
        Some(known.subject(member.nick.as_ref()))
    }

    fn properties(&self, all: bool) -> Properties<'_> {
        let name = self.emoji.as_ref().and_then(|emoji| emoji.name.as_ref());
        Properties {
            emoji: self
                .emoji
                .as_ref()
                .map(|emoji| EmojiProperties { id: emoji.id.map(Id::as_str), name: name.map(Text::as_str) }),
            all,
            sanitized: name.is_some_and(Text::is_sanitized),
        }
    }
}
