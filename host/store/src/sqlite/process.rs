//! One process at a time: a lock that the kernel lets go of when its holder dies, however it dies.
//!
//! Advisory, and only as good as the file system: not on NFS and the like.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};

use crate::error::{Result, StoreError};
use crate::sqlite::open::{Place, open_private};

/// Held while this lives.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the folder, or says who has it.
    pub(super) fn take(place: &Place) -> Result<Self> {
        let path = place.lock();
        let unusable = |what: &str, error: std::io::Error| StoreError::Unusable {
            path: path.display().to_string(),
            reason: format!("{what}: {error}"),
        };
        let mut file = open_private(&path).map_err(|error| unusable("open the lock", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Only for the message: the lock itself is the truth.
                let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(StoreError::Locked { path: place.folder().display().to_string(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(unusable("take the lock", error)),
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|error| unusable("write the lock", error))?;
        Ok(Self { _file: file })
    }
}
