//! Checks that need a secret; what they promise stands in `crate::secret`. The guest names secrets and sees none.

mod host;

use std::sync::Arc;

use wasmtime::component::{HasData, Linker};

use crate::failure::{Refusal, Stop};
use crate::guest::Guest;
use crate::phase::{ANY_SIDE_EFFECT, Call};
use crate::runtime::Host;
use crate::secret::{Algorithm, Key, Secrets};

/// What this import works on.
pub(super) struct SignaturesView<'a> {
    call: &'a mut Call,
    host: Option<&'a Host>,
}

impl SignaturesView<'_> {
    /// Those of now: secrets may have been replaced since the call began.
    fn secrets(&mut self, import: &'static str) -> Result<Arc<Secrets>, Stop> {
        self.call.admit(import, ANY_SIDE_EFFECT)?;
        Ok(super::host(self.host, import)?.gate.secrets())
    }

    fn verify(
        &mut self,
        key: Key<'_>,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<bool, Refusal> {
        Ok(self.secrets("signatures.verify")?.verify(key, algorithm, message, signature)?)
    }

    fn equals(&mut self, secret: &str, candidate: &str) -> Result<bool, Refusal> {
        Ok(self.secrets("signatures.equals")?.equals(secret, candidate)?)
    }

    fn sign(&mut self, secret: &str, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, Refusal> {
        Ok(self.secrets("signatures.sign")?.sign(secret, algorithm, message)?)
    }
}

struct HasSignatures;

impl HasData for HasSignatures {
    type Data<'a> = SignaturesView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::signatures::add_to_linker::<_, HasSignatures>(linker, |guest| SignaturesView {
        call: &mut guest.call,
        host: guest.host.as_ref(),
    })
}
