//! The socket: where it lies, and that nobody but its owner can open it, not even for the moment of its making.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use tokio::net::UnixListener;

/// Longest path of a Unix socket, in bytes: `sun_path` has 108 on Linux, the last one for a NUL (unix(7)).
const PATH_BYTES_MAX: usize = 107;

/// Its name in the data folder.
const NAME: &str = "admin.sock";

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The kernel takes no such path.
    #[error(
        "the path of the admin socket, {path}, has {bytes} bytes and may have {PATH_BYTES_MAX}: choose a data folder with a shorter path"
    )]
    TooLong {
        /// Where it would lie.
        path: String,
        /// How long that is.
        bytes: usize,
    },
    /// Something else.
    #[error("make the admin socket {path}: {source}")]
    System {
        /// Where it would lie.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Where the socket of the host with this data folder lies.
///
/// # Errors
/// When the kernel takes no such path.
pub fn path(data: &Path) -> Result<PathBuf, BindError> {
    let path = data.join(NAME);
    let bytes = path.as_os_str().as_bytes().len();
    if bytes > PATH_BYTES_MAX {
        return Err(BindError::TooLong { path: path.display().to_string(), bytes });
    }
    Ok(path)
}

/// A socket that is listened on. Its file goes with it.
#[derive(Debug)]
pub struct Bind {
    pub(super) listener: UnixListener,
    path: PathBuf,
}

impl Bind {
    /// Makes the socket. Only for the process that holds the store's lock of this folder: a socket that lies there was
    /// then left by a process that is gone, and is replaced.
    ///
    /// # Errors
    /// [`BindError`].
    pub fn new(data: &Path) -> Result<Self, BindError> {
        let path = path(data)?;
        let failed = |source: io::Error| BindError::System { path: path.display().to_string(), source };
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        // A mode set after the bind would come a moment too late. What else this process makes in that moment is made
        // closed too.
        let before = rustix::process::umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
        let bound = UnixListener::bind(&path);
        rustix::process::umask(before);
        Ok(Self { listener: bound.map_err(failed)?, path })
    }
}

impl Drop for Bind {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn only_its_owner_can_open_it() {
        let data = tempfile::tempdir().unwrap();
        let path = path(data.path()).unwrap();
        std::fs::write(&path, b"left over").unwrap();
        let bound = Bind::new(data.path()).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(bound);
        assert!(!path.exists());
    }

    #[test]
    fn a_long_path_is_told() {
        let deep = Path::new("/").join("x".repeat(100));
        assert!(path(&deep).unwrap_err().to_string().contains("shorter path"));
        assert!(path(&Path::new("/").join("x".repeat(95))).is_ok());
    }
}
