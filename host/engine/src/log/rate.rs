//! How many lines a connection may write: a bucket of tokens.

use std::sync::{Mutex, PoisonError};

use jackfield_model::Monotonic;
use jackfield_model::clock::SharedClock;

/// Lines at once. A start that says what it does needs a few dozen.
const BURST_LINES: f64 = 200.0;

/// Lines a second after that.
const LINES_PER_SECOND: f64 = 20.0;

pub(super) struct Rate {
    clock: SharedClock,
    bucket: Mutex<Bucket>,
}

struct Bucket {
    lines: f64,
    at: Monotonic,
}

impl Rate {
    pub(super) fn new(clock: SharedClock) -> Self {
        let at = clock.monotonic();
        Self { clock, bucket: Mutex::new(Bucket { lines: BURST_LINES, at }) }
    }

    /// Takes one line from the share, if there is one.
    pub(super) fn admit(&self) -> bool {
        let now = self.clock.monotonic();
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let earned = now.saturating_duration_since(bucket.at).as_secs_f64() * LINES_PER_SECOND;
        bucket.lines = (bucket.lines + earned).min(BURST_LINES);
        bucket.at = now;
        if bucket.lines < 1.0 {
            return false;
        }
        bucket.lines -= 1.0;
        true
    }
}
