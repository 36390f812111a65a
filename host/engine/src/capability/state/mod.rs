//! A small durable map, private to the connection.
//!
//! Promised: `get` sees what the same call has set; `set` and `delete` take effect when the call returns; keys and values
//! together stay within the granted bytes, judged by what is stored and what this call has asked for.

mod host;

use std::collections::BTreeMap;

use async_trait::async_trait;
use jackfield_model::session::Effect;
use jackfield_model::{Blob, Fault};
use wasmtime::component::{HasData, Linker};

use crate::effects::{Effects, label};
use crate::failure::Refusal;
use crate::guest::Guest;
use crate::phase::{ANY_SIDE_EFFECT, Call};
use crate::runtime::Host;

/// One connection's map as its calls see it: everything that earlier calls asked for is in it, durable or not.
#[async_trait]
pub trait Map: Send + Sync {
    /// The value of a key.
    ///
    /// # Errors
    /// `Unavailable` while the store is away.
    async fn get(&self, key: &str) -> Result<Option<Blob>, Fault>;
    /// Bytes of all keys and values.
    ///
    /// # Errors
    /// As `get`.
    async fn size(&self) -> Result<u64, Fault>;
}

/// What the running call has written. Thrown away with the call: its effects say the same.
#[derive(Default)]
pub(crate) struct Written {
    values: BTreeMap<String, Option<Blob>>,
    /// Bytes of the map with these writes in it, once it was asked for.
    size: Option<u64>,
}

/// What this import works on.
pub(super) struct StateView<'a> {
    call: &'a mut Call,
    effects: &'a mut Effects,
    written: &'a mut Written,
    host: Option<&'a Host>,
}

impl<'a> StateView<'a> {
    fn admit(&mut self, import: &'static str, key: &str) -> Result<&'a Host, Refusal> {
        self.call.admit(import, ANY_SIDE_EFFECT)?;
        let host = super::host(self.host, import)?;
        if host.rights.state_bytes == 0 {
            return Err(Fault::Denied("state".to_owned()).into());
        }
        label("key", key)?;
        Ok(host)
    }

    async fn get(&mut self, key: &str) -> Result<Option<Blob>, Refusal> {
        let host = self.admit("state.get", key)?;
        self.current(host, key).await
    }

    async fn set(&mut self, key: String, value: Blob) -> Result<(), Refusal> {
        let host = self.admit("state.set", &key)?;
        let size = self.size_without(host, &key).await?.saturating_add(weight(&key, &value));
        let quota = host.rights.state_bytes;
        if size > quota {
            return Err(Fault::Exhausted(format!("state: {size} bytes with this value, {quota} are granted")).into());
        }
        self.write(key.clone(), Some(value.clone()), size, Effect::StateSet { key, value })
    }

    async fn delete(&mut self, key: String) -> Result<(), Refusal> {
        let host = self.admit("state.delete", &key)?;
        let size = self.size_without(host, &key).await?;
        self.write(key.clone(), None, size, Effect::StateDelete { key })
    }

    fn write(&mut self, key: String, value: Option<Blob>, size: u64, effect: Effect) -> Result<(), Refusal> {
        let bytes = key.len() + value.as_ref().map_or(0, Blob::len);
        self.effects.push(effect, bytes)?;
        self.written.values.insert(key, value);
        self.written.size = Some(size);
        Ok(())
    }

    async fn current(&self, host: &Host, key: &str) -> Result<Option<Blob>, Refusal> {
        match self.written.values.get(key) {
            Some(value) => Ok(value.clone()),
            None => Ok(host.state.get(key).await?),
        }
    }

    /// Bytes of everything but this key.
    async fn size_without(&self, host: &Host, key: &str) -> Result<u64, Refusal> {
        let all = match self.written.size {
            Some(size) => size,
            None => host.state.size().await?,
        };
        let old = self.current(host, key).await?.map_or(0, |value| weight(key, &value));
        Ok(all.saturating_sub(old))
    }
}

fn weight(key: &str, value: &Blob) -> u64 {
    (key.len() as u64).saturating_add(value.len() as u64)
}

struct HasState;

impl HasData for HasState {
    type Data<'a> = StateView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::state::add_to_linker::<_, HasState>(linker, |guest| StateView {
        call: &mut guest.call,
        effects: &mut guest.effects,
        written: &mut guest.written,
        host: guest.host.as_ref(),
    })
}
