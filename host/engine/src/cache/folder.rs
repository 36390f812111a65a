//! The folder: made for the host alone, checked at the start, written by rename, and kept to a size.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;

use super::CacheError;
use crate::compile::ARTIFACT_BYTES_MAX;

/// Artifacts that are kept. The oldest go first: those of earlier engines and of connectors that were replaced.
const ARTIFACTS_MAX: usize = 64;

/// What stands around an artifact in its file at most.
const SEAL_BYTES_MAX: u64 = 1024 * 1024;

const EXTENSION: &str = "artifact";

pub(super) struct Folder {
    path: PathBuf,
}

/// Under what name a file is written before it gets its own: nobody else's, of another process or of another cache in this one.
pub(super) fn temporary() -> String {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}.new", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed))
}

impl Folder {
    /// Makes it where it is missing, and makes sure that nobody else can put anything there.
    pub(super) fn open(path: PathBuf) -> Result<Self, CacheError> {
        let io = |error| CacheError::Io { path: path.clone(), error };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(io)?;
        let metadata = fs::metadata(&path).map_err(io)?;
        let refuse = |problem: String, todo: String| Err(CacheError::Unsafe { path: path.clone(), problem, todo });
        let mode = metadata.mode() & 0o7777;
        if mode & 0o022 != 0 {
            let todo = format!("run `chmod 700 {}`, and remove what you did not put there", path.display());
            return refuse(format!("its mode is {mode:o}, others could put code there"), todo);
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return refuse("it belongs to another user".to_owned(), "give the host a folder of its own".to_owned());
        }
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A whole file, or `None` when there is none. A link is not followed.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let opened = fs::File::options().read(true).custom_flags(nofollow).open(self.path.join(name));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let bytes_max = ARTIFACT_BYTES_MAX + SEAL_BYTES_MAX;
        // All at once, where the length is what it says. One more byte, or the end would be looked for in a larger buffer.
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(bytes_max)).unwrap_or_default() + 1);
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes a file so that it is there whole or not at all, and removes the oldest ones beyond the number that is kept.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.path.join(temporary());
        let written = self.write_to(&temporary, bytes).and_then(|()| fs::rename(&temporary, self.path.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written.and_then(|()| self.prune())
    }

    fn write_to(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
        // A torn file would only be compiled again; still, better once than at every start after a power cut.
        file.sync_all()
    }

    fn prune(&self) -> io::Result<()> {
        let mut artifacts = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                artifacts.push((fs::symlink_metadata(&path)?.mtime(), path));
            }
        }
        artifacts.sort();
        let over = artifacts.len().saturating_sub(ARTIFACTS_MAX);
        artifacts.into_iter().take(over).try_for_each(|(_, path)| fs::remove_file(path))
    }
}
