//! Time, read in one place.
//!
//! Wall time stamps what people read; monotonic time measures waits. The monotonic clock counts the time that the
//! machine slept (`CLOCK_BOOTTIME` semantics are the lease's own concern); nothing compares wall clocks of two machines.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// This long after; stops at the largest timestamp.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(millis(wait)))
    }

    /// This long before; stops at the epoch.
    #[must_use]
    pub fn before(self, wait: Duration) -> Self {
        Self(self.0.saturating_sub(millis(wait)))
    }

    /// How long ago `earlier` was; zero when it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// RFC 3339 with milliseconds, as people and logs read it.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = i128::from(self.0).saturating_mul(1_000_000);
        match OffsetDateTime::from_unix_timestamp_nanos(nanos).ok().and_then(|at| at.format(&Rfc3339).ok()) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}ms", self.0),
        }
    }
}

/// A point on this process's monotonic clock.
pub type Monotonic = Instant;

/// Where time comes from. Handed to whatever needs it, so that a test can own it.
pub trait Clock: Send + Sync + 'static {
    /// Wall time.
    fn now(&self) -> Timestamp;
    /// Monotonic time.
    fn monotonic(&self) -> Monotonic;
}

/// A clock that many share.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clocks")]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).map(millis).unwrap_or_default())
    }

    fn monotonic(&self) -> Monotonic {
        Instant::now()
    }
}

/// The machine's clock, shared.
#[must_use]
pub fn system() -> SharedClock {
    Arc::new(SystemClock)
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_rfc3339() {
        assert_eq!(Timestamp(1_770_128_116_171).to_string(), "2026-02-03T14:15:16.171Z");
        assert_eq!(Timestamp(u64::MAX).to_string(), format!("{}ms", u64::MAX));
    }

    #[test]
    fn never_wraps() {
        assert_eq!(Timestamp(5).before(Duration::from_secs(1)), Timestamp(0));
        assert_eq!(Timestamp(u64::MAX).after(Duration::MAX), Timestamp(u64::MAX));
        assert_eq!(Timestamp(5).since(Timestamp(9)), Duration::ZERO);
    }
}
