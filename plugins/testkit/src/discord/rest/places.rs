//! Places: where the gateway is, which channels and roles a guild has.

use serde_json::{Value, json};

use super::reply::Reply;
use crate::discord::payload;
use crate::discord::server;
use crate::discord::shared::Shared;
use crate::discord::snowflake::Id;
use crate::discord::state::State;

/// Where clients that came under Discord's own name find the gateway.
const PUBLIC_GATEWAY_URL: &str = "wss://gateway.discord.gg";

/// `GET /gateway`.
pub(crate) fn gateway(host: &str, shared: &Shared) -> Reply {
    Reply::ok(json!({ "url": gateway_url(host, shared) }))
}

/// `GET /gateway/bot`.
pub(crate) fn gateway_bot(host: &str, state: &mut State, shared: &Shared) -> Reply {
    let now_ms = state.now_ms();
    let starts = shared.script.session_starts;
    Reply::ok(json!({
        "url": gateway_url(host, shared),
        "shards": 1,
        "session_start_limit": {
            "total": starts.total,
            "remaining": state.starts.remaining(now_ms),
            "reset_after": state.starts.reset_after_ms(now_ms),
            "max_concurrency": starts.max_concurrency,
        },
    }))
}

fn gateway_url(host: &str, shared: &Shared) -> String {
    let public = server::is_under(host, "discord.com") || server::is_under(host, "discordapp.com");
    if public { PUBLIC_GATEWAY_URL.to_owned() } else { shared.origin("ws") }
}

/// `GET /guilds/{id}/channels`. What the bot can't see is listed all the same, as at Discord.
pub(crate) fn guild_channels(guild: Id, state: &State) -> Result<Reply, Reply> {
    let guild = state.world.guild(guild).ok_or_else(Reply::unknown_guild)?;
    let channels = guild.channels.iter().filter_map(|id| state.world.channel(*id));
    Ok(Reply::ok(channels.map(|channel| payload::channel(channel, &state.world)).collect::<Value>()))
}

/// `GET /guilds/{id}/roles`.
pub(crate) fn guild_roles(guild: Id, state: &State) -> Result<Reply, Reply> {
    let guild = state.world.guild(guild).ok_or_else(Reply::unknown_guild)?;
    Ok(Reply::ok(payload::roles(guild)))
}

/// `GET /channels/{id}`.
pub(crate) fn channel(channel: Id, state: &State) -> Result<Reply, Reply> {
    let channel = state.rest.refusals.visible(channel, &state.world)?;
    Ok(Reply::ok(payload::channel(channel, &state.world)))
}
