//! One dispatch: written once, shared by every session that gets it, with its sequence number spliced in per session.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::intents::{self, Intents};
use super::snowflake::Id;

/// Fields that sessions without the MESSAGE_CONTENT intent get empty.
const CONTENT_FIELDS: [&str; 4] = ["embeds", "attachments", "components", "stickers"];

/// What a frame adds around a body, at most: kind, sequence number, braces.
const FRAME_OVERHEAD_BYTES: usize = 96;

/// What a dispatch is about, and who may read it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scope {
    pub(crate) guild: Option<Id>,
    pub(crate) channel: Option<Id>,
    pub(crate) message: Option<Id>,
    /// Whether sessions without MESSAGE_CONTENT see the content too: direct messages, mentions of the bot, its own messages.
    pub(crate) content_for_all: bool,
}

#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) kind: Arc<str>,
    pub(crate) scope: Scope,
    /// READY and RESUMED belong to one connection: they have sequence numbers but are not sent again.
    pub(crate) replayable: bool,
    needs: Option<u64>,
    body: String,
    withheld: OnceLock<String>,
}

impl Dispatch {
    pub(crate) fn new(kind: Arc<str>, body: String, scope: Scope) -> Self {
        let needs = intents::needed_for(&kind, scope.guild.is_some());
        Self { kind, scope, replayable: true, needs, body, withheld: OnceLock::new() }
    }

    /// A dispatch that every session gets once, on one connection.
    pub(crate) fn control(kind: &'static str, body: String) -> Self {
        let control = Self::new(kind.into(), body, Scope::default());
        Self { replayable: false, needs: None, ..control }
    }

    /// A dispatch from a test: what it is about is read from the payload.
    pub(crate) fn raw(kind: &str, body: &Value, bot: Id) -> Self {
        let id = |name: &str| body.get(name).and_then(Value::as_str).and_then(|text| text.parse::<Id>().ok());
        let is_message = matches!(kind, "MESSAGE_CREATE" | "MESSAGE_UPDATE" | "MESSAGE_DELETE");
        let is_bot = |user: &Value| user.get("id").and_then(Value::as_str) == Some(bot.to_string().as_str());
        let mentions_bot = body.get("mentions").and_then(Value::as_array).is_some_and(|users| users.iter().any(is_bot));
        let guild = id("guild_id").or_else(|| id("id").filter(|_| kind.starts_with("GUILD_")));
        let scope = Scope {
            guild,
            channel: id("channel_id"),
            message: if is_message { id("id") } else { id("message_id") },
            content_for_all: guild.is_none() || mentions_bot || body.get("author").is_some_and(is_bot),
        };
        Self::new(kind.into(), body.to_string(), scope)
    }

    /// Whether a session with these intents on this shard gets it. Direct messages go to shard 0.
    pub(crate) fn reaches(&self, intents: Intents, (shard, shards): (u64, u64)) -> bool {
        self.needs.is_none_or(|bits| intents.includes_any(bits))
            && self.scope.guild.map_or(0, |guild| guild.shard(shards)) == shard
    }

    /// The payload, with or without what people wrote.
    pub(crate) fn body(&self, content: bool) -> &str {
        if content || self.scope.content_for_all || !self.kind.starts_with("MESSAGE_") {
            return &self.body;
        }
        self.withheld.get_or_init(|| without_content(&self.body))
    }

    /// The whole frame with this sequence number.
    pub(crate) fn frame(&self, seq: u64, content: bool) -> String {
        let body = self.body(content);
        let mut frame = String::with_capacity(body.len() + FRAME_OVERHEAD_BYTES);
        // Writing to a string can't fail.
        _ = write!(frame, r#"{{"t":"{}","s":{seq},"op":0,"d":{body}}}"#, self.kind);
        frame
    }
}

fn without_content(body: &str) -> String {
    let Ok(mut message) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
    if let Some(fields) = message.as_object_mut() {
        if let Some(content) = fields.get_mut("content") {
            *content = Value::String(String::new());
        }
        for name in CONTENT_FIELDS {
            if let Some(list) = fields.get_mut(name) {
                *list = Value::Array(Vec::new());
            }
        }
        fields.remove("poll");
    }
    message.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALONE: (u64, u64) = (0, 1);

    fn message(extra: &Value) -> Dispatch {
        let mut body = json!({
            "id": "5", "guild_id": "4", "channel_id": "3", "content": "hi", "embeds": [{}], "components": [{}],
            "attachments": [{}], "mentions": [], "author": { "id": "9" },
        });
        for (name, value) in extra.as_object().unwrap() {
            body[name] = value.clone();
        }
        Dispatch::raw("MESSAGE_CREATE", &body, Id::new(7))
    }

    #[test]
    fn content_is_withheld_without_the_intent() {
        let plain = message(&json!({}));
        let seen: Value = serde_json::from_str(plain.body(false)).unwrap();
        assert_eq!(seen["content"], "");
        for name in ["embeds", "components", "attachments"] {
            assert_eq!(seen[name], json!([]), "{name}");
        }
        assert!(plain.body(true).contains("\"hi\""));
    }

    #[test]
    fn content_is_shown_where_the_bot_is_meant() {
        for extra in
            [json!({ "mentions": [{ "id": "7" }] }), json!({ "author": { "id": "7" } }), json!({ "guild_id": null })]
        {
            assert!(message(&extra).body(false).contains("\"hi\""), "{extra}");
        }
    }

    #[test]
    fn intents_and_shards_decide_who_gets_it() {
        let guild_messages = Intents(1 << 9);
        let direct_messages = Intents(1 << 12);
        let in_guild = message(&json!({}));
        assert!(in_guild.reaches(guild_messages, ALONE) && !in_guild.reaches(direct_messages, ALONE));
        let direct = message(&json!({ "guild_id": null }));
        assert!(direct.reaches(direct_messages, ALONE) && !direct.reaches(guild_messages, ALONE));
        let elsewhere = message(&json!({ "guild_id": Id::at(1_700_000_000_001, 0).to_string() }));
        let reached: Vec<bool> = (0..2).map(|shard| elsewhere.reaches(guild_messages, (shard, 2))).collect();
        assert_eq!(reached.iter().filter(|yes| **yes).count(), 1);
    }

    #[test]
    fn the_sequence_number_is_spliced_in() {
        let frame: Value = serde_json::from_str(&message(&json!({})).frame(42, true)).unwrap();
        assert_eq!((&frame["t"], &frame["s"], &frame["op"]), (&json!("MESSAGE_CREATE"), &json!(42), &json!(0)));
        assert_eq!(frame["d"]["content"], "hi");
    }
}
