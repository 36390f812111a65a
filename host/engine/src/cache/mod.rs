//! Compiled components on disk.
//!
//! Promised: an artifact is used only if this host's key made it, for this very component and this very engine; it is read
//! into memory once, verified there, and only then taken as code. Anything else, whatever is wrong with it, is as if it were
//! not there: one warning, and the component is compiled again. A folder that others may write to is refused at the start.
//!
//! What was found out of a component before it was compiled (its imports and exports) lies under the same MAC: an artifact
//! vouches for a file that was checked whole, and is not checked again.

pub(crate) mod deserialize;
mod folder;
mod key;
mod seal;

use std::hash::{Hash as _, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use jackfield_model::Digest;
use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

use self::folder::Folder;
use self::key::Key;
use self::seal::{Contents, Sealed};
use crate::compile;
use crate::load::{LoadError, Shape};

/// Why the cache can't be used. The host does not start with it.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or the key in it can't be made, read or written.
    #[error("cache {path}: {error}; give the host a folder of its own that it may write to", path = path.display())]
    Io {
        /// What could not be used.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Others could put code there.
    #[error("cache {path}: {problem}; {todo}", path = path.display())]
    Unsafe {
        /// What is unsafe.
        path: PathBuf,
        /// Why.
        problem: String,
        /// What to do.
        todo: String,
    },
}

/// What the cache has of a component.
pub(crate) struct Kept {
    pub(crate) component: Component,
    pub(crate) artifact_size: usize,
    pub(crate) shape: Shape,
}

/// The cache of one engine.
pub(crate) struct Cache(Arc<Inner>);

struct Inner {
    folder: Folder,
    key: Key,
    /// What an artifact must have been made for.
    compatibility: [u8; 32],
    engine: wasmtime::Engine,
}

impl Cache {
    /// Makes folder and key where they are missing, and checks both.
    pub(crate) fn open(path: PathBuf, engine: &wasmtime::Engine) -> Result<Self, CacheError> {
        let folder = Folder::open(path)?;
        let key = Key::open(folder.path())?;
        let mut hasher = Sha256Hasher(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let compatibility = hasher.0.finalize().into();
        Ok(Self(Arc::new(Inner { folder, key, compatibility, engine: engine.clone() })))
    }

    /// The component, where there is a good artifact of it.
    pub(crate) async fn find(&self, digest: Digest) -> Option<Kept> {
        let inner = Arc::clone(&self.0);
        let found = compile::blocking(move || Ok(inner.find(digest))).await;
        match found {
            Ok(Ok(found)) => found,
            Ok(Err(problem)) => {
                tracing::warn!(%digest, problem, "cached artifact refused, compile again");
                None
            }
            Err(error) => {
                tracing::warn!(%digest, %error, "read cached artifact failed, compile again");
                None
            }
        }
    }

    /// Keeps an artifact. A cache that can't be written costs time, nothing else.
    pub(crate) async fn keep(&self, digest: Digest, shape: &Shape, artifact: &[u8]) {
        let inner = Arc::clone(&self.0);
        let sealed = serde_json::to_vec(shape).map(|shape| inner.seal(digest, &shape, artifact));
        let kept = compile::blocking(move || {
            let host = |error: &dyn std::fmt::Display| LoadError::Host(error.to_string());
            let sealed = sealed.map_err(|error| host(&error))?;
            inner.folder.write(&inner.name(digest), &sealed).map_err(|error| host(&error))
        });
        if let Err(error) = kept.await {
            tracing::warn!(%digest, %error, "keep artifact failed");
        }
    }
}

impl Inner {
    fn find(&self, digest: Digest) -> Result<Option<Kept>, String> {
        let read = self.folder.read(&self.name(digest)).map_err(|error| error.to_string())?;
        let Some(bytes) = read else { return Ok(None) };
        let Contents { shape, artifact } = self.expected(digest).open(&self.key, &bytes)?;
        let shape = serde_json::from_slice(shape).map_err(|error| error.to_string())?;
        let component = deserialize::verified(&self.engine, artifact).map_err(|error| format!("{error:#}"))?;
        Ok(Some(Kept { component, artifact_size: artifact.len(), shape }))
    }

    fn seal(&self, digest: Digest, shape: &[u8], artifact: &[u8]) -> Vec<u8> {
        self.expected(digest).seal(&self.key, Contents { shape, artifact })
    }

    fn expected(&self, digest: Digest) -> Sealed {
        Sealed { digest: digest.0, compatibility: self.compatibility }
    }

    fn name(&self, digest: Digest) -> String {
        let (engine, _) = self.compatibility.split_at(8);
        format!("{}-{}.artifact", digest.hex(), hex::encode(engine))
    }
}

/// A hash that is the same in every process.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.clone().finalize().iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
