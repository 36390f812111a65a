//! Fetches the secrets that a connection names. The texts of what goes wrong never carry a value.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jackfield_engine::secret::SECRET_BYTES_MAX;

use super::environment::{Environment, Unusable};
use super::file::{Secret, SecretSource};
use super::regular;

/// Longest file of a secret that is read: the longest secret in base64, and a line end.
const FILE_BYTES_MAX: u64 = 2 * SECRET_BYTES_MAX as u64;

/// Fetches a secret's value.
///
/// # Errors
/// Why there is none, and what to do.
pub(super) fn fetch(secret: &Secret, environment: &Environment) -> Result<Vec<u8>, String> {
    let written = match &secret.source {
        SecretSource::Env(name) => variable(name, environment)?,
        SecretSource::File(path) => file(path)?,
    };
    if !secret.base64 {
        return Ok(written);
    }
    let decoded = BASE64_STANDARD.decode(written.trim_ascii());
    decoded.map_err(|_| "it is not base64 (standard alphabet, with padding): mend it, or remove `decode`".to_owned())
}

fn variable(name: &str, environment: &Environment) -> Result<Vec<u8>, String> {
    environment.text(name).map(String::into_bytes).map_err(|unusable| match unusable {
        Unusable::Missing => format!("the environment variable `{name}` is not set: set it for this process"),
        Unusable::NotText => format!("the environment variable `{name}` is not UTF-8: use `file`"),
    })
}

fn file(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("can't read {}: {error}", path.display());
    let mut value = regular::read(path, FILE_BYTES_MAX)
        .map_err(unreadable)?
        .ok_or_else(|| format!("{} has more than {FILE_BYTES_MAX} bytes: that is no secret", path.display()))?;
    // What an editor adds. More than one line end is the secret's own.
    if value.ends_with(b"\n") {
        value.pop();
        if value.ends_with(b"\r") {
            value.pop();
        }
    }
    Ok(value)
}
