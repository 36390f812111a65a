//! How much may be unsettled before the session stops reading, before bodies leave memory, and before the inbox is full.

/// Bytes of unsettled dispatches in memory from which on everything that waits is written to the inbox, and what is there
/// leaves memory.
pub(super) const SPILL_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of unsettled dispatches in memory at which the session stops reading. Twice the spill: what is read in one call
/// (at most 4 MiB of effects) still fits.
pub(super) const HELD_BYTES_MAX: usize = 2 * SPILL_BYTES;

/// Bytes handed over and not looked at yet at which the session is not called any more. Such a backlog is there when the inbound
/// was not scheduled, or waits for its store; what is counted as held does not know of it.
pub(super) const HANDED_BYTES_MAX: usize = HELD_BYTES_MAX / 4;

/// What keeping the books of an entry costs, in bytes, whatever it carries.
pub(super) const ENTRY_BYTES: usize = 300;

/// Unsettled dispatches at which the session stops reading, wherever their bytes are: each costs [`ENTRY_BYTES`].
pub(super) const UNSETTLED_MAX: usize = 65_536;

/// Dispatches at the front of each lane that stay in memory: the next batch.
pub(super) const RESIDENT: usize = 32;

/// What is unsettled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Bytes in memory, changes of the session's map included.
    pub held: usize,
    /// Bytes in inbox rows.
    pub stored: u64,
    /// Bytes of all of it, each once, wherever they are.
    pub bytes: u64,
    /// Dispatches, and changes of the map.
    pub count: usize,
}

impl Load {
    /// Something more, with this many bytes in memory.
    pub(super) fn take(&mut self, bytes: usize) {
        self.held += bytes;
        self.bytes += bytes as u64;
        self.count += 1;
    }

    /// It is settled; so many of its bytes were still in memory.
    pub(super) fn release(&mut self, bytes: usize, held: usize) {
        self.held -= held;
        self.bytes -= bytes as u64;
        self.count -= 1;
    }

    /// Whether the session must stop reading. Once it has, it reads again only when things are clearly better, so that it does
    /// not flutter.
    pub(super) fn presses(self, pressed: bool, inbox_bytes_max: u64) -> bool {
        let (share, whole) = if pressed { (3, 4) } else { (1, 1) };
        self.held >= HELD_BYTES_MAX * share / whole
            || self.count >= UNSETTLED_MAX * share / whole
            || self.stored >= inbox_bytes_max / whole as u64 * share as u64
    }

    /// Whether the session may not be called any more: a connector that submits without reading a socket is stopped here. One
    /// that only reads never comes here, or its heartbeats would stop: what was in memory when it was held may all be written
    /// to the inbox.
    pub(super) fn overloads(self, inbox_bytes_max: u64) -> bool {
        self.held >= HELD_BYTES_MAX / 4 * 5
            || self.count >= UNSETTLED_MAX / 4 * 5
            || self.bytes >= (inbox_bytes_max + HELD_BYTES_MAX as u64) / 4 * 5
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
            let less =
                Load { held: load.held * 4 / 5, stored: load.stored * 4 / 5, count: load.count * 4 / 5, bytes: 0 };
            assert!(less.presses(true, 1 << 20) && !less.presses(false, 1 << 20), "{part}");
            let little = Load { held: load.held / 2, stored: load.stored / 2, count: load.count / 2, bytes: 0 };
            assert!(!little.presses(true, 1 << 20), "{part}");
        }
    }

    #[test]
    fn what_was_read_before_it_was_held_is_no_overload_wherever_it_is() {
        let inbox = 1 << 20;
        let bytes = inbox + HELD_BYTES_MAX as u64;
        let read = Load { held: HELD_BYTES_MAX, stored: inbox, bytes, count: UNSETTLED_MAX };
        let written = Load { held: 0, stored: bytes, ..read };
        for load in [read, written] {
            assert!(load.presses(false, inbox) && !load.overloads(inbox), "{load:?}");
        }
        for load in [
            Load { held: HELD_BYTES_MAX / 4 * 5, ..Load::default() },
            Load { count: UNSETTLED_MAX / 4 * 5, ..Load::default() },
            Load { bytes: bytes / 4 * 5, ..Load::default() },
        ] {
            assert!(load.overloads(inbox), "{load:?}");
        }
    }
}
