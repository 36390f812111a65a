//! What people wrote. Discord passes on U+0000 and lone surrogates; databases and WIT strings take neither.
//!
//! The rule: in a *decoded* string every U+0000 and every lone surrogate becomes one U+FFFD, and the event says
//! `"sanitized": true`. The raw payload is untouched. Escapes are decoded first, so a typed `\u0000` stays text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

/// A decoded string, borrowed where it has no escapes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text<'a> {
    value: Cow<'a, str>,
    sanitized: bool,
}

impl<'a> Text<'a> {
    /// The string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// Whether something had to be replaced.
    #[must_use]
    pub fn is_sanitized(&self) -> bool {
        self.sanitized
    }

    /// Decoded bytes: UTF-8, except that lone surrogates may stand as three bytes of their own (WTF-8).
    fn from_decoded(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Self { value: Cow::Owned(text.to_owned()), sanitized: false },
            _ => Self { value: Cow::Owned(sanitize(bytes)), sanitized: true },
        }
    }
}

/// First byte of a surrogate in WTF-8; the second is `0xA0` or above, which UTF-8 never has after it.
const SURROGATE_LEAD: u8 = 0xED;

fn sanitize(bytes: &[u8]) -> String {
    let mut clean = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        clean.extend(chunk.valid().chars().map(|char| match char {
            '\0' => char::REPLACEMENT_CHARACTER,
            other => other,
        }));
        // Of a surrogate's three bytes each is invalid by itself: one replacement, at the first.
        if chunk.invalid().first() == Some(&SURROGATE_LEAD) {
            clean.push(char::REPLACEMENT_CHARACTER);
        }
    }
    clean
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Decoded;

        impl<'de> Visitor<'de> for Decoded {
            type Value = Text<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            // Without escapes: JSON allows no raw U+0000, and the payload is UTF-8, so there is nothing to replace.
            fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Text<'de>, E> {
                std::str::from_utf8(bytes)
                    .map(|text| Text { value: Cow::Borrowed(text), sanitized: false })
                    .map_err(|_| E::custom("text that is not UTF-8"))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text<'de>, E> {
                Ok(Text::from_decoded(bytes))
            }
        }

        // As bytes, because `serde_json` refuses lone surrogates in strings and hands them over in bytes.
        deserializer.deserialize_bytes(Decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, want: &str, sanitized: bool) {
        let text: Text<'_> = serde_json::from_str(json).unwrap();
        assert_eq!((text.as_str(), text.is_sanitized()), (want, sanitized));
    }

    #[test]
    fn decoded_strings_are_sanitised_and_escaped_text_is_not() {
        check(r#""plain ö""#, "plain ö", false);
        check(r#""a\nb""#, "a\nb", false);
        check(r#""a\u0000b""#, "a\u{fffd}b", true);
        check(r#""a\\u0000b""#, "a\\u0000b", false);
        check(r#""\ud83d""#, "\u{fffd}", true);
        check(r#""\udc00\ud83d""#, "\u{fffd}\u{fffd}", true);
        check(r#""\ud83d\ude00""#, "😀", false);
        check(r#""\ud7ff\ue000""#, "\u{d7ff}\u{e000}", false);
    }
}
