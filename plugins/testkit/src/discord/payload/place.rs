//! Where things happen: guilds, channels, READY; and what else a session is told.

use serde_json::{Value, json};

use super::message::{self, User, member};
use super::{DIRECT_MESSAGE, GUILD_TEXT, JOINED_AT};
use crate::discord::dispatch::{Dispatch, Scope};
use crate::discord::snowflake::Id;
use crate::discord::world::{Author, Channel, Guild, Role, World};

/// What everybody may do, mentioning everyone included; the other roles add nothing.
const EVERYONE_PERMISSIONS: &str = "2248473465835073";
const NO_PERMISSIONS: &str = "0";

/// The bot's own user, as `/users/@me` and READY show it.
pub(crate) fn bot_user(bot: &Author) -> Value {
    json!({
        "id": bot.id, "username": bot.username, "discriminator": "0", "global_name": null, "avatar": null,
        "bot": true, "flags": 0, "public_flags": 0, "verified": true, "mfa_enabled": false, "locale": "en-US",
    })
}

/// Somebody's user, as `/users/{id}` shows it.
pub(crate) fn user(author: &Author) -> Value {
    json!(message::user(author))
}

/// Somebody as a member of a guild, with the user.
pub(crate) fn guild_member(author: &Author) -> Value {
    let mut member = json!(member(author));
    if let Some(fields) = member.as_object_mut() {
        fields.insert("user".to_owned(), user(author));
    }
    member
}

/// The roles of a guild, `@everyone` first.
pub(crate) fn roles(guild: &Guild) -> Value {
    let others = guild
        .roles
        .iter()
        .zip(1..)
        .map(|(Role { id, name, mentionable }, position)| role(*id, name, position, *mentionable, NO_PERMISSIONS));
    [role(guild.id, "@everyone", 0, false, EVERYONE_PERMISSIONS)].into_iter().chain(others).collect()
}

fn role(id: Id, name: &str, position: u64, mentionable: bool, permissions: &str) -> Value {
    json!({
        "id": id, "name": name, "color": 0,
        "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
        "hoist": false, "position": position, "permissions": permissions, "managed": false,
        "mentionable": mentionable, "flags": 0, "icon": null, "unicode_emoji": null,
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
        let recipients: Vec<User<'_>> = recipient.into_iter().map(message::user).collect();
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
    let mut bot = json!(member(&world.bot));
    if let Some(fields) = bot.as_object_mut() {
        fields.insert("user".to_owned(), bot_user(&world.bot));
    }
    let mut body = guild_settings();
    let own = json!({
        "id": guild.id, "name": guild.name, "owner_id": world.owner(), "joined_at": JOINED_AT, "large": false,
        "unavailable": false, "member_count": world.authors.len() + 1, "voice_states": [], "members": [bot],
        "channels": channels, "threads": [], "presences": [], "stage_instances": [], "guild_scheduled_events": [],
        "soundboard_sounds": [], "roles": roles(guild), "emojis": [], "stickers": [], "features": [],
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
