//! Names of things: connections, contact spaces, component digests, generations, executions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;

/// Longest connection id or contact space, in bytes. They stand in file names, keys and log lines.
pub const NAME_BYTES_MAX: usize = 64;

/// A name that breaks the rule for its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// Not `^[a-z0-9][a-z0-9-]*$`, or too long.
    #[error(
        "`{0}` is not a valid name: use 1 to {NAME_BYTES_MAX} lower-case letters, digits and `-`, beginning with a letter or digit"
    )]
    Name(String),
    /// Not `sha256:` and 64 hexadecimal digits.
    #[error("`{0}` is not a digest: write `sha256:` followed by 64 lower-case hexadecimal digits")]
    Digest(String),
    /// Not 32 hexadecimal digits.
    #[error("`{0}` is not the id of an execution: they have 32 lower-case hexadecimal digits")]
    Execution(String),
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                if is_name(text) { Ok(Self(text.into())) } else { Err(InvalidId::Name(text.to_owned())) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    };
}

name! {
    /// One configured use of a connector: `^[a-z0-9][a-z0-9-]*$`, at most 64 bytes.
    ConnectionId
}

name! {
    /// A contact space. Connections of one space share contacts, others never do. Same form as a connection id.
    Space
}

fn is_name(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    text.len() <= NAME_BYTES_MAX && text.bytes().all(inner) && text.bytes().next().is_some_and(|b| b != b'-')
}

/// SHA-256 over the whole file of a component. Reads and prints as `sha256:<64 hex digits>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// 64 hexadecimal digits, without the `sha256:`.
    #[must_use]
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }
}

impl FromStr for Digest {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let mut bytes = [0; 32];
        text.strip_prefix("sha256:")
            .filter(|digits| !digits.bytes().any(|b| b.is_ascii_uppercase()))
            .and_then(|digits| hex::decode_to_slice(digits, &mut bytes).ok())
            .map(|()| Self(bytes))
            .ok_or_else(|| InvalidId::Digest(text.to_owned()))
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Number of a component digest that serves a connection. Grows with every change, never reused; 0 is "none yet".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub u64);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One execution of an action, for ever. The time in milliseconds comes first and randomness after it, as in a UUID of
/// version 7 (RFC 9562), so ids sort by when they were made. 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExecutionId(u128);

impl ExecutionId {
    /// The id of an execution that began then. `random` has to be: 74 bits of it count.
    #[must_use]
    pub fn new(at: Timestamp, random: u128) -> Self {
        const VERSION: u128 = 0x7 << 76;
        const VARIANT: u128 = 0b10 << 62;
        const RANDOM: u128 = (0xfff << 64) | ((1 << 62) - 1);
        Self((u128::from(at.0) << 80) | VERSION | VARIANT | (random & RANDOM))
    }

    /// As a number: sorts as the ids do.
    #[must_use]
    pub fn to_be_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// From what [`Self::to_be_bytes`] gave.
    #[must_use]
    pub fn from_be_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl FromStr for ExecutionId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let digits = text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let id = digits.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        id.map(Self).ok_or_else(|| InvalidId::Execution(text.to_owned()))
    }
}

impl TryFrom<String> for ExecutionId {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<ExecutionId> for String {
    fn from(id: ExecutionId) -> String {
        id.to_string()
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "0", "acme-discord", &"x".repeat(64)] {
            assert!(good.parse::<ConnectionId>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "A", "a_b", "a/b", "..", "é", "a b", &"x".repeat(65)] {
            assert!(bad.parse::<ConnectionId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn digests_round_trip() {
        let digest = Digest::of(b"jackfield");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for bad in ["", "sha256:", "sha256:00", &digest.hex(), &digest.to_string().to_uppercase()] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }

    #[test]
    fn executions_sort_by_time_and_round_trip() {
        let id = |at, random| ExecutionId::new(Timestamp(at), random);
        assert!(id(1, u128::MAX) < id(2, 0));
        assert_ne!(id(1, 1), id(1, 2));
        let id = id(1_770_000_000_000, 0x1234_5678_9abc_def0);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(ExecutionId::from_be_bytes(id.to_be_bytes()), id);
        // Version 7, variant 10.
        assert_eq!(&id.to_string()[12..13], "7");
        assert!(matches!(&id.to_string()[16..17], "8" | "9" | "a" | "b"));
        for bad in ["", "0", &"G".repeat(32), &"A".repeat(32), &"0".repeat(33)] {
            assert!(bad.parse::<ExecutionId>().is_err(), "{bad}");
        }
    }
}
