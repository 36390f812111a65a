//! What the session knew when it submitted a dispatch, and the meaning depends on.

use serde::Deserialize;

use crate::wire::Id;

/// The context of a dispatch; `runtime` writes it.
#[derive(Deserialize, Debug, Default)]
pub struct Context<'a> {
    /// Our own user.
    #[serde(rename = "self", borrow)]
    pub me: Option<Id<'a>>,
    /// Our own application: whose webhooks are ours.
    #[serde(borrow)]
    pub app: Option<Id<'a>>,
    /// Discord's session, which with the sequence number names one dispatch.
    pub session: Option<&'a str>,
    /// Sequence number.
    pub seq: Option<u64>,
    /// The guild was listed when the session began, or had been unavailable: it is not new.
    #[serde(default)]
    pub startup: bool,
    /// The guild, where the payload doesn't say: messages fetched after a gap.
    #[serde(borrow)]
    pub guild: Option<Id<'a>>,
    /// When the host received the dispatch, in milliseconds since the Unix epoch.
    #[serde(skip)]
    pub received_at: u64,
}

impl<'a> Context<'a> {
    /// Reads a context.
    ///
    /// # Errors
    ///
    /// When it is not what `runtime` writes.
    pub fn of(json: &'a str, received_at: u64) -> Result<Self, String> {
        let context: Self = serde_json::from_str(json).map_err(|wrong| format!("context: {wrong}"))?;
        Ok(Self { received_at, ..context })
    }

    /// Names this one dispatch, for things that have no id of their own: the same after a replay.
    ///
    /// # Errors
    ///
    /// When the context doesn't say, so that two things would have one name.
    pub fn position(&self) -> Result<String, String> {
        match (self.session, self.seq) {
            (Some(session), Some(seq)) => Ok(format!("{session}:{seq}")),
            _ => Err("context: no session and sequence number".to_owned()),
        }
    }

    /// Whether this is our own user.
    #[must_use]
    pub fn is_me(&self, user: Option<Id<'_>>) -> bool {
        match (self.me, user) {
            (Some(me), Some(user)) => me == user,
            _ => false,
        }
    }
}
