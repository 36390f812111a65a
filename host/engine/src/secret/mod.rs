//! The secrets of one connection: named values that no guest ever holds.
//!
//! Promised: a value leaves this module in three ways only: filled into a request or frame by the egress gate for an
//! origin that the operator allows, as a signature, or as the answer to a constant-time comparison. `Debug` shows names
//! alone, and values are wiped when dropped. Not promised: that a value can't be read out of the host's own memory.

mod entry;
mod forms;
mod mask;
mod signature;
mod view;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretSlice};

pub use self::entry::{SECRET_BYTES_MAX, SECRET_BYTES_MIN, SecretEntry, SecretProblem};
pub use self::mask::Mask;
pub use self::signature::{Algorithm, Key};
use crate::egress::{Destination, Origin};

/// One connection's secrets, checked.
#[derive(Default)]
pub struct Secrets {
    by_name: BTreeMap<String, Secret>,
    mask: Arc<Mask>,
}

/// One secret: its value, and where it may go.
pub(crate) struct Secret {
    value: SecretSlice<u8>,
    to: Vec<Origin>,
}

impl Secrets {
    /// Checks every entry.
    ///
    /// # Errors
    /// All problems at once: a bad or repeated name, a value that is too short or too long, a `to` that is no origin.
    pub fn new(entries: Vec<SecretEntry>) -> Result<Self, Vec<SecretProblem>> {
        let mut problems = Vec::new();
        let mut by_name = BTreeMap::new();
        for entry in entries {
            match entry.check() {
                Err(found) => problems.extend(found),
                Ok((name, _)) if by_name.contains_key(&name) => problems.push(SecretProblem::Repeated { name }),
                Ok((name, secret)) => drop(by_name.insert(name, secret)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mask = Mask::new(by_name.iter().map(|(name, secret)| (name.as_str(), secret.value())))
            .map_err(|error| vec![SecretProblem::Unmaskable { reason: error.to_string() }])?;
        Ok(Self { by_name, mask: Arc::new(mask) })
    }

    /// What replaces these values wherever text comes back or is shown.
    #[must_use]
    pub fn mask(&self) -> Arc<Mask> {
        Arc::clone(&self.mask)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Secret> {
        self.by_name.get(name)
    }
}

impl Secret {
    pub(crate) fn value(&self) -> &[u8] {
        self.value.expose_secret()
    }

    /// Whether the operator allows this secret to go there.
    pub(crate) fn may_go_to(&self, destination: &Destination) -> bool {
        self.to.iter().any(|origin| origin.admits(destination))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, value: &str, to: &[&str]) -> SecretEntry {
        SecretEntry {
            name: name.to_owned(),
            value: value.as_bytes().to_vec(),
            to: to.iter().map(|&to| to.to_owned()).collect(),
        }
    }

    #[test]
    fn every_problem_is_told_at_once() {
        let problems = Secrets::new(vec![
            entry("Bot Token", "long enough", &[]),
            entry("short", "1234567", &["http://plain.example"]),
            entry("twice", "long enough", &[]),
            entry("twice", "long enough", &[]),
            entry("long", &"x".repeat(SECRET_BYTES_MAX + 1), &[]),
        ])
        .unwrap_err();
        assert_eq!(problems.len(), 5, "{problems:?}");
        assert!(!format!("{problems:?}").contains("1234567"));
    }

    #[test]
    fn debug_shows_names_alone() {
        let secrets = Secrets::new(vec![entry("bot-token", "canary-canary", &["https://a.example"])]).unwrap();
        assert_eq!(format!("{secrets:?}"), r#"{"bot-token"}"#);
        assert_eq!(format!("{:?}", secrets.mask()), r#"Mask(["bot-token"])"#);
        assert!(!format!("{:?}", entry("x", "canary-canary", &[])).contains("canary"));
    }
}
