//! Messages over REST: reading a channel's history, and writing into it.

use http::StatusCode;
use serde_json::{Value, json};

use super::payload::{self, Given};
use super::rest::{self, Reply};
use super::shared::Shared;
use super::snowflake::Id;

/// Longest message. Discord says "characters"; the double counts Unicode scalar values.
const CONTENT_CHARS_MAX: usize = 2000;

const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: usize = 100;

/// `GET /channels/{id}/messages`: newest first; with `after` those that came next after it, still newest first.
pub(crate) fn list(channel: &str, query: &str, shared: &Shared) -> Reply {
    let (mut after, mut before, mut limit) = (None, None, LIMIT_DEFAULT);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let understood = match &*name {
            "after" => value.parse::<Id>().map(|id| after = Some(id)).is_ok(),
            "before" => value.parse::<Id>().map(|id| before = Some(id)).is_ok(),
            "limit" => value.parse().map(|given| limit = given).is_ok() && (1..=LIMIT_MAX).contains(&limit),
            "around" => false,
            _ => true,
        };
        if !understood {
            return form_error(
                &name,
                "NUMBER_TYPE_COERCE",
                &format!("Value \"{value}\" is not usable (the double has no `around`)."),
            );
        }
    }
    let state = shared.lock();
    let Some(channel) = channel.parse::<Id>().ok().and_then(|id| state.world.channel(id)) else {
        return rest::unknown_channel();
    };
    let wanted = |id: Id| after.is_none_or(|after| id > after) && before.is_none_or(|before| id < before);
    let chosen = channel.history().filter(|message| message.scope.message.is_some_and(wanted));
    let mut newest_first: Vec<_> = if after.is_some() {
        let mut next: Vec<_> = chosen.take(limit).collect();
        next.reverse();
        next
    } else {
        chosen.rev().take(limit).collect()
    };
    let content = rest::reads_content(shared);
    rest::ok(newest_first.drain(..).map(|message| payload::rest_message(message.body(content))).collect())
}

/// `POST /channels/{id}/messages`: the bot says something, and the gateway tells everybody, the bot included.
pub(crate) fn create(channel: &str, body: &Value, shared: &Shared) -> Reply {
    let content = body.get("content").and_then(Value::as_str).unwrap_or_default();
    if content.chars().count() > CONTENT_CHARS_MAX {
        let text = format!("Must be {CONTENT_CHARS_MAX} or fewer in length.");
        return form_error("content", "BASE_TYPE_MAX_LENGTH", &text);
    }
    let list = |name: &str| body.get(name).filter(|value| value.as_array().is_some_and(|list| !list.is_empty()));
    let given = Given {
        nonce: body.get("nonce").filter(|nonce| !nonce.is_null()),
        embeds: list("embeds"),
        components: list("components"),
        message_reference: body.get("message_reference").filter(|reference| reference.is_object()),
    };
    if content.is_empty() && given.embeds.is_none() && given.components.is_none() {
        return rest::error(StatusCode::BAD_REQUEST, 50_006, "Cannot send an empty message");
    }
    let enforce = body.get("enforce_nonce").and_then(Value::as_bool).unwrap_or(false);
    let enforced = given.nonce.filter(|_| enforce).map(|nonce| format!("{channel}:{nonce}"));
    let Ok(channel) = channel.parse::<Id>() else { return rest::unknown_channel() };
    match shared.lock().post_once(channel, content, given, enforced) {
        Ok(message) => rest::ok(payload::rest_message(message.body(true))),
        Err(_) => rest::unknown_channel(),
    }
}

fn form_error(field: &str, code: &str, message: &str) -> Reply {
    let mut body = json!({ "message": "Invalid Form Body", "code": 50_035, "errors": {} });
    if let Some(errors) = body.get_mut("errors").and_then(Value::as_object_mut) {
        errors.insert(field.to_owned(), json!({ "_errors": [{ "code": code, "message": message }] }));
    }
    (StatusCode::BAD_REQUEST, body)
}
