//! What a double does by itself: its guilds, its pace, its limits, and when it misbehaves how.
//!
//! As JSON it is the format that the README documents; in code it is this struct. Everything has a default, and the default
//! is a quiet server: one message a second for ever.

mod fault;
mod limits;
mod parse;
mod pattern;
mod rest;
mod step;

use serde::{Deserialize, Serialize};

pub(crate) use fault::Stage;
pub use fault::{Mishap, RestFault};
pub use limits::{Allowance, LimitScope, Limits, RouteLimit};
pub use parse::ScriptError;
pub use rest::Rest;
pub use step::{Action, Moment, Step, Times, When};

/// Discord's usual interval.
const HEARTBEAT_INTERVAL_MS: u64 = 41_250;

/// How long Discord keeps a session without a socket is not documented; some minutes were observed.
const RESUME_WINDOW_MS: u64 = 180_000;

/// About a kilobyte each, so 200 MB at worst, and ten seconds of the largest flood.
const REPLAY_MAX: usize = 200_000;

/// Sixteen megabytes of waiting messages a session.
const UNSENT_MAX: usize = 16_384;

/// Messages kept for the REST API, per channel.
const HISTORY_MAX: usize = 2_000;

const DAY_MS: u64 = 86_400_000;

/// A script. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "parse::File")]
pub struct Script {
    /// Decides who writes what where.
    pub seed: u64,
    /// How many guilds there are.
    pub guilds: u64,
    /// How many text channels each guild has.
    pub channels: u64,
    /// How many people write. Each has a channel of direct messages with the bot too, in which only tests write.
    pub authors: u64,
    /// How fast messages are made.
    pub rate: Pace,
    /// How many messages are made by themselves; none means for ever. Floods and messages of tests come on top.
    pub messages: Option<u64>,
    /// When messages and `after_ms` begin.
    pub start: Start,
    /// What Hello says.
    pub heartbeat_interval_ms: u64,
    /// How long a session can be resumed after its socket ended.
    pub resume_window_ms: u64,
    /// Dispatches kept per session to be sent again. Beyond it the oldest are let go, and a resume from before them is refused;
    /// a session without a socket that has more than this to send is over.
    pub replay_max: usize,
    /// Dispatches that may wait for a socket; whoever makes messages waits for room meanwhile.
    pub unsent_max: usize,
    /// Messages kept per channel for the REST API.
    pub history_max: usize,
    /// How often a bot may identify.
    pub session_starts: SessionStarts,
    /// Intents that the application may not use: bits of GUILD_MEMBERS (2), GUILD_PRESENCES (256), MESSAGE_CONTENT (32768).
    pub disallowed_intents: u64,
    /// How the REST API limits, fails and refuses.
    pub rest: Rest,
    /// What happens on the way.
    pub steps: Vec<Step>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            seed: 1,
            guilds: 1,
            channels: 20,
            authors: 32,
            rate: Pace::PerSecond(1.0),
            messages: None,
            start: Start::FirstReady,
            heartbeat_interval_ms: HEARTBEAT_INTERVAL_MS,
            resume_window_ms: RESUME_WINDOW_MS,
            replay_max: REPLAY_MAX,
            unsent_max: UNSENT_MAX,
            history_max: HISTORY_MAX,
            session_starts: SessionStarts::default(),
            disallowed_intents: 0,
            rest: Rest::default(),
            steps: Vec::new(),
        }
    }
}

impl Script {
    /// A server that says nothing by itself, for tests that post what they need.
    #[must_use]
    pub fn silent() -> Self {
        Self { messages: Some(0), ..Self::default() }
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// [`ScriptError`], which names the step or the key and says what to change.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        parse::script(text)
    }
}

/// How fast messages are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// So many a second; may be below one.
    PerSecond(f64),
    /// As fast as the sockets take them.
    Burst,
}

/// When messages and `after_ms` begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// With the first READY.
    FirstReady,
    /// At once.
    Now,
}

/// How often a bot may identify, as `/gateway/bot` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionStarts {
    /// A day's budget.
    pub total: u32,
    /// What is left of it at the start. Who identifies with nothing left loses all sessions and the token.
    pub remaining: u32,
    /// When the budget is whole again.
    pub reset_after_ms: u64,
    /// How many shards may identify at the same time.
    pub max_concurrency: u32,
    /// The least time between two identifies of a bucket: 5000 at Discord, 0 (off) here unless a script says otherwise, so
    /// that tests need not wait. Who is faster gets opcode 9.
    pub every_ms: u64,
}

impl Default for SessionStarts {
    fn default() -> Self {
        Self { total: 1000, remaining: 1000, reset_after_ms: DAY_MS, max_concurrency: 1, every_ms: 0 }
    }
}

impl Serialize for Pace {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::PerSecond(rate) => serializer.serialize_f64(*rate),
            Self::Burst => serializer.serialize_str("burst"),
        }
    }
}

impl<'de> Deserialize<'de> for Pace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(word) if word == "burst" => Ok(Self::Burst),
            serde_json::Value::Number(number) => Ok(Self::PerSecond(number.as_f64().unwrap_or(f64::NAN))),
            other => {
                let problem = format!("`rate` is {other}: write messages a second as a number, or \"burst\"");
                Err(serde::de::Error::custom(problem))
            }
        }
    }
}
