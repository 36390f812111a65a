//! Sockets and what status shows, in the words of a connector's author.

use crate::session::{Notice, SocketRequest};

/// How long a socket may be without a single byte where its author says nothing: platforms beat every 30 to 45
/// seconds, so two missed beats and some. Milliseconds.
const SILENCE_MS: u32 = 120_000;

impl SocketRequest {
    /// A socket to `url` (absolute, `wss`) without headers, secrets or subprotocols.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
            secrets: Vec::new(),
            subprotocols: Vec::new(),
            silence: SILENCE_MS,
            annotations: "{}".to_owned(),
        }
    }

    /// Longest time without a single byte, in milliseconds.
    #[must_use]
    pub fn silence_ms(mut self, silence: u32) -> Self {
        self.silence = silence;
        self
    }
}

impl Notice {
    /// Something that operators see. `code` is stable, such as `intent-missing`.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), todo: None }
    }

    /// What somebody has to do about it.
    #[must_use]
    pub fn todo(mut self, todo: impl Into<String>) -> Self {
        self.todo = Some(todo.into());
        self
    }
}
