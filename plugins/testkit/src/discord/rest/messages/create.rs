//! Saying something: `POST /channels/{id}/messages`.

use serde_json::Value;

use super::draft::Draft;
use crate::discord::payload::{self, Given};
use crate::discord::rest::call::{self, Received};
use crate::discord::rest::form::Form;
use crate::discord::rest::reply::Reply;
use crate::discord::said::Said;
use crate::discord::snowflake::Id;
use crate::discord::state::State;
use crate::discord::world::Channel;

/// Longest nonce.
const NONCE_CHARS_MAX: usize = 25;

/// `message_reference.type` of a reply.
const REPLY: u64 = 0;

/// The bot says something, and the gateway tells everybody, the bot included.
pub(crate) fn create(channel: Id, received: &Received, state: &mut State) -> Result<Reply, Reply> {
    let form = Form::new(received.fields()?);
    let place = state.rest.refusals.writable(channel, &state.world)?;
    let draft = Draft::read(&form)?;
    let nonce = nonce(&form)?;
    let enforced = form.flag("enforce_nonce")?.unwrap_or(false);
    let referenced = referenced(&form, place)?;
    if draft.is_empty() {
        return Err(Reply::empty_message());
    }
    let nonce_text = nonce.and_then(call::nonce_text);
    let remembered = nonce_text.clone().filter(|_| enforced);
    let now_ms = state.now_ms();
    if let Some(nonce) = &remembered
        && let Some(made) = state.rest.nonces.made(nonce, now_ms)
    {
        // As it is by now: it may have been changed since.
        let current = made.scope.channel.zip(made.scope.message);
        let current = current.and_then(|(channel, message)| state.world.channel(channel)?.message(message));
        let shown = current.unwrap_or(&made);
        return Ok(Reply::ok(payload::rest_message(shown.body(true))).about(made.scope.message));
    }
    let (embeds, components) = (list(draft.embeds), list(draft.components));
    let given = Given {
        nonce,
        embeds: embeds.as_ref(),
        components: components.as_ref(),
        referenced: referenced.as_ref(),
        flags: draft.flags.unwrap_or_default(),
        allowed: draft.allowed.clone(),
    };
    let content = draft.content.unwrap_or_default();
    let bot = state.world.bot.id;
    let made = state.post(channel, bot, content, &given).map_err(|_| Reply::unknown_channel())?;
    let message = made.scope.message.unwrap_or(channel);
    state.log.say(Said { channel, message, nonce: nonce_text, content: content.into() });
    if let Some(nonce) = remembered {
        state.rest.nonces.remember(nonce, made.clone(), now_ms);
    }
    Ok(Reply::ok(payload::rest_message(made.body(true))).about(Some(message)))
}

fn list(given: Option<&Vec<Value>>) -> Option<Value> {
    given.filter(|list| !list.is_empty()).cloned().map(Value::Array)
}

/// A string or a whole number.
fn nonce<'a>(form: &Form<'a>) -> Result<Option<&'a Value>, Reply> {
    let Some(nonce) = form.get("nonce") else { return Ok(None) };
    if !(nonce.is_string() || nonce.is_i64() || nonce.is_u64()) {
        return Err(form.wrong("nonce", "NONCE_TYPE_INVALID_TYPE", "This field must be a string or integer."));
    }
    if call::nonce_text(nonce).is_some_and(|text| text.chars().count() > NONCE_CHARS_MAX) {
        return Err(form.wrong("nonce", "NONCE_TYPE_TOO_LONG", "Must be 25 or fewer characters long."));
    }
    Ok(Some(nonce))
}

/// The message that this one answers, as the REST API shows it.
fn referenced(form: &Form<'_>, place: &Channel) -> Result<Option<Value>, Reply> {
    let Some(reference) = form.object("message_reference")? else { return Ok(None) };
    if reference.number("type")?.is_some_and(|kind| kind != REPLY) {
        return Err(Reply::form(&["message_reference"], "DOUBLE", "The double has no forwards: use type 0, a reply."));
    }
    let Some(message) = reference.id("message_id")? else {
        return Err(reference.wrong("message_id", "BASE_TYPE_REQUIRED", "This field is required"));
    };
    let elsewhere = reference.id("channel_id")?.is_some_and(|channel| channel != place.id);
    let found = place.message(message).filter(|_| !elsewhere);
    if found.is_none() && reference.flag("fail_if_not_exists")?.unwrap_or(true) {
        return Err(Reply::form(&["message_reference"], "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message"));
    }
    Ok(found.map(|message| payload::rest_message(message.body(true))))
}
