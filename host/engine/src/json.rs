//! Whether a text is a JSON object that everybody further on can read.

use std::fmt;

use serde::de::IgnoredAny;

use crate::limits::JSON_DEPTH_MAX;

/// What is wrong with it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    TooDeep,
    NotJson(String),
    NoObject,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep => write!(f, "nested deeper than {JSON_DEPTH_MAX}"),
            Self::NotJson(error) => write!(f, "no JSON: {error}"),
            Self::NoObject => f.write_str("use a JSON object, `{}` when there is nothing to say"),
        }
    }
}

/// Checks a text. Depth first, by counting, so that nothing recurses over what a stranger wrote.
pub(crate) fn object(text: &str) -> Result<(), Problem> {
    if text == "{}" {
        return Ok(());
    }
    if depth(text) > JSON_DEPTH_MAX {
        return Err(Problem::TooDeep);
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| Problem::NotJson(error.to_string()))?;
    if text.trim_start().starts_with('{') { Ok(()) } else { Err(Problem::NoObject) }
}

/// Deepest nesting of brackets outside strings.
fn depth(text: &str) -> usize {
    let (mut now, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                now += 1;
                deepest = deepest.max(now);
            }
            b'}' | b']' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_14_only_objects_of_bounded_depth() {
        for good in ["{}", " {\"a\":[{\"b\":\"[[[[\\\"\"}]}\n", r#"{"a":1,"a":1e400}"#] {
            assert_eq!(object(good), Ok(()), "{good}");
        }
        for bad in ["", "[]", "1", "null", "{", "{}{}", "{'a':1}", "\"{}\""] {
            assert!(object(bad).is_err(), "{bad}");
        }
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(object(&nested(JSON_DEPTH_MAX - 1)), Ok(()));
        assert_eq!(object(&nested(JSON_DEPTH_MAX)), Err(Problem::TooDeep));
        assert_eq!(object(&nested(100_000)), Err(Problem::TooDeep));
    }
}
