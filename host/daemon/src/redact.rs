//! Payloads for people: what looks like a credential is masked, by the name of its key or by its own look.
//!
//! A payload can carry tokens of the platform that no configuration names (a resume url, an interaction token), so they
//! can't be masked by value. This is a courtesy to whoever looks over a shoulder, not a promise: keys have many names.

use serde_json::Value;

/// What stands in place of a value.
const MASK: &str = "[redacted]";

/// Parts of keys, in lower case and without `-` and `_`, whose values are masked whatever they are.
const KEYS: [&str; 11] = [
    "token",
    "secret",
    "authorization",
    "password",
    "passwd",
    "cookie",
    "apikey",
    "credential",
    "privatekey",
    "signature",
    "sessionid",
];

/// The payload with its credentials masked; `None` when it is no JSON, so that nothing can be told apart in it.
pub(crate) fn payload(bytes: &[u8]) -> Option<Value> {
    let mut value = serde_json::from_slice(bytes).ok()?;
    value_in_place(&mut value);
    Some(value)
}

/// Masks what looks like a credential, at any depth. The parser stops at a depth of 128, and so does this.
pub(crate) fn value_in_place(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if is_telling(key) && !value.is_null() {
                    *value = Value::String(MASK.to_owned());
                } else {
                    value_in_place(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(value_in_place),
        Value::String(text) if looks_like_credential(text) => MASK.clone_into(text),
        _ => {}
    }
}

fn is_telling(key: &str) -> bool {
    let plain: String =
        key.chars().filter(|char| !matches!(char, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect();
    KEYS.iter().any(|part| plain.contains(part))
}

fn looks_like_credential(text: &str) -> bool {
    let schemes = ["Bearer ", "Bot ", "Basic ", "xoxb-", "xoxp-", "xapp-"];
    schemes.iter().any(|scheme| text.starts_with(scheme) && text.len() > scheme.len() + 7) || is_three_part_token(text)
}

/// Discord's bot tokens and JSON Web Tokens: three parts of URL-safe base64, the last one long.
fn is_three_part_token(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let base64 = |part: &&str| part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    match parts.as_slice() {
        [id, time, signature] => id.len() >= 18 && time.len() >= 5 && signature.len() >= 25 && parts.iter().all(base64),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked_at_any_depth() {
        let payload = payload(
            br#"{"op":2,"d":{"token":"abc","intents":1,"list":[{"Access-Token":{"a":1},"client_secret":null}],
            "content":"MTIxMzQyODM4ODA5NDY0OTMzMw.GdOuBl.abcdefghijklmnopqrstuvwxyz0","h":"Bot abcdefghi","n":"a.b.c"}}"#,
        );
        let expected = serde_json::json!({"op": 2, "d": {"token": MASK, "intents": 1,
            "list": [{"Access-Token": MASK, "client_secret": null}], "content": MASK, "h": MASK, "n": "a.b.c"}});
        assert_eq!(payload, Some(expected));
    }

    #[test]
    fn what_is_no_json_is_not_shown() {
        assert_eq!(payload(b"token=abc"), None);
        assert_eq!(payload("[".repeat(100_000).as_bytes()), None);
    }
}
