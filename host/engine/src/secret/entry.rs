//! A secret as the operator configured it, and the rules that it has to keep.

use std::fmt;

use super::Secret;
use crate::egress::{Origin, OriginError};

/// Shortest value. Anything shorter occurs by chance in ordinary text, so it can be neither masked nor called a secret.
pub const SECRET_BYTES_MIN: usize = 8;

/// Longest value: an RSA key of 8192 bits in PEM fits. Every form of it is kept for masking.
pub const SECRET_BYTES_MAX: usize = 8 * 1024;

/// Longest name. It stands in placeholders, log lines and masked text.
const NAME_BYTES_MAX: usize = 64;

/// A secret before it is checked.
pub struct SecretEntry {
    /// What `{{secret:name}}` calls it: `^[a-z0-9][a-z0-9-]*$`.
    pub name: String,
    /// The value, decoded.
    pub value: Vec<u8>,
    /// Origins that it may be sent to, as `https://host[:port]` or `wss://host[:port]`. Empty for one that only signs.
    pub to: Vec<String>,
}

/// Why a secret was refused. The texts never carry its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretProblem {
    /// Not a valid name.
    #[error(
        "secret name {name:?}: use 1 to {NAME_BYTES_MAX} lower-case letters, digits and `-`, beginning with a letter or digit"
    )]
    Name {
        /// As configured.
        name: String,
    },
    /// Two entries with one name.
    #[error("secret `{name}` is configured twice: remove one")]
    Repeated {
        /// As configured.
        name: String,
    },
    /// Fewer than 8 bytes.
    #[error("secret `{name}` has {bytes} bytes: use at least {SECRET_BYTES_MIN}, a shorter one can't be masked")]
    TooShort {
        /// As configured.
        name: String,
        /// How many it has.
        bytes: usize,
    },
    /// More than 8 KiB.
    #[error("secret `{name}` has {bytes} bytes: use at most {SECRET_BYTES_MAX}")]
    TooLong {
        /// As configured.
        name: String,
        /// How many it has.
        bytes: usize,
    },
    /// An entry of `to` is no origin.
    #[error("secret `{name}`, `to`: {error}")]
    To {
        /// As configured.
        name: String,
        /// What is wrong with the origin.
        error: OriginError,
    },
    /// The search for all of them could not be built: there are too many.
    #[error("these secrets can't be masked ({reason}): configure fewer or shorter ones")]
    Unmaskable {
        /// Why.
        reason: String,
    },
}

impl SecretEntry {
    /// The name and the checked secret.
    pub(super) fn check(self) -> Result<(String, Secret), Vec<SecretProblem>> {
        let Self { name, value, to } = self;
        let bytes = value.len();
        let mut problems = Vec::new();
        if !is_name(&name) {
            problems.push(SecretProblem::Name { name: name.clone() });
        }
        if bytes < SECRET_BYTES_MIN {
            problems.push(SecretProblem::TooShort { name: name.clone(), bytes });
        }
        if bytes > SECRET_BYTES_MAX {
            problems.push(SecretProblem::TooLong { name: name.clone(), bytes });
        }
        let mut origins = Vec::with_capacity(to.len());
        for origin in to {
            match origin.parse::<Origin>() {
                Ok(origin) => origins.push(origin),
                Err(error) => problems.push(SecretProblem::To { name: name.clone(), error }),
            }
        }
        // Wrapped before anything can return, so that a refused value is wiped too.
        let secret = Secret { value: value.into(), to: origins };
        if problems.is_empty() { Ok((name, secret)) } else { Err(problems) }
    }
}

impl fmt::Debug for SecretEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretEntry").field("name", &self.name).field("to", &self.to).finish_non_exhaustive()
    }
}

/// Whether a placeholder can name it at all.
fn is_name(name: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    name.len() <= NAME_BYTES_MAX && name.bytes().all(inner) && name.bytes().next().is_some_and(|b| b != b'-')
}
