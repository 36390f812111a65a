//! A step: when it is due, and what is done then.

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{Limits, RestFault};
use crate::discord::snowflake::Id;

/// One step of a script. Steps don't wait for each other: each is done when it is due.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// When it is due.
    pub when: When,
    /// What is done.
    pub action: Action,
}

/// When a step is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Once that many messages were made, whoever made them.
    AfterMessages(u64),
    /// Each time that many more messages were made.
    EveryMessages(u64),
    /// That long after the start (see [`super::Start`]).
    AfterMs(u64),
    /// At a moment in the life of a connection, and for that connection alone.
    On {
        /// Which moment.
        moment: Moment,
        /// How many times.
        times: Times,
    },
}

/// A moment in the life of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// An identify with the right token arrives: the action replaces the answer.
    Identify,
    /// READY and the guilds were written.
    Ready,
    /// RESUMED was written.
    Resumed,
}

/// How many times a step at a moment, or a fault, is done. Of several for one moment or request the first with times left is
/// done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// So many times.
    Count(u32),
    /// Every time.
    Always,
}

/// What a double can do besides behaving. Without a moment it is done to every connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Action {
    /// Opcode 7. Who does not leave within five seconds is closed with 4000.
    Reconnect {},
    /// Opcode 1, which asks for a heartbeat at once.
    RequestHeartbeat {},
    /// Opcode 9.
    InvalidSession {
        /// Whether the session can be resumed; if not, it ends.
        resumable: bool,
    },
    /// The socket ends without a close frame.
    Drop {},
    /// A close frame. Codes that forbid a resume end the session too.
    Close {
        /// The code.
        code: u16,
    },
    /// Nothing is read or written for so long; then a close frame.
    SlowClose {
        /// How long.
        ms: u64,
        /// The code, 4000 unless given.
        #[serde(default = "unknown_error")]
        code: u16,
    },
    /// The next heartbeats get no answer.
    WithholdAcks {
        /// How many.
        count: u32,
    },
    /// The next replay ends with some of its dispatches a second time.
    DuplicateReplay {
        /// How many of them.
        dispatches: usize,
    },
    /// The next replay comes in another order.
    ReorderReplay {},
    /// Many messages on top of the usual ones.
    Flood {
        /// How many.
        messages: u64,
        /// How many a second; as fast as the sockets take them unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_second: Option<u32>,
    },
    /// Every session goes on if it has a socket, but can't be resumed.
    ForgetSession {},
    /// A dispatch (`GUILD_MEMBERS_CHUNK`) of about this size.
    OversizedFrame {
        /// Bytes.
        bytes: usize,
    },
    /// The next upgrades are answered with this status.
    RefuseUpgrades {
        /// The status, 400 to 599.
        status: u16,
        /// How many.
        count: u32,
    },
    /// The next connections get their Hello late.
    HelloDelay {
        /// How late.
        ms: u64,
        /// How many.
        count: u32,
    },
    /// No messages are made for so long, floods included.
    Pause {
        /// How long.
        ms: u64,
    },
    /// The token is worth nothing from now on, as after too many identifies: everything is closed with 4004.
    ResetToken {},
    /// Something goes wrong with REST requests from now on.
    RestFault(RestFault),
    /// The faults of REST requests that have not happened yet do not happen any more.
    RestRecover {},
    /// These limits hold for REST requests from now on, and every window begins anew.
    RestLimits(Limits),
    /// Somebody takes no direct messages of the bot any more.
    CloseDms {
        /// Who.
        user: Id,
    },
    /// Somebody takes them again.
    OpenDms {
        /// Who.
        user: Id,
    },
    /// The bot can't see a channel any more.
    DenyAccess {
        /// Which.
        channel: Id,
    },
    /// The bot may not write in a channel any more.
    DenySend {
        /// Which.
        channel: Id,
    },
    /// The bot may do in a channel what it could at first.
    Allow {
        /// Which.
        channel: Id,
    },
}

fn unknown_error() -> u16 {
    4000
}

impl Times {
    /// Reads it from the JSON of the key `name`.
    pub(super) fn read(name: &str, value: &Value) -> Result<Self, String> {
        if value.as_str() == Some("always") {
            return Ok(Self::Always);
        }
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        count.map(Self::Count).ok_or_else(|| format!("`{name}` is {value}: use a number from 1, or \"always\""))
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u32(*count),
            Self::Always => serializer.serialize_str("always"),
        }
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let action = serde_json::to_value(&self.action).map_err(serde::ser::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        match &self.when {
            When::AfterMessages(count) => map.serialize_entry("after_messages", count)?,
            When::EveryMessages(count) => map.serialize_entry("every_messages", count)?,
            When::AfterMs(ms) => map.serialize_entry("after_ms", ms)?,
            When::On { moment, times } => {
                map.serialize_entry("on", moment)?;
                map.serialize_entry("times", times)?;
            }
        }
        for (name, value) in action.as_object().into_iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
