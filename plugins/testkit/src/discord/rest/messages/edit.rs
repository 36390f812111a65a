//! Changing what was said: `PATCH /channels/{id}/messages/{id}`.

use serde_json::Value;

use super::draft::Draft;
use crate::clock;
use crate::discord::payload::{self, Change};
use crate::discord::rest::call::Received;
use crate::discord::rest::form::Form;
use crate::discord::rest::reply::Reply;
use crate::discord::snowflake::Id;
use crate::discord::state::State;

/// The bot changes a message of its own. What the body does not name stays; `null` takes away.
pub(crate) fn edit(channel: Id, message: Id, received: &Received, state: &mut State) -> Result<Reply, Reply> {
    let form = Form::new(received.fields()?);
    let place = state.rest.refusals.visible(channel, &state.world)?;
    let stored = place.message(message).ok_or_else(Reply::unknown_message)?;
    let mut current: Value = serde_json::from_str(stored.body(true)).unwrap_or(Value::Null);
    if current.pointer("/author/id").and_then(Value::as_str) != Some(state.world.bot.id.to_string().as_str()) {
        return Err(Reply::not_the_author());
    }
    let draft = Draft::read(&form)?;
    let list = |name: &str, given: Option<&Vec<Value>>| {
        form.has(name).then(|| Value::Array(given.cloned().unwrap_or_default()))
    };
    let change = Change {
        content: draft.content,
        embeds: list("embeds", draft.embeds),
        components: list("components", draft.components),
        flags: draft.flags,
        allowed: &draft.allowed,
    };
    if change.is_nothing() {
        return Ok(Reply::ok(payload::rest_message(stored.body(true))).about(Some(message)));
    }
    change.apply(&mut current, &state.world, clock::unix_ms());
    if is_empty(&current) {
        return Err(Reply::empty_message());
    }
    let update = payload::message_update(&current, stored.scope);
    let changed = state.publish(update);
    state.world.replace(&changed);
    Ok(Reply::ok(payload::rest_message(changed.body(true))).about(Some(message)))
}

fn is_empty(message: &Value) -> bool {
    let nothing = |name: &str| message.get(name).and_then(Value::as_array).is_none_or(Vec::is_empty);
    message.get("content").and_then(Value::as_str).is_none_or(str::is_empty)
        && nothing("embeds")
        && nothing("components")
}
