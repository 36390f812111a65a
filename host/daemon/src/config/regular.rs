//! Reads files that somebody named: regular ones only, and no more of them than may be there.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// The whole file, or `None` when it is longer than `most` bytes. A device, a pipe or a folder is an error: they may have no end,
/// or make whoever reads them wait for ever.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), Some(b"12345".to_vec()));
        assert_eq!(read(&path, 4).unwrap(), None);
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for odd in [Path::new("/dev/zero"), folder.path(), &pipe] {
            assert!(read(odd, 5).unwrap_err().to_string().contains("regular"), "{}", odd.display());
        }
        assert_eq!(read(Path::new("/nowhere"), 5).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
