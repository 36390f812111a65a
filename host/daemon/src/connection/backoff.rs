//! How long to wait before the next try: exponential, capped, with jitter. Never zero by overflow, never longer than the cap.

use std::time::Duration;

use rand::Rng;

/// Shortest wait.
pub const FLOOR: Duration = Duration::from_secs(1);
/// Longest wait.
pub const CAP: Duration = Duration::from_secs(5 * 60);
/// A session that lived this long was stable: the next failure counts as the first. Being ready is not enough, since a
/// platform can accept a session and end it at once, for ever.
pub const STABLE: Duration = Duration::from_secs(5 * 60);

/// Failures in a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// A session that lived this long failed: how long to wait.
    pub fn after(&mut self, lived: Duration) -> Duration {
        if lived >= STABLE {
            self.failures = 0;
        }
        let wait = delay(self.failures, FLOOR, CAP, rand::rng().random());
        self.failures = self.failures.saturating_add(1);
        wait
    }

    /// Somebody changed something: begin anew.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

/// The wait after this many failures: between half and all of `floor` doubled that often, never outside `floor` and `cap`.
/// `dice` is uniform in 0..1.
fn delay(failures: u32, floor: Duration, cap: Duration, dice: f64) -> Duration {
    let doubled = 2u32.saturating_pow(failures.min(31));
    let whole = floor.saturating_mul(doubled).min(cap);
    whole.mul_f64(0.5 + dice / 2.0).clamp(floor.min(cap), cap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_every_delay_lies_between_floor_and_cap() {
        for failures in [0, 1, 2, 31, 32, 63, 64, 65, u32::MAX] {
            for floor in [Duration::ZERO, FLOOR, Duration::from_secs(3600)] {
                for dice in [0.0, 0.5, 0.999_999] {
                    let wait = delay(failures, floor, CAP, dice);
                    assert!(wait >= floor.min(CAP) && wait <= CAP, "{failures} {floor:?} {dice}: {wait:?}");
                }
            }
        }
        assert!(delay(31, FLOOR, CAP, 0.0) >= CAP / 2);
    }

    #[test]
    fn only_a_stable_session_begins_anew() {
        let mut backoff = Backoff::default();
        let short: Vec<_> = (0..12).map(|_| backoff.after(Duration::from_secs(30))).collect();
        assert!(short[11] >= CAP / 2, "{short:?}");
        assert!(backoff.after(STABLE) <= FLOOR * 2);
    }
}
