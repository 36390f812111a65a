//! Time, in one place: monotonic for the log and for deadlines, wall time for snowflakes and timestamps alone. A crate of its
//! own right: the testkit stands on none of the host's.
#![allow(clippy::disallowed_methods, reason = "this is where the testkit reads the clocks")]

use tokio::time::Instant;

/// Counts milliseconds since it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: now() }
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Wall time in milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    u64::try_from(time::OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000).unwrap_or(0)
}
