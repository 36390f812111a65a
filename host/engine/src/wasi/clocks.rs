//! `wasi:clocks`: milliseconds of the wall, nanoseconds since the instance was made, and waiting.

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::Monotonic;
use jackfield_model::clock::SharedClock;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::{self, Duration as Nanoseconds, Instant};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::{self, Datetime};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use super::WasiView;

/// What the clocks show.
pub(super) struct Clocks {
    clock: SharedClock,
    /// Where the monotonic clock began. `None`: both clocks stand at zero.
    origin: Option<Monotonic>,
}

impl Clocks {
    pub(super) fn constant(clock: SharedClock) -> Self {
        Self { clock, origin: None }
    }

    pub(super) fn live(clock: SharedClock) -> Self {
        let origin = Some(clock.monotonic());
        Self { clock, origin }
    }

    fn monotonic(&self) -> Duration {
        self.origin.map_or(Duration::ZERO, |origin| self.clock.monotonic().saturating_duration_since(origin))
    }
}

impl wall_clock::Host for WasiView<'_> {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        self.call.count()?;
        let millis = if self.wasi.clocks.origin.is_some() { self.wasi.clocks.clock.now().0 } else { 0 };
        let since = Duration::from_millis(millis);
        Ok(Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() })
    }

    fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        self.call.count()?;
        Ok(Datetime { seconds: 0, nanoseconds: 1_000_000 })
    }
}

impl monotonic_clock::Host for WasiView<'_> {
    fn now(&mut self) -> wasmtime::Result<Instant> {
        self.call.count()?;
        Ok(nanoseconds(self.wasi.clocks.monotonic()))
    }

    fn resolution(&mut self) -> wasmtime::Result<Nanoseconds> {
        self.call.count()?;
        Ok(1)
    }

    fn subscribe_instant(&mut self, when: Instant) -> wasmtime::Result<Resource<DynPollable>> {
        self.call.count()?;
        let wait = Duration::from_nanos(when).saturating_sub(self.wasi.clocks.monotonic());
        self.wait(wait)
    }

    fn subscribe_duration(&mut self, wait: Nanoseconds) -> wasmtime::Result<Resource<DynPollable>> {
        self.call.count()?;
        self.wait(Duration::from_nanos(wait))
    }
}

fn nanoseconds(since: Duration) -> u64 {
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl WasiView<'_> {
    fn wait(&mut self, wait: Duration) -> wasmtime::Result<Resource<DynPollable>> {
        let until = self.wasi.clocks.clock.monotonic().checked_add(wait);
        let wait = self.table.push(Wait { until: until.map(tokio::time::Instant::from_std) })?;
        subscribe(self.table, wait)
    }
}

/// A point in time, or never.
struct Wait {
    until: Option<tokio::time::Instant>,
}

#[async_trait]
impl Pollable for Wait {
    async fn ready(&mut self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
