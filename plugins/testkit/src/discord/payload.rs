//! What the double says: the JSON of messages, users, guilds and READY, in the shapes that Discord documents.
//!
//! Bodies are written once per dispatch and shared by every session; only the sequence number is spliced in per socket.

use serde::Serialize;
use serde_json::{Value, json};

use super::dispatch::{Dispatch, Scope};
use super::snowflake::Id;
use super::world::{Author, Channel, Guild, World};

/// When everybody joined, for members and guilds.
const JOINED_AT: &str = "2024-03-02T10:20:00.000000+00:00";

/// `channel.type` of a guild text channel and of a direct message.
const GUILD_TEXT: u8 = 0;
const DIRECT_MESSAGE: u8 = 1;

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
struct User<'a> {
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
struct Member {
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

fn member() -> Member {
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

fn user(author: &Author) -> User<'_> {
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

/// The bot's own user, as `/users/@me` and READY show it.
pub(crate) fn bot_user(bot: &Author) -> Value {
    json!({
        "id": bot.id, "username": bot.username, "discriminator": "0", "global_name": null, "avatar": null,
        "bot": true, "flags": 0, "public_flags": 0, "verified": true, "mfa_enabled": false, "locale": "en-US",
    })
}

/// What READY says.
pub(crate) struct Ready<'a> {
    pub(crate) session: &'a str,
    pub(crate) resume_url: &'a str,
    pub(crate) shard: (u64, u64),
    pub(crate) guilds: &'a [Id],
}

pub(crate) fn ready(ready: &Ready<'_>, world: &World) -> Dispatch {
    let guilds: Vec<Value> = ready.guilds.iter().map(|id| json!({ "id": id, "unavailable": true })).collect();
    let body = json!({
        "v": 10,
        "user": bot_user(&world.bot),
        "user_settings": {},
        "private_channels": [],
        "relationships": [],
        "presences": [],
        "guilds": guilds,
        "guild_join_requests": [],
        "geo_ordered_rtc_regions": [],
        "session_type": "normal",
        "session_id": ready.session,
        "resume_gateway_url": ready.resume_url,
        "shard": [ready.shard.0, ready.shard.1],
        "application": { "id": world.bot.id, "flags": 565_248 },
        "_trace": ["[\"jackfield-testkit\"]"],
    });
    Dispatch::control("READY", body.to_string())
}

pub(crate) fn resumed() -> Dispatch {
    Dispatch::control("RESUMED", r#"{"_trace":["[\"jackfield-testkit\"]"]}"#.to_owned())
}

pub(crate) fn channel(channel: &Channel, world: &World) -> Value {
    let Some(guild) = channel.guild else {
        let recipient = channel.recipient.and_then(|id| world.author(id));
        let recipients: Vec<User<'_>> = recipient.into_iter().map(user).collect();
        let last = channel.last_message();
        return json!({ "id": channel.id, "type": DIRECT_MESSAGE, "last_message_id": last, "recipients": recipients, "flags": 0 });
    };
    json!({
        "id": channel.id, "type": GUILD_TEXT, "guild_id": guild, "name": channel.name, "position": channel.position,
        "permission_overwrites": [], "topic": null, "nsfw": false, "last_message_id": channel.last_message(),
        "rate_limit_per_user": 0, "parent_id": null, "flags": 0,
    })
}

pub(crate) fn guild_create(guild: &Guild, world: &World) -> Dispatch {
    let channels: Vec<Value> =
        guild.channels.iter().filter_map(|id| world.channel(*id)).map(|known| channel(known, world)).collect();
    let everyone = json!({
        "id": guild.id, "name": "@everyone", "color": 0, "colors": { "primary_color": 0 }, "hoist": false, "position": 0,
        "permissions": "2248473465835073", "managed": false, "mentionable": false, "flags": 0, "icon": null,
        "unicode_emoji": null,
    });
    let mut bot = json!(member());
    if let Some(fields) = bot.as_object_mut() {
        fields.insert("user".to_owned(), bot_user(&world.bot));
    }
    let mut body = guild_settings();
    let own = json!({
        "id": guild.id, "name": guild.name, "owner_id": world.owner(), "joined_at": JOINED_AT, "large": false,
        "unavailable": false, "member_count": world.authors.len() + 1, "voice_states": [], "members": [bot],
        "channels": channels, "threads": [], "presences": [], "stage_instances": [], "guild_scheduled_events": [],
        "soundboard_sounds": [], "roles": [everyone], "emojis": [], "stickers": [], "features": [],
    });
    if let (Some(body), Value::Object(own)) = (body.as_object_mut(), own) {
        body.extend(own);
    }
    let scope = Scope { guild: Some(guild.id), ..Scope::default() };
    Dispatch::new("GUILD_CREATE".into(), body.to_string(), scope)
}

/// What every guild has alike.
fn guild_settings() -> Value {
    json!({
        "preferred_locale": "en-US", "afk_channel_id": null, "afk_timeout": 300, "application_id": null, "banner": null,
        "default_message_notifications": 0, "description": null, "discovery_splash": null, "explicit_content_filter": 0,
        "icon": null, "mfa_level": 0, "nsfw_level": 0, "premium_progress_bar_enabled": false,
        "premium_subscription_count": 0, "premium_tier": 0, "public_updates_channel_id": null, "rules_channel_id": null,
        "safety_alerts_channel_id": null, "splash": null, "system_channel_flags": 0, "system_channel_id": null,
        "vanity_url_code": null, "verification_level": 0, "widget_channel_id": null, "widget_enabled": false,
        "max_members": 500_000, "max_video_channel_users": 25, "max_stage_video_channel_users": 50,
    })
}

/// A dispatch of about `bytes` bytes whose kind is large in real life too.
pub(crate) fn oversized(bytes: usize, guild: Option<Id>) -> Dispatch {
    let body = json!({
        "guild_id": guild, "members": [], "chunk_index": 0, "chunk_count": 1, "nonce": "x".repeat(bytes),
    });
    let scope = Scope { guild, ..Scope::default() };
    Dispatch::new("GUILD_MEMBERS_CHUNK".into(), body.to_string(), scope)
}

/// Discord's form of a timestamp: microseconds and an explicit offset.
pub(crate) fn timestamp(unix_ms: u64) -> String {
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
