//! Messages, new ones; [`super::message_change`] has what becomes of them.

use jackfield_sdk::{Event, Sender};
use serde::{Deserialize, Serialize};

use super::person::{Membership, User};
use super::{Context, Meaning, ignored, message_key, one, place, properties};
use crate::wire::{Id, Peek, Text, when};

/// Types that a person wrote: plain, a reply, and the answers to commands. The others are notices of the platform in
/// somebody's name, such as a pin.
const WRITTEN_TYPES: [u16; 4] = [0, 19, 20, 23];

/// A message whose text went missing can only be one of these: the answers to commands are the bot's own.
const WITHHOLDABLE_TYPES: [u16; 2] = [0, 19];

/// Types of channels that are threads.
const THREAD_TYPES: [u16; 3] = [10, 11, 12];

/// A message. Only the id is required: partial ones come, and a missing field never blanks a known one.
#[derive(Deserialize, Debug)]
pub struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Id<'a>,
    #[serde(borrow)]
    pub(super) channel_id: Option<Id<'a>>,
    #[serde(borrow)]
    pub(super) guild_id: Option<Id<'a>>,
    channel_type: Option<u16>,
    #[serde(rename = "type")]
    kind: Option<u16>,
    timestamp: Option<&'a str>,
    pub(super) edited_timestamp: Option<&'a str>,
    #[serde(borrow)]
    pub(super) content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) author: Option<User<'a>>,
    #[serde(borrow)]
    member: Option<Membership<'a>>,
    #[serde(borrow)]
    webhook_id: Option<Id<'a>>,
    #[serde(borrow)]
    application_id: Option<Id<'a>>,
    #[serde(borrow)]
    mentions: Option<Vec<Mentioned<'a>>>,
    #[serde(borrow)]
    mention_roles: Option<Vec<Id<'a>>>,
    mention_everyone: Option<bool>,
    #[serde(borrow)]
    attachments: Option<Vec<Attachment<'a>>>,
    embeds: Option<Vec<Anything>>,
    components: Option<Vec<Anything>>,
    sticker_items: Option<Vec<Anything>>,
    message_snapshots: Option<Vec<Anything>>,
    poll: Option<Anything>,
    #[serde(borrow)]
    message_reference: Option<Reference<'a>>,
}

#[derive(Deserialize, Debug)]
struct Mentioned<'a> {
    #[serde(borrow)]
    id: Id<'a>,
}

/// An attachment, read and written alike.
#[derive(Deserialize, Serialize, Debug)]
struct Attachment<'a> {
    #[serde(borrow, serialize_with = "digits")]
    id: Id<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    filename: Option<Text<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    content_type: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    url: Option<Text<'a>>,
}

fn digits<S: serde::Serializer>(id: &Id<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id.as_str())
}

#[derive(Deserialize, Debug)]
struct Reference<'a> {
    #[serde(borrow)]
    message_id: Option<Id<'a>>,
    #[serde(borrow)]
    channel_id: Option<Id<'a>>,
}

/// Something of which only the presence counts.
type Anything = serde::de::IgnoredAny;

/// What an event says of a message.
#[derive(Serialize)]
struct Properties<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'m str>,
    #[serde(skip_serializing_if = "is_false")]
    content_withheld: bool,
    attachments: &'m [Attachment<'m>],
    mentions: Mentions<'m>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_type: Option<u16>,
    #[serde(skip_serializing_if = "is_false")]
    sanitized: bool,
}

#[derive(Serialize)]
struct Mentions<'m> {
    users: Vec<&'m str>,
    roles: Vec<&'m str>,
    everyone: bool,
    bot_mentioned: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A new message, live or fetched after a gap: the two have the same key.
pub(super) fn created(message: &Message<'_>, about: &Context<'_>) -> Meaning {
    if message.is_own_post(about) {
        return Ok(ignored("own-message"));
    }
    let key = message_key(message.channel_id, message.id);
    let occurred_at = message.timestamp.and_then(when::millis).unwrap_or(about.received_at);
    one(message.event("message.created", key, occurred_at, about))
}

impl<'a> Message<'a> {
    /// What decides its lane.
    #[must_use]
    pub fn peek(&self) -> Peek<'a> {
        Peek { id: Some(self.id), channel_id: self.channel_id, guild_id: self.guild_id, ..Peek::default() }
    }

    /// Whether the bot posted it itself. What its webhooks post is not its own words: those are events.
    pub(super) fn is_own_post(&self, about: &Context<'_>) -> bool {
        self.webhook_id.is_none() && about.is_me(self.author.as_ref().map(|author| author.id))
    }

    /// This message as an event.
    pub(super) fn event(&self, name: &str, key: String, occurred_at: u64, about: &Context<'_>) -> Event {
        let mut event = Event::once(name, key, occurred_at);
        event.subject = self.author.as_ref().map(|author| self.sender(author, about));
        let mut location = place(self.guild_id.or(about.guild), self.channel_id);
        if self.channel_type.is_some_and(|kind| THREAD_TYPES.contains(&kind)) {
            location.thread.clone_from(&location.room);
        }
        event.location = Some(location);
        event.refers_to = self.answers();
        event.properties = properties(&self.properties(about));
        event
    }

    /// The message that this one answers.
    fn answers(&self) -> Option<String> {
        const REPLY: u16 = 19;
        let reference = self.message_reference.as_ref()?;
        let message = reference.message_id.filter(|_| self.kind == Some(REPLY))?;
        Some(message_key(reference.channel_id.or(self.channel_id), message))
    }

    fn sender(&self, author: &User<'_>, about: &Context<'_>) -> jackfield_sdk::Subject {
        let nick = self.member.as_ref().and_then(|member| member.nick.as_ref());
        let mut subject = author.subject(nick);
        if self.webhook_id.is_some() {
            // Whoever posts through a webhook chooses its name and face: it is nobody whom we know.
            subject.sender = Sender::Webhook;
            subject.is_self = self.application_id.is_some() && self.application_id == about.app;
        } else if self.kind.is_some_and(|kind| !WRITTEN_TYPES.contains(&kind)) {
            subject.sender = Sender::System;
        }
        subject.may_create &= subject.sender == Sender::Person;
        subject
    }

    fn properties(&self, about: &Context<'_>) -> Properties<'_> {
        let withheld = self.is_withheld(about.me, about.guild);
        Properties {
            text: self.content.as_ref().filter(|_| !withheld).map(Text::as_str),
            content_withheld: withheld,
            attachments: self.attachments.as_deref().unwrap_or_default(),
            mentions: Mentions {
                users: ids(self.mentions.iter().flatten().map(|user| user.id)),
                roles: ids(self.mention_roles.iter().flatten().copied()),
                everyone: self.mention_everyone.unwrap_or_default(),
                bot_mentioned: self.mentions_user(about.me),
            },
            message_type: self.kind.filter(|kind| *kind != 0),
            sanitized: self.is_sanitized(),
        }
    }

    /// Whether Discord left out what the message says: a guild message with nothing at all in it, which nobody can
    /// send. Discord does so without the MESSAGE_CONTENT intent, except where the bot is mentioned.
    ///
    /// `guild` is the guild where the message itself doesn't say.
    #[must_use]
    pub fn is_withheld(&self, me: Option<Id<'_>>, guild: Option<Id<'_>>) -> bool {
        let empty = self.content.as_ref().is_some_and(Text::is_empty)
            && none(&self.attachments)
            && none(&self.embeds)
            && none(&self.components)
            && none(&self.sticker_items)
            && none(&self.message_snapshots)
            && self.poll.is_none();
        empty
            && self.guild_id.or(guild).is_some()
            && self.kind.is_none_or(|kind| WITHHOLDABLE_TYPES.contains(&kind))
            && !self.mentions_user(me)
            && !self.is_from(me)
    }

    /// Whether it shows that the bot may read: text in a guild, from somebody else, without mentioning the bot.
    #[must_use]
    pub fn shows_content(&self, me: Option<Id<'_>>) -> bool {
        self.guild_id.is_some()
            && self.content.as_ref().is_some_and(|text| !text.is_empty())
            && !self.mentions_user(me)
            && !self.is_from(me)
    }

    fn is_from(&self, me: Option<Id<'_>>) -> bool {
        me.is_some() && self.author.as_ref().map(|author| author.id) == me
    }

    fn mentions_user(&self, me: Option<Id<'_>>) -> bool {
        self.mentions.iter().flatten().any(|user| Some(user.id) == me)
    }

    fn is_sanitized(&self) -> bool {
        let nick = self.member.as_ref().and_then(|member| member.nick.as_ref());
        let names = self.attachments.iter().flatten().flat_map(|file| [&file.filename, &file.content_type, &file.url]);
        self.author.as_ref().is_some_and(User::is_sanitized)
            || self.content.iter().chain(nick).chain(names.flatten()).any(Text::is_sanitized)
    }
}

fn none(list: &Option<Vec<impl Sized>>) -> bool {
    list.as_ref().is_none_or(Vec::is_empty)
}

fn ids<'a>(of: impl Iterator<Item = Id<'a>>) -> Vec<&'a str> {
    of.map(Id::as_str).collect()
}
