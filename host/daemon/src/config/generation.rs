//! The numbering of generations, and names of credentials.
//!
//! A connection's number grows whenever another component digest serves it, and is never used again; events carry it. Names of
//! credentials are made with a key, so that they say nothing about the credential, even to somebody who can guess one. Both
//! are the store's (`jackfield_store::generation`); this is how a configuration is brought together with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use hmac::{Hmac, Mac as _};
use jackfield_model::{ConnectionId, Digest, Generation};
use jackfield_store::generation::{NamingKey, Serving};
use jackfield_store::{Generations, StoreError};
use sha2::Sha256;

/// The numbering.
#[derive(Clone)]
pub struct Numbering {
    key: NamingKey,
    numbers: Numbers,
}

#[derive(Clone)]
enum Numbers {
    /// The store gives them out.
    Given(Arc<dyn Generations>),
    /// What the store would give, as far as it had given any when this was made.
    Guessed(BTreeMap<ConnectionId, Serving>),
}

impl Numbering {
    /// One that is kept nowhere, for a look at a configuration that runs nothing.
    #[must_use]
    pub fn passing() -> Self {
        Self { key: fresh(), numbers: Numbers::Guessed(BTreeMap::new()) }
    }

    /// The one of a store.
    ///
    /// # Errors
    /// When the store can't be read or written.
    pub async fn of(store: Arc<dyn Generations>) -> Result<Self, StoreError> {
        Ok(Self { key: store.naming_key(fresh()).await?, numbers: Numbers::Given(store) })
    }

    /// The same names, and the numbers that would be given; nothing is written any more.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn guessing(&self) -> Result<Self, StoreError> {
        let numbers = match &self.numbers {
            Numbers::Given(store) => store.serving().await?.into_iter().collect(),
            Numbers::Guessed(known) => known.clone(),
        };
        Ok(Self { key: self.key.clone(), numbers: Numbers::Guessed(numbers) })
    }

    /// The number of this digest on this connection; the next one where another digest served it last.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn number(&self, connection: &ConnectionId, digest: Digest) -> Result<Generation, StoreError> {
        match &self.numbers {
            Numbers::Given(store) => store.number(connection, digest).await,
            Numbers::Guessed(known) => Ok(match known.get(connection) {
                Some(serving) if serving.digest == digest => serving.number,
                Some(serving) => Generation(serving.number.0.saturating_add(1)),
                None => Generation(1),
            }),
        }
    }

    /// A name for these parts together: the same for the same parts, and nothing else can be told from it.
    #[must_use]
    pub fn name(&self, parts: &[&[u8]]) -> String {
        // An HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.key.0.as_bytes()) else { return String::new() };
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        hex::encode(mac.finalize().into_bytes())
    }
}

fn fresh() -> NamingKey {
    NamingKey(hex::encode(rand::random::<[u8; 32]>()))
}

#[cfg(test)]
mod tests {
    use jackfield_store::sqlite::{Options, Sqlite};

    use super::*;

    #[tokio::test]
    async fn numbers_and_names_outlive_the_process() {
        let data = tempfile::tempdir().unwrap();
        let open = async || Numbering::of(Sqlite::open(data.path(), Options::default()).unwrap()).await.unwrap();
        let id: ConnectionId = "a".parse().unwrap();
        let (old, new) = (Digest::of(b"old"), Digest::of(b"new"));
        let numbering = open().await;
        assert_eq!(numbering.number(&id, old).await.unwrap(), Generation(1));
        assert_eq!(numbering.number(&id, new).await.unwrap(), Generation(2));
        let name = numbering.name(&[b"token"]);
        drop(numbering);

        let again = open().await;
        assert_eq!(again.number(&id, new).await.unwrap(), Generation(2), "the same digest keeps its number");
        assert_eq!(again.name(&[b"token"]), name);
        assert_ne!(Numbering::passing().name(&[b"token"]), name, "a name means nothing elsewhere");
        assert_ne!(again.name(&[b"to", b"ken"]), again.name(&[b"tok", b"en"]));
    }

    #[tokio::test]
    async fn a_guess_is_what_the_store_would_say_and_writes_nothing() {
        let data = tempfile::tempdir().unwrap();
        let store = Sqlite::open(data.path(), Options::default()).unwrap();
        let numbering = Numbering::of(store.clone()).await.unwrap();
        let (known, unknown): (ConnectionId, ConnectionId) = ("known".parse().unwrap(), "unknown".parse().unwrap());
        let (old, new) = (Digest::of(b"old"), Digest::of(b"new"));
        numbering.number(&known, old).await.unwrap();
        let guessing = numbering.guessing().await.unwrap();
        let before = store.serving().await.unwrap();
        for (id, digest, number) in [(&known, old, 1), (&known, new, 2), (&unknown, new, 1)] {
            for _ in 0..2 {
                assert_eq!(guessing.number(id, digest).await.unwrap(), Generation(number), "{id}");
            }
        }
        assert_eq!(guessing.name(&[b"token"]), numbering.name(&[b"token"]));
        assert_eq!(store.serving().await.unwrap(), before);
    }
}
