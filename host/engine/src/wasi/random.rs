//! `wasi:random`: a generator of its own for every instance.

use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

use super::WasiView;
use crate::failure::Stop;

/// Random bytes of one request. A key has 32.
const BYTES_MAX: u64 = 64 * 1024;

/// What every pure call sees.
const CONSTANT_SEED: u64 = 0;

/// The generator of one instance.
pub(super) struct Random {
    rng: StdRng,
    constant: bool,
    /// Something was drawn since the call began.
    drawn: bool,
}

impl Random {
    pub(super) fn constant() -> Self {
        Self { rng: StdRng::seed_from_u64(CONSTANT_SEED), constant: true, drawn: false }
    }

    pub(super) fn live() -> Self {
        Self { rng: StdRng::from_os_rng(), constant: false, drawn: false }
    }

    /// Every pure call begins with the same bytes, whatever the instance did before.
    pub(super) fn begin(&mut self) {
        if self.constant && self.drawn {
            *self = Self::constant();
        }
    }

    fn rng(&mut self) -> &mut StdRng {
        self.drawn = true;
        &mut self.rng
    }
}

impl WasiView<'_> {
    fn random_bytes(&mut self, count: u64) -> wasmtime::Result<Vec<u8>> {
        self.call.count()?;
        let limit = BYTES_MAX as usize;
        let count = usize::try_from(count).ok().filter(|&count| count <= limit);
        let count = count.ok_or(Stop::Budget { which: "random bytes of one request", limit })?;
        let mut bytes = vec![0; count];
        self.wasi.random.rng().fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn random_u64(&mut self) -> wasmtime::Result<u64> {
        self.call.count()?;
        Ok(self.wasi.random.rng().next_u64())
    }
}

impl random::Host for WasiView<'_> {
    fn get_random_bytes(&mut self, count: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(count)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_u64()
    }
}

impl insecure::Host for WasiView<'_> {
    fn get_insecure_random_bytes(&mut self, count: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(count)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_u64()
    }
}

impl insecure_seed::Host for WasiView<'_> {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((self.random_u64()?, self.random_u64()?))
    }
}
