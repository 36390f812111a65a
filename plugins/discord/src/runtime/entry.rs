//! The two frames that begin a session, and what Discord answers.
//!
//! The token is a placeholder that the host fills in. Nothing that Discord or a person chose stands in these frames
//! unchecked, so the placeholder stands exactly once.

use std::borrow::Cow;

use serde::Deserialize;

use crate::config::Config;
use crate::describe::BOT_TOKEN;
use crate::wire::{Id, Text};

/// Longest session id that is believed, in bytes. Discord's are 32 hexadecimal digits.
const SESSION_ID_BYTES_MAX: usize = 128;

pub(super) fn identify(config: &Config) -> String {
    let token = jackfield_sdk::secret(BOT_TOKEN);
    let shard = config.shard.map(|(id, count)| format!(r#","shard":[{id},{count}]"#)).unwrap_or_default();
    let presence = config
        .presence
        .map(|presence| {
            format!(r#","presence":{{"since":null,"activities":[],"status":"{}","afk":false}}"#, presence.word())
        })
        .unwrap_or_default();
    format!(
        r#"{{"op":2,"d":{{"token":"{token}","intents":{},"properties":{{"os":"linux","browser":"jackfield","device":"jackfield"}}{shard}{presence}}}}}"#,
        config.intents,
    )
}

pub(super) fn resume(session_id: &str, seq: u64) -> String {
    let token = jackfield_sdk::secret(BOT_TOKEN);
    format!(r#"{{"op":6,"d":{{"token":"{token}","session_id":"{session_id}","seq":{seq}}}}}"#)
}

pub(super) fn heartbeat(up_to: Option<u64>) -> String {
    match up_to {
        Some(seq) => format!(r#"{{"op":1,"d":{seq}}}"#),
        None => r#"{"op":1,"d":null}"#.to_owned(),
    }
}

/// Hello.
#[derive(Deserialize)]
pub(super) struct Hello {
    pub(super) heartbeat_interval: u32,
}

/// READY, as far as a session needs it.
#[derive(Deserialize)]
pub(super) struct Ready<'a> {
    #[serde(borrow)]
    pub(super) user: ReadyUser<'a>,
    #[serde(borrow, default)]
    pub(super) guilds: Vec<WithId<'a>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    resume_gateway_url: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) application: Option<WithId<'a>>,
}

#[derive(Deserialize)]
pub(super) struct ReadyUser<'a> {
    #[serde(borrow)]
    pub(super) id: Id<'a>,
    #[serde(borrow)]
    pub(super) username: Option<Text<'a>>,
}

#[derive(Deserialize)]
pub(super) struct WithId<'a> {
    #[serde(borrow)]
    pub(super) id: Id<'a>,
}

impl Ready<'_> {
    /// The session id, when it is one that can stand in a frame as it is.
    pub(super) fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref().filter(|id| {
            !id.is_empty()
                && id.len() <= SESSION_ID_BYTES_MAX
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        })
    }

    /// Where to resume. The host decides whether we may go there; anything but a plain `wss` origin is not even asked.
    pub(super) fn resume_url(&self) -> Option<&str> {
        self.resume_gateway_url.as_deref().filter(|url| is_plain_origin(url))
    }
}

/// Whether `url` is `wss://host[:port]`, perhaps with a slash: nothing in it that a query could be put behind wrongly,
/// and no placeholder.
pub(super) fn is_plain_origin(url: &str) -> bool {
    const URL_BYTES_MAX: usize = 256;
    let Some(host) = url.strip_prefix("wss://") else {
        return false;
    };
    let host = host.trim_end_matches('/');
    !host.is_empty()
        && url.len() <= URL_BYTES_MAX
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':'))
}

/// Where to connect, given an origin.
pub(super) fn socket_url(origin: &str) -> String {
    format!("{}/?v=10&encoding=json", origin.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_one_placeholder() {
        let config = Config::parse(r#"{"shard":[1,4],"presence":"idle"}"#).unwrap();
        for frame in [identify(&config), identify(&Config::default()), resume("abc", 7)] {
            assert_eq!(frame.matches("{{secret:bot-token}}").count(), 1);
            serde_json::from_str::<serde_json::Value>(&frame).unwrap();
        }
    }

    #[test]
    fn only_plain_origins_are_believed() {
        for (url, believed) in [
            ("wss://gateway-us-east1-b.discord.gg", true),
            ("wss://gateway.discord.gg/", true),
            ("wss://127.0.0.1:4801", true),
            ("ws://gateway.discord.gg", false),
            ("wss://gateway.discord.gg/?x={{secret:bot-token}}", false),
            ("wss://user@gateway.discord.gg", false),
            ("wss://", false),
        ] {
            assert_eq!(is_plain_origin(url), believed, "{url}");
        }
    }
}
