//! Messages, and the people in them.

use serde::Serialize;
use serde_json::{Value, json};

use super::mentions::Mentions;
use super::{DIRECT_MESSAGE, GUILD_TEXT, JOINED_AT};
use crate::discord::dispatch::{Dispatch, Scope};
use crate::discord::rest::Allowed;
use crate::discord::snowflake::Id;
use crate::discord::world::{Author, Channel, World};

/// `message.type` of what somebody says, and of an answer to a message.
const DEFAULT: u8 = 0;
const REPLY: u8 = 19;

/// A message about to be made.
pub(crate) struct Post<'a> {
    pub(crate) id: Id,
    pub(crate) channel: &'a Channel,
    pub(crate) author: &'a Author,
    pub(crate) content: &'a str,
    /// What the author of an API call gave along.
    pub(crate) given: &'a Given<'a>,
}

/// What an API call says of a message beside its text. Nonce, embeds, components and flags come back as they are.
#[derive(Default)]
pub(crate) struct Given<'a> {
    pub(crate) nonce: Option<&'a Value>,
    pub(crate) embeds: Option<&'a Value>,
    pub(crate) components: Option<&'a Value>,
    pub(crate) flags: u64,
    /// The message that this one answers, as the REST API shows it.
    pub(crate) referenced: Option<&'a Value>,
    pub(crate) allowed: Allowed,
}

#[derive(Serialize)]
pub(super) struct User<'a> {
    pub(super) id: Id,
    username: &'a str,
    discriminator: &'static str,
    global_name: Option<&'a str>,
    avatar: Option<()>,
    public_flags: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bot: bool,
}

#[derive(Serialize)]
pub(super) struct Member<'a> {
    roles: [Id; 0],
    nick: Option<&'a str>,
    avatar: Option<()>,
    premium_since: Option<()>,
    joined_at: &'static str,
    pending: bool,
    mute: bool,
    deaf: bool,
    flags: u32,
    communication_disabled_until: Option<()>,
}

#[derive(Serialize)]
struct Message<'a> {
    #[serde(rename = "type")]
    kind: u8,
    tts: bool,
    timestamp: String,
    pinned: bool,
    #[serde(flatten)]
    mentions: Mentions<'a>,
    id: Id,
    flags: u64,
    embeds: &'a Value,
    edited_timestamp: Option<()>,
    content: &'a str,
    components: &'a Value,
    channel_id: Id,
    author: User<'a>,
    attachments: [(); 0],
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<Member<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guild_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_reference: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    referenced_message: Option<&'a Value>,
    channel_type: u8,
}

pub(super) fn member(author: &Author) -> Member<'_> {
    Member {
        roles: [],
        nick: author.nick.as_deref(),
        avatar: None,
        premium_since: None,
        joined_at: JOINED_AT,
        pending: false,
        mute: false,
        deaf: false,
        flags: 0,
        communication_disabled_until: None,
    }
}

pub(super) fn user(author: &Author) -> User<'_> {
    User {
        id: author.id,
        username: &author.username,
        discriminator: "0",
        global_name: author.display.as_deref(),
        avatar: None,
        public_flags: 0,
        bot: author.bot,
    }
}

/// The `MESSAGE_CREATE` of a post.
pub(crate) fn message_create(post: &Post<'_>, world: &World) -> Dispatch {
    let empty = Value::Array(Vec::new());
    let in_guild = post.channel.guild.is_some();
    let replied = post.given.referenced.and_then(author_of);
    let mentions = Mentions::of(post.content, &post.given.allowed, replied, in_guild, world);
    let mentions_bot = mentions.includes(world.bot.id);
    let reference = post.given.referenced.map(|referenced| {
        let mut reference = json!({ "type": 0, "channel_id": post.channel.id, "message_id": referenced.get("id") });
        if let (Some(guild), Some(fields)) = (post.channel.guild, reference.as_object_mut()) {
            fields.insert("guild_id".to_owned(), json!(guild));
        }
        reference
    });
    let message = Message {
        kind: if reference.is_some() { REPLY } else { DEFAULT },
        tts: false,
        timestamp: timestamp(post.id.unix_ms()),
        pinned: false,
        mentions,
        id: post.id,
        flags: post.given.flags,
        embeds: post.given.embeds.unwrap_or(&empty),
        edited_timestamp: None,
        content: post.content,
        components: post.given.components.unwrap_or(&empty),
        channel_id: post.channel.id,
        author: user(post.author),
        attachments: [],
        member: in_guild.then(|| member(post.author)),
        guild_id: post.channel.guild,
        nonce: post.given.nonce,
        message_reference: reference,
        referenced_message: post.given.referenced,
        channel_type: if in_guild { GUILD_TEXT } else { DIRECT_MESSAGE },
    };
    let scope = Scope {
        guild: post.channel.guild,
        channel: Some(post.channel.id),
        message: Some(post.id),
        content_for_all: !in_guild || mentions_bot || post.author.id == world.bot.id,
    };
    // A struct of strings, numbers and lists always serialises; an empty body would show at once in every test.
    let body = serde_json::to_string(&message).unwrap_or_default();
    Dispatch::new("MESSAGE_CREATE".into(), body, scope)
}

/// The message as the REST API shows it: without what only the gateway adds.
pub(crate) fn rest_message(body: &str) -> Value {
    let mut message: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    if let Some(fields) = message.as_object_mut() {
        for gateway_only in ["guild_id", "member", "channel_type"] {
            fields.remove(gateway_only);
        }
        let mentions = fields.get_mut("mentions").and_then(Value::as_array_mut);
        for mention in mentions.into_iter().flatten().filter_map(Value::as_object_mut) {
            mention.remove("member");
        }
    }
    message
}

/// Who wrote a message.
pub(super) fn author_of(message: &Value) -> Option<Id> {
    message.pointer("/author/id")?.as_str()?.parse().ok()
}

/// Discord's form of a timestamp: microseconds and an explicit offset.
pub(super) fn timestamp(unix_ms: u64) -> String {
    let nanos = i128::from(unix_ms) * 1_000_000;
    let at = time::OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
    let (date, clock) = (at.date(), at.time());
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}+00:00",
        date.year(),
        u8::from(date.month()),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second(),
        clock.microsecond()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_microseconds_and_an_offset() {
        assert_eq!(timestamp(1_770_128_116_171), "2026-02-03T14:15:16.171000+00:00");
    }
}
