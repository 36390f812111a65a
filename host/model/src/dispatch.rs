//! A platform payload before anyone has interpreted it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Bytes that may be text. Cheap to clone: the same allocation is shared.
///
/// `Text` is always valid UTF-8. Which of the two it is never changes what the bytes mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blob {
    /// Valid UTF-8.
    Text(Text),
    /// Anything else, or text that its sender chose to give as bytes.
    Binary(Bytes),
}

/// UTF-8 text in shared bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Bytes);

impl Text {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only built from `String`, or from bytes that were checked.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Blob {
    /// `Text` when the bytes are valid UTF-8, else `Binary`: how the host always chooses.
    #[must_use]
    pub fn from_bytes(bytes: Bytes) -> Self {
        if std::str::from_utf8(&bytes).is_ok() { Self::Text(Text(bytes)) } else { Self::Binary(bytes) }
    }

    /// The bytes, shared.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::Text(Text(bytes)) | Self::Binary(bytes) => bytes,
        }
    }

    /// The text, where it is `Text`.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            Self::Binary(_) => None,
        }
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// No bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
}

impl From<String> for Blob {
    fn from(text: String) -> Self {
        Self::Text(Text(Bytes::from(text.into_bytes())))
    }
}

impl From<&str> for Blob {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// How a dispatch came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A session with a socket.
    Socket,
    /// A session that polls.
    Poll,
    /// A request from the platform.
    Webhook,
    /// An action's by-product.
    Action,
}

/// A raw platform payload with its lane and context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The platform's own name for it, for example `MESSAGE_CREATE`.
    pub kind: String,
    /// One frame, one update or one request body, whole, after decompression.
    pub payload: Blob,
    /// Dispatches of one lane are transformed and ingested in order; lanes run side by side.
    pub lane: String,
    /// A JSON object: what the session knew and the meaning depends on. Stored with the payload.
    pub context: String,
}

impl Dispatch {
    /// What it weighs against limits: payload, context, lane and kind, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.payload.len() + self.context.len() + self.lane.len() + self.kind.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_chooses_text_when_it_can() {
        assert!(matches!(Blob::from_bytes(Bytes::from_static(b"{}")), Blob::Text(_)));
        assert!(matches!(Blob::from_bytes(Bytes::from_static(&[0xff])), Blob::Binary(_)));
        assert_eq!(Blob::from("é").as_str(), Some("é"));
        assert_eq!(Blob::from("é").len(), 2);
    }
}
