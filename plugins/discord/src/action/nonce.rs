//! Names under which Discord makes a message once.
//!
//! Discord gives back the message that the same bot made with the same nonce in the past few minutes instead of making
//! another, in whatever channel that one is. So a nonce has to be the same whenever the same part of the same call is sent
//! again, and another for every other part, channel and action. Those minutes are all that it covers.
//!
//! The text is in it too. The host tells apart what two connections of one bot do under the same key, and it may have lost
//! what it knew of a key; Discord can't and didn't. Without the text, another message under that key would be called done,
//! with the id of the first one: better that it is made.

use std::fmt::Write as _;

use jackfield_sdk::action::Call;
use sha2::{Digest as _, Sha256};

/// Bytes of the hash that are used. Discord takes 25 characters: 20 digits, a dot, and a number of four digits.
const HASH_BYTES: usize = 10;

/// What the nonces of one message in several parts share: the hash of all but the text.
#[derive(Clone, Debug)]
pub(super) struct Nonces(Sha256);

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
        Self(hash)
    }

    /// Of the part with this number, which says `content`.
    pub(super) fn part(&self, number: usize, content: &str) -> String {
        // Always the last 32 bytes, so it is clear where the key ends.
        let hash = self.0.clone().chain_update(Sha256::digest(content));
        let mut nonce = String::with_capacity(2 * HASH_BYTES + 5);
        // Writing to a string can't fail.
        for byte in hash.finalize().iter().take(HASH_BYTES) {
            let _ = write!(nonce, "{byte:02x}");
        }
        let _ = write!(nonce, ".{number}");
        nonce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(name: &str, execution: &str, key: Option<&str>, channel: &str) -> String {
        saying("hello", name, execution, key, channel)
    }

    fn saying(text: &str, name: &str, execution: &str, key: Option<&str>, channel: &str) -> String {
        let call = Call {
            name: name.to_owned(),
            args: "{}".to_owned(),
            execution_id: execution.to_owned(),
            idempotency_key: key.map(str::to_owned),
            attempt: 1,
            deadline: 0,
            annotations: "{}".to_owned(),
        };
        Nonces::new(&call, channel).part(3, text)
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
            saying("hello!", "send-message", "e1", Some("k"), "1"),
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
        assert_eq!(nonce("send-message", "e1", Some("k"), "1432011223344556677"), "8f550a0c57e2eff17e57.3");
    }
}
