//! Bytes at the border. The host hands over `text` whenever bytes are UTF-8, so reading one as text costs nothing.

use std::borrow::Cow;

use crate::Blob;

impl Blob {
    /// The bytes, where they are.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }

    /// The text, where it is; `None` when the bytes are not UTF-8.
    ///
    /// The host always chooses `text` for UTF-8, so for its blobs this checks nothing. A blob that a connector
    /// made as `binary` is checked.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Binary(bytes) => std::str::from_utf8(bytes).ok(),
        }
    }

    /// The text, with U+FFFD for what is not UTF-8: for messages that people read.
    #[must_use]
    pub fn to_text_lossy(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Binary(bytes) => String::from_utf8_lossy(bytes),
        }
    }

    /// The bytes, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }

    /// How many bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether there is not a single byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// No bytes at all: the body of a request without one.
    #[must_use]
    pub fn empty() -> Self {
        Self::Text(String::new())
    }
}

impl From<String> for Blob {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Blob {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<u8>> for Blob {
    /// Chooses `text` for UTF-8, as the host does.
    fn from(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(not_text) => Self::Binary(not_text.into_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_becomes_text_and_anything_else_stays_as_it_is() {
        assert_eq!(Blob::from("ö".as_bytes().to_vec()), Blob::Text("ö".into()));
        let odd = vec![0xff, 0x00];
        assert_eq!(Blob::from(odd.clone()), Blob::Binary(odd.clone()));
        assert_eq!(Blob::from(odd.clone()).into_bytes(), odd);
        assert_eq!(Blob::Binary(odd).as_text(), None);
        assert_eq!(Blob::Binary(b"plain".to_vec()).as_text(), Some("plain"));
    }
}
