//! Messages that are changed.

use serde_json::{Map, Value, json};

use super::mentions::Mentions;
use super::message;
use crate::discord::dispatch::{Dispatch, Scope};
use crate::discord::rest::Allowed;
use crate::discord::world::World;

/// What becomes different. What is none stays.
pub(crate) struct Change<'a> {
    pub(crate) content: Option<&'a str>,
    pub(crate) embeds: Option<Value>,
    pub(crate) components: Option<Value>,
    pub(crate) flags: Option<u64>,
    pub(crate) allowed: &'a Allowed,
}

impl Change<'_> {
    pub(crate) fn is_nothing(&self) -> bool {
        self.content.is_none() && self.embeds.is_none() && self.components.is_none() && self.flags.is_none()
    }

    /// Changes the JSON of a message. Whom it addresses is read anew from a new text, with what this change allows.
    pub(crate) fn apply(self, body: &mut Value, world: &World, unix_ms: u64) {
        let replied = body.get("referenced_message").and_then(message::author_of);
        let Some(fields) = body.as_object_mut() else { return };
        if let Some(content) = self.content {
            let in_guild = fields.contains_key("guild_id");
            let mentions = Mentions::of(content, self.allowed, replied, in_guild, world);
            fields.insert("content".to_owned(), json!(content));
            if let Value::Object(mentions) = json!(mentions) {
                fields.extend(mentions);
            }
        }
        let mut set = |name: &str, value: Option<Value>| put(fields, name, value);
        set("embeds", self.embeds);
        set("components", self.components);
        set("flags", self.flags.map(Value::from));
        set("edited_timestamp", Some(json!(message::timestamp(unix_ms))));
        fields.remove("nonce");
    }
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value);
    }
}

/// The `MESSAGE_UPDATE` of a message of the bot, which everybody may read.
pub(crate) fn message_update(body: &Value, scope: Scope) -> Dispatch {
    Dispatch::new("MESSAGE_UPDATE".into(), body.to_string(), scope)
}
