//! What the operator may set for a connection. The host has checked it against [`SCHEMA`] before it gets here.

use serde::Deserialize;

/// `GUILDS`: guilds, channels and threads.
pub const GUILDS: u32 = 1 << 0;
/// `GUILD_MEMBERS`: who joins and leaves. Privileged.
pub const GUILD_MEMBERS: u32 = 1 << 1;
/// `GUILD_MESSAGES`.
pub const GUILD_MESSAGES: u32 = 1 << 9;
/// `DIRECT_MESSAGES`.
pub const DIRECT_MESSAGES: u32 = 1 << 12;
/// `MESSAGE_CONTENT`: what guild messages say. Privileged.
pub const MESSAGE_CONTENT: u32 = 1 << 15;

/// What a bot needs to read and be talked to.
pub const INTENTS_DEFAULT: u32 = GUILDS | GUILD_MESSAGES | DIRECT_MESSAGES | MESSAGE_CONTENT;

/// JSON Schema of the configuration. Everything has a default.
pub const SCHEMA: &str = r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "intents": {
      "type": "integer",
      "minimum": 1,
      "maximum": 4294967295,
      "default": 37377,
      "description": "Gateway intents, added up. 37377 is GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES and MESSAGE_CONTENT."
    },
    "shard": {
      "type": "array",
      "items": { "type": "integer", "minimum": 0, "maximum": 65535 },
      "minItems": 2,
      "maxItems": 2,
      "description": "This session's shard and how many there are, such as [0, 4]. Leave out below 2,500 guilds."
    },
    "presence": {
      "type": "string",
      "enum": ["online", "idle", "dnd", "invisible"],
      "description": "How the bot shows itself. Discord shows a connected bot as online where nothing is set."
    }
  }
}"#;

/// The configuration of one connection.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Gateway intents.
    #[serde(default = "intents_default")]
    pub intents: u32,
    /// This session's shard and how many there are.
    pub shard: Option<(u16, u16)>,
    /// How the bot shows itself.
    pub presence: Option<Presence>,
}

/// How the bot shows itself.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// Green.
    Online,
    /// Yellow.
    Idle,
    /// Do not disturb.
    Dnd,
    /// As if it were not there.
    Invisible,
}

impl Presence {
    /// The word of the gateway.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Idle => "idle",
            Self::Dnd => "dnd",
            Self::Invisible => "invisible",
        }
    }
}

fn intents_default() -> u32 {
    INTENTS_DEFAULT
}

impl Default for Config {
    fn default() -> Self {
        Self { intents: INTENTS_DEFAULT, shard: None, presence: None }
    }
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// Says what is wrong and what to write instead. The schema can't say that a shard is smaller than their number.
    pub fn parse(json: &str) -> Result<Self, String> {
        let config: Self = serde_json::from_str(json).map_err(|wrong| format!("configuration: {wrong}"))?;
        match config.shard {
            Some((id, count)) if id >= count => Err(format!(
                "configuration: shard [{id}, {count}] does not exist; the first of {count} is [0, {count}]"
            )),
            _ => Ok(config),
        }
    }

    /// What a session was opened with. Another one has to be opened when it changes.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let (id, count) = self.shard.unwrap_or((0, 1));
        let presence = self.presence.map_or("-", Presence::word);
        format!("{}/{id}/{count}/{presence}", self.intents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_documented_number() {
        assert_eq!(INTENTS_DEFAULT, 37_377);
        assert_eq!(Config::parse("{}").unwrap(), Config::default());
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        assert_eq!(schema["properties"]["intents"]["default"], INTENTS_DEFAULT);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [r#"{"shard":[4,4]}"#, r#"{"intent":1}"#, r#"{"intents":"1"}"#] {
            assert!(Config::parse(wrong).is_err(), "{wrong}");
        }
    }
}
