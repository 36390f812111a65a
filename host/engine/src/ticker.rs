//! The clock of deadlines: an OS thread that counts ticks, and the watch over it.
//!
//! A guest that never calls back is stopped by these ticks alone. So a ticker that stands still must be noticed: every
//! tick is stamped, every call looks at the stamp before it enters a guest, and health shows it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use jackfield_model::Monotonic;
use jackfield_model::clock::SharedClock;

/// Time between two ticks. A yielding guest gives its thread back this often.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// A ticker that was silent for this long counts as dead.
const STALL: Duration = Duration::from_secs(1);

/// What is known of the ticker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Deadlines work. Calls are refused when not.
    pub alive: bool,
    /// Time since the last tick.
    pub last_tick_age: Duration,
    /// Ticks so far.
    pub ticks: u64,
}

/// The thread and its stamps. Ends with the last handle.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    /// Dropped to end the thread at once.
    _running: mpsc::Sender<()>,
}

struct Shared {
    clock: SharedClock,
    origin: Monotonic,
    /// Milliseconds after `origin`.
    last_tick: AtomicU64,
    ticks: AtomicU64,
    /// For tests: the thread lives and does not tick.
    stalled: AtomicBool,
}

impl Health {
    /// Guests may be called.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.alive
    }
}

impl Ticker {
    /// Starts the thread. `tick` must not block.
    pub(crate) fn start(clock: SharedClock, tick: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let origin = clock.monotonic();
        let shared = Arc::new(Shared {
            clock,
            origin,
            last_tick: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            stalled: AtomicBool::new(false),
        });
        let (running, stopped) = mpsc::channel::<()>();
        let stamps = Arc::clone(&shared);
        thread::Builder::new().name("jackfield-ticker".to_owned()).spawn(move || {
            while stopped.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
                if !stamps.stalled.load(Ordering::Relaxed) {
                    tick();
                    stamps.last_tick.store(stamps.since_origin(), Ordering::Relaxed);
                    stamps.ticks.fetch_add(1, Ordering::Relaxed);
                }
            }
        })?;
        Ok(Self { shared, _running: running })
    }

    /// Ticks so far.
    pub(crate) fn ticks(&self) -> u64 {
        self.shared.ticks.load(Ordering::Relaxed)
    }

    /// How it is now.
    pub(crate) fn health(&self) -> Health {
        let last = self.shared.last_tick.load(Ordering::Relaxed);
        let age = Duration::from_millis(self.shared.since_origin().saturating_sub(last));
        Health { alive: age <= STALL, last_tick_age: age, ticks: self.ticks() }
    }

    /// Lets it stand still, as a starved or dead thread would.
    #[cfg(test)]
    pub(crate) fn stall(&self, stalled: bool) {
        self.shared.stalled.store(stalled, Ordering::Relaxed);
    }
}

impl Shared {
    fn since_origin(&self) -> u64 {
        u64::try_from(self.clock.monotonic().saturating_duration_since(self.origin).as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_24_a_stalled_ticker_is_noticed() {
        let ticker = Ticker::start(jackfield_model::clock::system(), || {}).unwrap();
        let wait_until = |alive: bool| {
            let limit = jackfield_model::clock::system().monotonic() + Duration::from_secs(10);
            while ticker.health().alive != alive {
                assert!(jackfield_model::clock::system().monotonic() < limit, "{:?}", ticker.health());
                thread::yield_now();
            }
        };
        wait_until(true);
        ticker.stall(true);
        wait_until(false);
        let age = ticker.health().last_tick_age;
        assert!(age >= STALL && age < STALL * 2, "{age:?}");
        ticker.stall(false);
        wait_until(true);
    }
}
