//! JSON text that comes from a guest, made fit for every store.
//!
//! U+0000 and lone surrogates can stand in JSON as escapes, and databases and other readers refuse them. They become U+FFFD,
//! in keys and values alike, and the event is flagged. Depth is checked in the same pass, without recursion. An escape that
//! only looks like one (`\\u0000`, a backslash and six characters) is text and stays.

use std::borrow::Cow;

use jackfield_model::limits::JSON_DEPTH_MAX;
use serde::de::IgnoredAny;

/// Why text can't be stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    /// Not JSON, or not the object that was promised.
    #[error("{0}")]
    Syntax(String),
    /// Nested too deeply.
    #[error("nested deeper than {JSON_DEPTH_MAX} levels")]
    Depth,
}

/// Checks that this is a JSON object of bounded depth, and replaces what can't be stored. `Borrowed` when nothing had to be.
pub(super) fn object(text: &str) -> Result<Cow<'_, str>, Unfit> {
    if !text.trim_start().starts_with('{') {
        return Err(Unfit::Syntax("not a JSON object".to_owned()));
    }
    let clean = scan(text)?;
    serde_json::from_str::<IgnoredAny>(&clean).map_err(|error| Unfit::Syntax(error.to_string()))?;
    Ok(clean)
}

/// Replaces U+0000 in plain text.
#[must_use]
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

const REPLACEMENT: &str = "\\ufffd";
/// Bytes of a `\uXXXX` escape.
const ESCAPE: usize = 6;

fn scan(text: &str) -> Result<Cow<'_, str>, Unfit> {
    let mut clean: Option<String> = None;
    let mut copied = 0;
    let mut depth = 0usize;
    let mut quoted = false;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        let step = match (quoted, byte) {
            (true, b'\\') => {
                let (length, keep) = escape(text.as_bytes().get(at..).unwrap_or_default());
                if !keep {
                    let out = clean.get_or_insert_with(|| String::with_capacity(text.len()));
                    out.push_str(text.get(copied..at).unwrap_or_default());
                    out.push_str(REPLACEMENT);
                    copied = at + length;
                }
                length
            }
            (true, b'"') => {
                quoted = false;
                1
            }
            (false, b'"') => {
                quoted = true;
                1
            }
            (false, b'{' | b'[') => {
                depth += 1;
                if depth > JSON_DEPTH_MAX {
                    return Err(Unfit::Depth);
                }
                1
            }
            (false, b'}' | b']') => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => 1,
        };
        at += step;
    }
    Ok(match clean {
        None => Cow::Borrowed(text),
        Some(mut out) => {
            out.push_str(text.get(copied..).unwrap_or_default());
            Cow::Owned(out)
        }
    })
}

/// Length of the escape that begins here, and whether it may stay.
fn escape(bytes: &[u8]) -> (usize, bool) {
    if bytes.get(1) != Some(&b'u') {
        return (2, true);
    }
    match unit(bytes) {
        Some(0) => (ESCAPE, false),
        Some(0xd800..=0xdbff) => match bytes.get(ESCAPE..).and_then(unit) {
            Some(0xdc00..=0xdfff) => (2 * ESCAPE, true),
            _ => (ESCAPE, false),
        },
        Some(0xdc00..=0xdfff) => (ESCAPE, false),
        Some(_) => (ESCAPE, true),
        // Not an escape at all: the parser will say so.
        None => (2, true),
    }
}

/// The UTF-16 unit of a `\uXXXX` escape that begins here.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q6_what_no_store_takes_is_replaced_in_keys_and_values() {
        let text = r#"{"k\u0000ey":"a\u0000b \ud83d c \udc00 d \ud83d\ude00"}"#;
        assert_eq!(object(text).unwrap(), r#"{"k\ufffdey":"a\ufffdb \ufffd c \ufffd d \ud83d\ude00"}"#);
    }

    #[test]
    fn q6_a_typed_escape_is_text() {
        let text = r#"{"a":"\\u0000 and \\\\ud800"}"#;
        assert!(matches!(object(text), Ok(Cow::Borrowed(same)) if same == text));
    }

    #[test]
    fn q11_depth_is_bounded_without_recursion() {
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(object(&nested(JSON_DEPTH_MAX - 1)).is_ok());
        assert_eq!(object(&nested(JSON_DEPTH_MAX)), Err(Unfit::Depth));
        assert_eq!(object(&format!("{{\"a\":{}", "[".repeat(100_000))), Err(Unfit::Depth));
        assert!(object(&format!("{{\"a\":\"{}\"}}", "[".repeat(1000))).is_ok());
    }

    #[test]
    fn only_objects() {
        for text in ["", "[]", "1", "null", "{", "{\"a\":}", "{}x", "{\"a\":\"\\u12\"}"] {
            assert!(matches!(object(text), Err(Unfit::Syntax(_))), "{text}");
        }
    }
}
