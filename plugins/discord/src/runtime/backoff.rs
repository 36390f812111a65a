//! How long to wait before trying again: longer each time, never longer than the ceiling, never all at once.

/// A rule for waits. Times are milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Before the first further attempt; twice as long before each one after it.
    pub base_ms: u32,
    /// Longest wait.
    pub ceiling_ms: u32,
    /// Shortest wait.
    pub floor_ms: u32,
}

impl Backoff {
    /// The wait after `failures` attempts failed: between half of the full wait and all of it, by `random`.
    #[must_use]
    pub fn wait_ms(self, failures: u32, random: u32) -> u32 {
        let doublings = failures.saturating_sub(1).min(31);
        let full = self.base_ms.saturating_mul(1_u32 << doublings).min(self.ceiling_ms);
        let half = full / 2;
        let wait = half.saturating_add(within(full - half, random));
        wait.max(self.floor_ms).min(self.ceiling_ms)
    }
}

/// A share of `most`, `random` being even over all 32 bits.
#[must_use]
pub(super) fn within(most: u32, random: u32) -> u32 {
    let share = ((u64::from(most) + 1) * u64::from(random)) >> 32;
    u32::try_from(share).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_is_between_floor_and_ceiling() {
        for base_ms in [0, 1, 1_000, 3_600_000] {
            let rule = Backoff { base_ms, ceiling_ms: 60_000, floor_ms: 250 };
            for failures in [0, 1, 2, 31, 32, 33, 63, 64, 65, u32::MAX] {
                for random in [0, 1, u32::MAX / 2, u32::MAX] {
                    let wait = rule.wait_ms(failures, random);
                    assert!((250..=60_000).contains(&wait), "{base_ms} {failures} {wait}");
                }
            }
        }
    }

    #[test]
    fn waits_double() {
        let rule = Backoff { base_ms: 1_000, ceiling_ms: 60_000, floor_ms: 0 };
        let full: Vec<u32> = (1..9).map(|failures| rule.wait_ms(failures, u32::MAX)).collect();
        assert_eq!(full, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    }
}
