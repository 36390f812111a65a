//! The form of a cached artifact: what it is for, then its MAC, then what was found out of the component and its code.

use super::key::Key;

/// Begins every file, with the version of this form.
const MAGIC: &[u8; 8] = b"JFART\0\0\x02";

const MAC_BYTES: usize = 32;

/// What an artifact was made from and for.
pub(super) struct Sealed {
    /// Of the component.
    pub(super) digest: [u8; 32],
    /// Of the engine.
    pub(super) compatibility: [u8; 32],
}

/// What lies under a seal.
#[derive(Clone, Copy)]
pub(super) struct Contents<'a> {
    /// What the component imports and exports.
    pub(super) shape: &'a [u8],
    /// Its code.
    pub(super) artifact: &'a [u8],
}

impl Sealed {
    /// The file.
    pub(super) fn seal(&self, key: &Key, contents: Contents<'_>) -> Vec<u8> {
        let Contents { shape, artifact } = contents;
        let header = self.header(contents);
        let mac = key.mac(&[&header, shape, artifact]);
        [&header, mac.as_bytes().as_slice(), shape, artifact].concat()
    }

    /// What was sealed, if the file is whole, ours, and for this.
    pub(super) fn open<'a>(&self, key: &Key, file: &'a [u8]) -> Result<Contents<'a>, String> {
        let (header, rest) = file.split_at_checked(HEADER_BYTES).ok_or("truncated")?;
        let (tag, body) = rest.split_first_chunk::<MAC_BYTES>().ok_or("truncated")?;
        // The MAC first: nothing that it does not cover is looked at. This comparison takes the same time wherever they differ.
        if key.mac(&[header, body]) != *tag {
            return Err("not made by this host, or changed since".to_owned());
        }
        let foreign = || "made for another component or another engine".to_owned();
        let length =
            header.last_chunk().map(|bytes| u64::from_le_bytes(*bytes)).and_then(|length| length.try_into().ok());
        let (shape, artifact) = length.and_then(|length| body.split_at_checked(length)).ok_or_else(foreign)?;
        let contents = Contents { shape, artifact };
        if header != self.header(contents) {
            return Err(foreign());
        }
        Ok(contents)
    }

    fn header(&self, contents: Contents<'_>) -> Vec<u8> {
        let [artifact, shape] = [contents.artifact, contents.shape].map(|part| (part.len() as u64).to_le_bytes());
        [MAGIC.as_slice(), &self.digest, &self.compatibility, &artifact, &shape].concat()
    }
}

/// Magic, both hashes, both lengths.
const HEADER_BYTES: usize = 8 + 32 + 32 + 8 + 8;
