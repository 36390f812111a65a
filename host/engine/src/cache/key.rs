//! The key of the MAC: random, made once, readable by the host's user alone.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rand::TryRngCore as _;
use rand::rngs::OsRng;
use rustix::fs::OFlags;
use secrecy::zeroize::Zeroizing;

use super::CacheError;
use super::folder::temporary;

const NAME: &str = "key";
const BYTES: usize = 32;

pub(super) struct Key(Zeroizing<[u8; BYTES]>);

impl Key {
    /// Reads the key, or makes it.
    pub(super) fn open(folder: &Path) -> Result<Self, CacheError> {
        let path = folder.join(NAME);
        let io = |error| CacheError::Io { path: path.clone(), error };
        match Self::make(&path) {
            Ok(key) => return Ok(key),
            // Somebody else was first, now or long ago.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io(error)),
        }
        let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let mut file = std::fs::File::options().read(true).custom_flags(nofollow).open(&path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let unsafe_key = |problem: String| CacheError::Unsafe {
            path: path.clone(),
            problem,
            todo: "remove it: a new one is made, and components are compiled again".to_owned(),
        };
        if !metadata.is_file() || metadata.mode() & 0o077 != 0 {
            return Err(unsafe_key(format!("its mode is {:o}, others may read or write it", metadata.mode() & 0o7777)));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(unsafe_key("it belongs to another user".to_owned()));
        }
        if metadata.len() != BYTES as u64 {
            return Err(unsafe_key(format!("it has {} bytes, a key has {BYTES}", metadata.len())));
        }
        let mut bytes = Zeroizing::new([0; BYTES]);
        file.read_exact(bytes.as_mut_slice()).map_err(io)?;
        Ok(Self(bytes))
    }

    /// The MAC over these parts, one behind the other: BLAKE3 with a key. A cached component costs little more than reading its
    /// artifact and this, and it is four times as quick as an HMAC with SHA-256.
    pub(super) fn mac(&self, parts: &[&[u8]]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize()
    }

    /// A new key under a name of its own first, so that nobody ever reads half of one.
    fn make(path: &Path) -> std::io::Result<Self> {
        let mut bytes = Zeroizing::new([0; BYTES]);
        OsRng.try_fill_bytes(bytes.as_mut_slice()).map_err(std::io::Error::other)?;
        let temporary = path.with_file_name(temporary());
        let mut file = std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes.as_slice())?;
        file.sync_all()?;
        // Fails when there is one already: a rename would replace it under others' artifacts.
        let linked = std::fs::hard_link(&temporary, path);
        std::fs::remove_file(&temporary)?;
        linked.map(|()| Self(bytes))
    }
}
