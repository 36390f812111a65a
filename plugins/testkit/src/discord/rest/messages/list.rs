//! Reading: a channel's history, or one message of it.

use serde_json::Value;

use super::reads_content;
use crate::discord::payload;
use crate::discord::rest::form;
use crate::discord::rest::reply::Reply;
use crate::discord::snowflake::Id;
use crate::discord::state::State;

const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: usize = 100;

/// `GET /channels/{id}/messages`: newest first; with `after` those that came next after it, still newest first.
pub(crate) fn list(channel: Id, query: &str, state: &State) -> Result<Reply, Reply> {
    let (mut after, mut before, mut limit) = (None, None, LIMIT_DEFAULT);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "after" => after = Some(form::query_id("after", &value)?),
            "before" => before = Some(form::query_id("before", &value)?),
            "limit" => limit = form::query_number("limit", &value, (1, LIMIT_MAX))?,
            "around" => return Err(Reply::form(&["around"], "DOUBLE", "The double has no `around`.")),
            _ => {}
        }
    }
    let channel = state.rest.refusals.visible(channel, &state.world)?;
    let wanted = |id: Id| after.is_none_or(|after| id > after) && before.is_none_or(|before| id < before);
    let chosen = channel.history().filter(|message| message.scope.message.is_some_and(wanted));
    let mut newest_first: Vec<_> = if after.is_some() {
        let mut next: Vec<_> = chosen.take(limit).collect();
        next.reverse();
        next
    } else {
        chosen.rev().take(limit).collect()
    };
    let content = reads_content(state);
    let messages = newest_first.drain(..).map(|message| payload::rest_message(message.body(content)));
    Ok(Reply::ok(messages.collect::<Value>()))
}

/// `GET /channels/{id}/messages/{id}`.
pub(crate) fn get(channel: Id, message: Id, state: &State) -> Result<Reply, Reply> {
    let channel = state.rest.refusals.visible(channel, &state.world)?;
    let found = channel.message(message).ok_or_else(Reply::unknown_message)?;
    Ok(Reply::ok(payload::rest_message(found.body(reads_content(state)))).about(Some(message)))
}
