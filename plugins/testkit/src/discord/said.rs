//! What the bot said over REST: each message once, with what tells it apart, so that a checker can count.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::log::{Log, Record};
use super::snowflake::Id;

/// A message that a request of the bot made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Where.
    pub channel: Id,
    /// Its id.
    pub message: Id,
    /// The nonce that it was sent with, as text.
    pub nonce: Option<String>,
    /// What it said when it was made, without the white space around it.
    pub content: Arc<str>,
}

impl Record {
    /// How many messages were made with this nonce. More than one without `enforce_nonce`, or once it was forgotten.
    #[must_use]
    pub fn said_with_nonce(&self, nonce: &str) -> usize {
        self.said().iter().filter(|said| said.nonce.as_deref() == Some(nonce)).count()
    }

    /// How many messages were made with exactly this text.
    #[must_use]
    pub fn said_with_content(&self, content: &str) -> usize {
        self.said().iter().filter(|said| &*said.content == content).count()
    }
}

impl Log {
    /// Every message that requests of the bot made, oldest first.
    #[must_use]
    pub fn said(&self) -> Vec<Said> {
        self.read(|record| record.said().to_vec())
    }
}
