//! Messages, and the people in them.

use serde::Serialize;
use serde_json::Value;

use super::{DIRECT_MESSAGE, GUILD_TEXT, JOINED_AT};
use crate::discord::dispatch::{Dispatch, Scope};
use crate::discord::snowflake::Id;
use crate::discord::world::{Author, Channel, World};

/// A message about to be made.
pub(crate) struct Post<'a> {
    pub(crate) id: Id,
    pub(crate) channel: &'a Channel,
    pub(crate) author: &'a Author,
    pub(crate) content: &'a str,
    /// What the author of an API call gave along and gets back as it is.
    pub(crate) given: Given<'a>,
}

/// Fields of a created message that are echoed.
#[derive(Default, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) nonce: Option<&'a Value>,
    pub(crate) embeds: Option<&'a Value>,
    pub(crate) components: Option<&'a Value>,
    pub(crate) message_reference: Option<&'a Value>,
}

#[derive(Serialize)]
pub(super) struct User<'a> {
    id: Id,
    username: &'a str,
    discriminator: &'static str,
    global_name: Option<&'a str>,
    avatar: Option<()>,
    public_flags: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bot: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<Member>,
}

#[derive(Serialize)]
pub(super) struct Member {
    roles: [Id; 0],
    nick: Option<()>,
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
    mentions: Vec<User<'a>>,
    mention_roles: Vec<Id>,
    mention_everyone: bool,
    id: Id,
    flags: u32,
    embeds: &'a Value,
    edited_timestamp: Option<()>,
    content: &'a str,
    components: &'a Value,
    channel_id: Id,
    author: User<'a>,
    attachments: [(); 0],
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<Member>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guild_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_reference: Option<&'a Value>,
    channel_type: u8,
}

pub(super) fn member() -> Member {
    Member {
        roles: [],
        nick: None,
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
        member: None,
    }
}

/// The `MESSAGE_CREATE` of a post.
pub(crate) fn message_create(post: &Post<'_>, world: &World) -> Dispatch {
    let empty = Value::Array(Vec::new());
    let in_guild = post.channel.guild.is_some();
    let mentioned = mentioned_users(post.content);
    let mentions_bot = mentioned.contains(&world.bot.id);
    let mentions = mentioned.iter().filter_map(|id| world.author(*id));
    let message = Message {
        kind: 0,
        tts: false,
        timestamp: timestamp(post.id.unix_ms()),
        pinned: false,
        mentions: mentions.map(|author| User { member: in_guild.then(member), ..user(author) }).collect(),
        mention_roles: mentioned_roles(post.content),
        mention_everyone: false,
        id: post.id,
        flags: 0,
        embeds: post.given.embeds.unwrap_or(&empty),
        edited_timestamp: None,
        content: post.content,
        components: post.given.components.unwrap_or(&empty),
        channel_id: post.channel.id,
        author: user(post.author),
        attachments: [],
        member: in_guild.then(member),
        guild_id: post.channel.guild,
        nonce: post.given.nonce,
        message_reference: post.given.message_reference,
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

/// Discord's form of a timestamp: microseconds and an explicit offset.
fn timestamp(unix_ms: u64) -> String {
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

fn mentioned_users(content: &str) -> Vec<Id> {
    mentions(content, |inside| inside.strip_prefix('!').unwrap_or(inside).parse().ok())
}

fn mentioned_roles(content: &str) -> Vec<Id> {
    mentions(content, |inside| inside.strip_prefix('&')?.parse().ok())
}

/// The distinct ids between `<@` and `>`, in the order of their first appearance.
fn mentions(content: &str, id: impl Fn(&str) -> Option<Id>) -> Vec<Id> {
    let mut found = Vec::new();
    for rest in content.split("<@").skip(1) {
        let mentioned = rest.split_once('>').and_then(|(inside, _)| id(inside));
        if let Some(mentioned) = mentioned.filter(|mentioned| !found.contains(mentioned)) {
            found.push(mentioned);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_read_from_the_text() {
        let text = "<@12> and <@!13>, <@12> again, role <@&14>, broken <@x> <@15";
        assert_eq!(mentioned_users(text), [Id::new(12), Id::new(13)]);
        assert_eq!(mentioned_roles(text), [Id::new(14)]);
    }

    #[test]
    fn timestamps_have_microseconds_and_an_offset() {
        assert_eq!(timestamp(1_770_128_116_171), "2026-02-03T14:15:16.171000+00:00");
    }
}
