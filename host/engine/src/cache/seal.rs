//! The form of a cached artifact: what it is for, then its MAC, then the artifact.

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::key::Key;

/// Begins every file, with the version of this form.
const MAGIC: &[u8; 8] = b"JFART\0\0\x01";

const MAC_BYTES: usize = 32;

/// What an artifact was made from and for.
pub(super) struct Sealed {
    /// Of the component.
    pub(super) digest: [u8; 32],
    /// Of the engine.
    pub(super) compatibility: [u8; 32],
}

impl Sealed {
    /// The file.
    pub(super) fn seal(&self, key: &Key, artifact: &[u8]) -> Vec<u8> {
        let header = self.header(artifact.len());
        let mac = mac(key, &header, artifact).finalize().into_bytes();
        [&header, mac.as_slice(), artifact].concat()
    }

    /// The artifact, if the file is whole, ours, and for this.
    pub(super) fn open<'a>(&self, key: &Key, file: &'a [u8]) -> Result<&'a [u8], String> {
        let header_bytes = self.header(0).len();
        let (header, rest) = file.split_at_checked(header_bytes).ok_or("truncated")?;
        let (tag, artifact) = rest.split_at_checked(MAC_BYTES).ok_or("truncated")?;
        // The MAC first: nothing that it does not cover is looked at.
        mac(key, header, artifact).verify_slice(tag).map_err(|_| "not made by this host, or changed since")?;
        if header != self.header(artifact.len()) {
            return Err("made for another component or another engine".to_owned());
        }
        Ok(artifact)
    }

    fn header(&self, artifact_bytes: usize) -> Vec<u8> {
        let length = (artifact_bytes as u64).to_le_bytes();
        [MAGIC.as_slice(), &self.digest, &self.compatibility, &length].concat()
    }
}

fn mac(key: &Key, header: &[u8], artifact: &[u8]) -> Hmac<Sha256> {
    key.hmac().chain_update(header).chain_update(artifact)
}
