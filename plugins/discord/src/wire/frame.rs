//! Gateway frames. Payloads stay text until somebody knows what they are.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Id;

/// A frame, its payload unparsed. Skipping the payload is iterative: no depth overflows the stack.
#[derive(Deserialize, Debug)]
pub struct Frame<'a> {
    /// Operation code.
    pub op: u8,
    /// Sequence number, in dispatches.
    pub s: Option<u64>,
    /// Name of the dispatch.
    #[serde(borrow)]
    pub t: Option<Cow<'a, str>>,
    /// Payload.
    #[serde(borrow)]
    pub d: Option<&'a RawValue>,
}

/// A dispatch of which only the payload matters, parsed in the same pass.
#[derive(Deserialize, Debug)]
pub struct Envelope<D> {
    /// Payload.
    pub d: D,
}

/// What decides the lane of a dispatch. Nothing is required; see [`Peek::of`].
#[derive(Deserialize, Debug, Default)]
pub struct Peek<'a> {
    /// Id of the thing itself: a message, a channel, a guild.
    #[serde(borrow)]
    pub id: Option<Id<'a>>,
    /// Channel that it is in.
    #[serde(borrow)]
    pub channel_id: Option<Id<'a>>,
    /// Guild that it is in.
    #[serde(borrow)]
    pub guild_id: Option<Id<'a>>,
    /// User that it is about.
    #[serde(borrow)]
    pub user: Option<PeekUser<'a>>,
    /// Of a guild: Discord has trouble, rather than the bot being removed.
    pub unavailable: Option<bool>,
}

/// The id of a user.
#[derive(Deserialize, Debug)]
pub struct PeekUser<'a> {
    /// Id.
    #[serde(borrow)]
    pub id: Option<Id<'a>>,
}

impl<'a> Peek<'a> {
    /// Reads what is there. A payload that is not what it should be has nothing to show: `transform` says so.
    #[must_use]
    pub fn of(payload: &'a str) -> Self {
        serde_json::from_str(payload).unwrap_or_default()
    }
}
