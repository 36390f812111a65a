//! People: who somebody is, whose name begins how, and the channel of direct messages with them.

use http::StatusCode;
use serde_json::Value;

use super::call::Received;
use super::form::{self, Form};
use super::reply::Reply;
use crate::discord::payload;
use crate::discord::snowflake::Id;
use crate::discord::state::State;

const SEARCH_DEFAULT: usize = 1;
const SEARCH_MAX: usize = 1000;

/// `GET /users/@me`.
pub(crate) fn me(state: &State) -> Reply {
    Reply::ok(payload::bot_user(&state.world.bot))
}

/// `GET /users/{id}`.
pub(crate) fn user(user: Id, state: &State) -> Result<Reply, Reply> {
    state.world.author(user).map(|author| Reply::ok(payload::user(author))).ok_or_else(Reply::unknown_user)
}

/// `POST /users/@me/channels`: the one channel with this person, however often it is asked for. That they take no direct
/// messages shows with the first message and not here.
pub(crate) fn open_direct(received: &Received, state: &State) -> Result<Reply, Reply> {
    let form = Form::new(received.fields()?);
    let Some(recipient) = form.id("recipient_id")? else {
        return Err(Reply::form(&[], "CHANNEL_RECIPIENT_REQUIRED", "At least one channel recipient is required."));
    };
    if recipient == state.world.bot.id {
        return Err(Reply::no_direct_messages(StatusCode::BAD_REQUEST));
    }
    let channel = state.world.direct_channel(recipient).and_then(|id| state.world.channel(id));
    let nobody = || Reply::error(StatusCode::BAD_REQUEST, 50_033, "Invalid Recipient(s)");
    channel.map(|channel| Reply::ok(payload::channel(channel, &state.world))).ok_or_else(nobody)
}

/// `GET /guilds/{id}/members/search`: members whose username or nickname begins with `query`, by id. The case of letters makes
/// no difference here; Discord does not say. Everybody is a member of every guild.
pub(crate) fn search(guild: Id, query: &str, state: &State) -> Result<Reply, Reply> {
    let (mut wanted, mut limit) = (None, SEARCH_DEFAULT);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "query" => wanted = Some(value.to_lowercase()),
            "limit" => limit = form::query_number("limit", &value, (1, SEARCH_MAX))?,
            _ => {}
        }
    }
    let required = || Reply::form(&["query"], "BASE_TYPE_REQUIRED", "This field is required");
    let wanted = wanted.filter(|wanted| !wanted.is_empty()).ok_or_else(required)?;
    state.world.guild(guild).ok_or_else(Reply::unknown_guild)?;
    let begins = |name: &str| name.to_lowercase().starts_with(&wanted);
    let everybody = state.world.authors.iter().chain([&state.world.bot]);
    let found =
        everybody.filter(|author| begins(&author.username) || author.nick.as_deref().is_some_and(begins)).take(limit);
    Ok(Reply::ok(found.map(payload::guild_member).collect::<Value>()))
}
