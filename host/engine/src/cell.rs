//! One instance in one store, and how it is called: deadline armed, panics caught, and thrown away after any failure.
//!
//! A call is three steps, so that the future in the middle borrows what it likes: `begin`, [`bounded`] around the generated
//! function, `end`. Whoever drops the future between them leaves the cell running for ever, and so unusable.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use wasmtime::component::Instance;
use wasmtime::{Store, UpdateDeadline, WasmBacktrace};

use crate::component::Component;
use crate::engine::Engine;
use crate::failure::{CallFailure, FailureKind, Stop, kind_of};
use crate::guest::Guest;
use crate::limits::{HANDLES_REPLACE_PERCENT, TRANSFER_BYTES_MAX};
use crate::log::MESSAGE_BYTES_MAX;
use crate::phase::Phase;
use crate::ticker::TICK;

/// How long past its deadline a waiting call is given: a running one is stopped by the tick before, with a better reason.
const GRACE: Duration = Duration::from_millis(2 * TICK.as_millis() as u64);

/// Frames of a backtrace that are told.
const FRAMES_MAX: usize = 8;

/// The name of what happens before any export is called.
const INSTANTIATE: &str = "instantiate";

pub(crate) struct Cell {
    engine: Engine,
    pub(crate) store: Store<Guest>,
    /// `None` only while it is being made.
    instance: Option<Instance>,
    state: State,
    calls: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Running,
    Dead,
}

/// How a call came back from wasmtime.
pub(crate) enum Returned<T> {
    Value(T),
    Error(wasmtime::Error),
    Panic(Box<dyn Any + Send>),
}

/// Waits for a call: no longer than its limit, and not past a panic in one of the host's functions.
pub(crate) async fn bounded<T>(limit: Duration, call: impl Future<Output = wasmtime::Result<T>>) -> Returned<T> {
    let caught = AssertUnwindSafe(call).catch_unwind();
    match tokio::time::timeout(limit + GRACE, caught).await {
        Ok(Ok(Ok(value))) => Returned::Value(value),
        Ok(Ok(Err(error))) => Returned::Error(error),
        Ok(Err(panic)) => Returned::Panic(panic),
        Err(_) => Returned::Error(Stop::Deadline(limit).into()),
    }
}

impl Cell {
    /// A fresh instance. Its start functions and initialisers have run, under `limit`.
    pub(crate) async fn new(component: &Component, guest: Guest, limit: Duration) -> Result<Self, CallFailure> {
        let engine = component.engine().clone();
        let handles = guest.limits.handles;
        let mut store = Store::new(engine.wasmtime(), guest);
        store.limiter(|guest| &mut guest.limiter);
        store.set_hostcall_fuel(TRANSFER_BYTES_MAX);
        store.set_max_component_handles(handles as usize);
        let ticks = engine.clone();
        store.epoch_deadline_callback(move |mut store| {
            let guest = store.data_mut();
            if ticks.ticks() >= guest.deadline {
                return Err(Stop::Deadline(guest.limit).into());
            }
            // Reached only while the guest itself runs: what it waits for in the host does not count.
            guest.busy += 1;
            if guest.busy > ticks_of(guest.limits.call) {
                return Err(Stop::Busy(guest.limits.call).into());
            }
            // Tokio's own yield lets timers and sockets be served before this task runs again.
            Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
        });
        let mut cell = Self { engine, store, instance: None, state: State::Idle, calls: 0 };
        cell.begin(INSTANTIATE, Phase::Instantiate, limit)?;
        let returned = bounded(limit, component.pre().instantiate_async(&mut cell.store)).await;
        cell.instance = Some(cell.end(INSTANTIATE, returned)?);
        Ok(cell)
    }

    /// Looks up an interface of the instance.
    pub(crate) fn interface<T>(
        &mut self,
        load: impl FnOnce(&mut Store<Guest>, &Instance) -> wasmtime::Result<T>,
    ) -> Result<T, CallFailure> {
        let instance = self.instance.ok_or_else(|| CallFailure::refused(INSTANTIATE, "not instantiated"))?;
        load(&mut self.store, &instance).map_err(|error| {
            self.state = State::Dead;
            CallFailure::trap(INSTANTIATE, format!("{error:#}"))
        })
    }

    /// Arms the deadline and clears what the call before left.
    pub(crate) fn begin(&mut self, export: &'static str, phase: Phase, limit: Duration) -> Result<(), CallFailure> {
        if self.state != State::Idle {
            return Err(CallFailure::refused(export, "the instance is gone: an earlier call of it failed"));
        }
        let health = self.engine.health();
        if !health.is_healthy() {
            let age = health.last_tick_age.as_millis();
            return Err(CallFailure::refused(
                export,
                format!("the engine's clock stands still ({age} ms): restart the host"),
            ));
        }
        self.state = State::Running;
        self.calls += 1;
        let deadline = self.engine.ticks().saturating_add(ticks_of(limit));
        self.store.data_mut().begin(phase, limit, deadline);
        self.store.set_epoch_deadline(1);
        Ok(())
    }

    /// Takes what came back. After anything but a value the instance is gone.
    pub(crate) fn end<T>(&mut self, export: &'static str, returned: Returned<T>) -> Result<T, CallFailure> {
        let guest = self.store.data_mut();
        guest.wasi.stdio.end();
        let (kind, reason) = match returned {
            Returned::Value(value) => {
                self.state = State::Idle;
                return Ok(value);
            }
            Returned::Error(error) => (kind_of(&error, guest.limiter.refused), reason(&error)),
            Returned::Panic(panic) => (FailureKind::Host, format!("the host panicked: {}", text_of(&*panic))),
        };
        self.state = State::Dead;
        let tail = guest.wasi.stdio.tail();
        let message = if tail.is_empty() { reason } else { format!("{reason}; stderr: {tail}") };
        Err(CallFailure { kind, export, message: guest.log.fit(&message, MESSAGE_BYTES_MAX).into_owned() })
    }

    /// Makes it unusable, for what the host itself finds wrong after a call.
    pub(crate) fn kill(&mut self) {
        self.state = State::Dead;
    }

    /// Whether a pool should go on with it: alive, not too old, and not close to its handle ceiling.
    pub(crate) fn is_fit(&mut self) -> bool {
        self.state == State::Idle && self.calls < self.store.data().limits.calls_per_instance && !self.is_worn()
    }

    /// Whether it comes close to its handle ceiling.
    pub(crate) fn is_worn(&mut self) -> bool {
        let guest = self.store.data_mut();
        guest.handles() >= guest.limits.handles as usize * HANDLES_REPLACE_PERCENT / 100
    }
}

/// Ticks in this time, and one more: the first may come at once.
fn ticks_of(time: Duration) -> u64 {
    u64::try_from(time.as_millis().div_ceil(TICK.as_millis()) + 1).unwrap_or(u64::MAX)
}

/// The cause first, then where it happened.
fn reason(error: &wasmtime::Error) -> String {
    let mut reason = error.root_cause().to_string();
    if let Some(trace) = error.downcast_ref::<WasmBacktrace>() {
        let frames = trace.frames().iter().take(FRAMES_MAX);
        let frames: Vec<_> = frames.map(|frame| frame.func_name().unwrap_or("?")).collect();
        if !frames.is_empty() {
            reason = format!("{reason}, in {}", frames.join(" < "));
        }
    }
    reason
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}
