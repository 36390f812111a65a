//! Names of things: connections, contact spaces, component digests, generations.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

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
}
