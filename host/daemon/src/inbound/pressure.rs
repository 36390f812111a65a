//! How much may be unsettled before the session stops reading, before bodies leave memory, and before the inbox is full.

/// Bytes of unsettled dispatches in memory from which on everything that waits is written to the inbox, and what is there
/// leaves memory.
pub(super) const SPILL_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of unsettled dispatches in memory at which the session stops reading. Twice the spill: what is read in one call
/// (at most 4 MiB of effects) still fits.
pub(super) const HELD_BYTES_MAX: usize = 2 * SPILL_BYTES;

/// Unsettled dispatches at which the session stops reading, wherever their bytes are: each costs some 300 bytes of bookkeeping.
pub(super) const UNSETTLED_MAX: usize = 65_536;

/// Dispatches at the front of each lane that stay in memory: the next batch.
pub(super) const RESIDENT: usize = 32;

/// What is unsettled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Bytes in memory.
    pub held: usize,
    /// Bytes in inbox rows.
    pub stored: u64,
    /// Dispatches.
    pub count: usize,
}

impl Load {
    /// Whether the session must stop reading. Once it has, it reads again only when things are clearly better, so that it does
    /// not flutter.
    pub(super) fn presses(self, pressed: bool, inbox_bytes_max: u64) -> bool {
        let (share, whole) = if pressed { (3, 4) } else { (1, 1) };
        self.held >= HELD_BYTES_MAX * share / whole
            || self.count >= UNSETTLED_MAX * share / whole
            || self.stored >= inbox_bytes_max / whole as u64 * share as u64
    }
}

impl Load {
    /// Whether the session may not be called any more: a connector that submits without reading a socket is stopped here.
    pub(super) fn overloads(self, inbox_bytes_max: u64) -> bool {
        self.held >= HELD_BYTES_MAX / 4 * 5
            || self.count >= UNSETTLED_MAX / 4 * 5
            || self.stored >= inbox_bytes_max / 4 * 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_at_the_ceiling_and_lets_go_below_three_quarters() {
        for (load, part) in [
            (Load { held: HELD_BYTES_MAX, ..Load::default() }, "memory"),
            (Load { count: UNSETTLED_MAX, ..Load::default() }, "count"),
            (Load { stored: 1 << 20, ..Load::default() }, "inbox"),
        ] {
            assert!(load.presses(false, 1 << 20), "{part}");
            let less = Load { held: load.held * 4 / 5, stored: load.stored * 4 / 5, count: load.count * 4 / 5 };
            assert!(less.presses(true, 1 << 20) && !less.presses(false, 1 << 20), "{part}");
            let little = Load { held: load.held / 2, stored: load.stored / 2, count: load.count / 2 };
            assert!(!little.presses(true, 1 << 20), "{part}");
        }
    }
}
