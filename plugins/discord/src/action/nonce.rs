//! Names under which Discord makes a message once.
//!
//! Discord gives back the message that the same bot made with the same nonce in the past few minutes instead of making
//! another, in whatever channel that one is. So a nonce has to be the same whenever the same part of the same call is sent
//! again, and another for every other part, channel and action. Those minutes are all that it covers.

use std::fmt::Write as _;

use jackfield_sdk::action::Call;
use sha2::{Digest as _, Sha256};

/// Bytes of the hash that are used. Discord takes 25 characters: 20 digits, a dot, and a number of four digits.
const HASH_BYTES: usize = 10;

/// What the nonces of one message in several parts share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Nonces(String);

impl Nonces {
    /// For what `call` sends to `channel`: by the caller's key, or by the execution where there is none, so that at least the
    /// host's own repetitions are harmless.
    pub(super) fn new(call: &Call, channel: &str) -> Self {
        let (kind, key) = match &call.idempotency_key {
            Some(key) => ("key", key),
            None => ("execution", &call.execution_id),
        };
        let mut hash = Sha256::new();
        // The first three hold no zero byte, so what stands where is clear.
        for part in [kind, &call.name, channel] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.update(key.as_bytes());
        let mut digits = String::with_capacity(2 * HASH_BYTES);
        for byte in hash.finalize().iter().take(HASH_BYTES) {
            // Writing to a string can't fail.
            let _ = write!(digits, "{byte:02x}");
        }
        Self(digits)
    }

    /// Of the part with this number.
    pub(super) fn part(&self, number: usize) -> String {
        format!("{}.{number}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(name: &str, execution: &str, key: Option<&str>, channel: &str) -> String {
        let call = Call {
            name: name.to_owned(),
            args: "{}".to_owned(),
            execution_id: execution.to_owned(),
            idempotency_key: key.map(str::to_owned),
            attempt: 1,
            deadline: 0,
            annotations: "{}".to_owned(),
        };
        Nonces::new(&call, channel).part(3)
    }

    #[test]
    fn the_same_key_is_the_same_nonce_and_nothing_else_is() {
        let first = nonce("send-message", "e1", Some("k"), "1");
        assert_eq!(first, nonce("send-message", "e2", Some("k"), "1"));
        for other in [
            nonce("send-message", "e1", Some("k2"), "1"),
            nonce("send-message", "e1", Some("k"), "2"),
            nonce("broadcast", "e1", Some("k"), "1"),
            nonce("send-message", "k", None, "1"),
        ] {
            assert_ne!(first, other);
        }
        assert_eq!(nonce("send-message", "e1", None, "1"), nonce("send-message", "e1", None, "1"));
        assert_ne!(nonce("send-message", "e1", None, "1"), nonce("send-message", "e2", None, "1"));
    }

    #[test]
    fn a_nonce_is_short_enough_and_never_changes() {
        let call = nonce("send-message", "e1", Some(&"long".repeat(1_000)), "1");
        assert!(call.ends_with(".3") && call.len() <= 25 - 3, "{call}");
        // A version that computes it in another way would double what the one before it has sent.
        assert_eq!(nonce("send-message", "e1", Some("k"), "1432011223344556677"), "7a5b16fa7078f996758d.3");
    }
}
