//! The numbering of generations, and the key under which credentials are named: a small file in the data folder.
//!
//! A connection's number grows whenever another component digest serves it, and is never used again; events carry it. The
//! key makes names of credentials that say nothing about the credential, even to somebody who can guess one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac as _};
use jackfield_model::{ConnectionId, Digest, Generation};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Its name in the data folder.
const FILE: &str = "generations.json";

/// The numbering.
#[derive(Clone, Debug)]
pub struct Numbering {
    path: Option<PathBuf>,
    book: Book,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    key: Key,
    connections: BTreeMap<ConnectionId, Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    digest: Digest,
    number: Generation,
}

impl Numbering {
    /// One that is kept nowhere, for a look at a configuration that runs nothing.
    #[must_use]
    pub fn passing() -> Self {
        let key = Key(hex::encode(rand::random::<[u8; 32]>()));
        Self { path: None, book: Book { key, connections: BTreeMap::new() } }
    }

    /// The one of a data folder. Only for the process that holds the store's lock.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn open(data: &Path) -> std::io::Result<Self> {
        let path = data.join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => {
                let book = serde_json::from_slice(&bytes).map_err(|error| {
                    let text =
                        format!("{} is damaged ({error}): restore it; without it, numbers begin again", path.display());
                    std::io::Error::new(ErrorKind::InvalidData, text)
                })?;
                Ok(Self { path: Some(path), book })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self { path: Some(path), ..Self::passing() }),
            Err(error) => Err(error),
        }
    }

    /// The number of this digest on this connection; the next one where another digest served it last.
    pub fn number(&mut self, connection: &ConnectionId, digest: Digest) -> Generation {
        let last = self.book.connections.get(connection).copied();
        match last {
            Some(entry) if entry.digest == digest => entry.number,
            _ => {
                let number = Generation(last.map_or(0, |entry| entry.number.0).saturating_add(1));
                self.book.connections.insert(connection.clone(), Entry { digest, number });
                number
            }
        }
    }

    /// A name for these parts together: the same for the same parts, and nothing else can be told from it.
    #[must_use]
    pub fn name(&self, parts: &[&[u8]]) -> String {
        // An HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.book.key.0.as_bytes()) else { return String::new() };
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        hex::encode(mac.finalize().into_bytes())
    }

    /// Keeps it: written beside, flushed, moved over the old one.
    ///
    /// # Errors
    /// When it can't be written; the old one is then still there.
    pub fn keep(&self) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let beside = path.with_extension("json.new");
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(&beside, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(&serde_json::to_vec_pretty(&self.book)?)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn numbers_grow_and_are_kept() {
        let data = tempfile::tempdir().unwrap();
        let (a, b): (ConnectionId, ConnectionId) = ("a".parse().unwrap(), "b".parse().unwrap());
        let (old, new) = (Digest::of(b"old"), Digest::of(b"new"));
        let mut numbering = Numbering::open(data.path()).unwrap();
        assert_eq!(numbering.number(&a, old), Generation(1));
        assert_eq!(numbering.number(&b, old), Generation(1));
        assert_eq!(numbering.number(&a, new), Generation(2));
        let name = numbering.name(&[b"token"]);
        numbering.keep().unwrap();
        let mode = std::fs::metadata(data.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let mut again = Numbering::open(data.path()).unwrap();
        assert_eq!(again.number(&a, new), Generation(2), "the same digest keeps its number");
        assert_eq!(again.number(&a, old), Generation(3), "a number is never used again");
        assert_eq!(again.name(&[b"token"]), name, "a name outlives the process");
        assert_ne!(Numbering::passing().name(&[b"token"]), name, "and means nothing elsewhere");
        assert_ne!(again.name(&[b"to", b"ken"]), again.name(&[b"tok", b"en"]));
    }

    #[test]
    fn a_damaged_file_is_not_replaced() {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join(FILE), b"{").unwrap();
        assert_eq!(Numbering::open(data.path()).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(std::fs::read(data.path().join(FILE)).unwrap(), b"{");
    }
}
