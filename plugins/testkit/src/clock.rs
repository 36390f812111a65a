//! Time, in one place: milliseconds since a double started (monotonic, for the log and for deadlines), and wall time, which
//! only snowflakes and timestamps use.

use tokio::time::Instant;

/// Counts milliseconds since it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Wall time in milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    u64::try_from(time::OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000).unwrap_or(0)
}
