//! How far each channel has been seen, so that a gap can be filled from there.
//!
//! Ids grow with time, so one number a channel is enough, and one number for all others: the *floor*. Every message
//! with an id up to the floor was seen or is older than this connection. A channel that falls out of the table raises
//! the floor to what it had; the one that was silent longest falls out first.

use serde::{Deserialize, Serialize};

/// Most channels that are told apart: 24 KB in a checkpoint. Those that were silent longest are forgotten first.
pub const CHANNELS_MAX: usize = 1_024;

/// One channel: 24 bytes in a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    pub(super) channel: u64,
    /// 0 in a private conversation.
    pub(super) guild: u64,
    /// Id of the newest message that was submitted.
    pub(super) seen: u64,
}

/// How far each channel has been seen.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub struct Watermarks {
    /// Where channels stand that are not in the table; 0 before the first session.
    floor: u64,
    /// Sorted by channel. In the binary part of a checkpoint.
    #[serde(skip)]
    pub(super) table: Vec<Mark>,
}

impl Watermarks {
    /// Whether there was a session before.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.floor > 0
    }

    /// The first session begins: nothing older than this is ever fetched.
    pub fn begin(&mut self, floor: u64) {
        self.floor = self.floor.max(floor).max(1);
    }

    /// Where a channel stands.
    #[must_use]
    pub fn of(&self, channel: u64) -> u64 {
        match self.position(channel) {
            Ok(at) => self.table.get(at).map_or(self.floor, |mark| mark.seen),
            Err(_) => self.floor,
        }
    }

    /// Whether a channel is in the table.
    #[must_use]
    pub fn knows(&self, channel: u64) -> bool {
        self.position(channel).is_ok()
    }

    /// A message was submitted.
    pub fn see(&mut self, channel: u64, guild: u64, message: u64) {
        match self.position(channel) {
            Ok(at) => {
                if let Some(mark) = self.table.get_mut(at) {
                    mark.seen = mark.seen.max(message);
                }
            }
            Err(at) => {
                let mark = Mark { channel, guild, seen: message.max(self.floor) };
                self.table.insert(at, mark);
                if self.table.len() > CHANNELS_MAX {
                    self.forget_the_oldest();
                }
            }
        }
    }

    /// The channel is gone.
    pub fn forget(&mut self, channel: u64) {
        if let Ok(at) = self.position(channel) {
            self.table.remove(at);
        }
    }

    fn position(&self, channel: u64) -> Result<usize, usize> {
        self.table.binary_search_by_key(&channel, |mark| mark.channel)
    }

    fn forget_the_oldest(&mut self) {
        let oldest = self.table.iter().enumerate().min_by_key(|(_, mark)| mark.seen).map(|(at, mark)| (at, mark.seen));
        if let Some((at, seen)) = oldest {
            self.table.remove(at);
            self.floor = self.floor.max(seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_raises_the_floor() {
        let mut marks = Watermarks::default();
        marks.begin(10);
        for channel in 0..CHANNELS_MAX as u64 {
            marks.see(channel, 1, 1_000 + channel);
        }
        assert_eq!(marks.of(99_999), 10);
        marks.see(5_000, 1, 9_000);
        assert_eq!(marks.table.len(), CHANNELS_MAX);
        assert!(!marks.knows(0));
        assert_eq!((marks.of(0), marks.of(1), marks.of(5_000)), (1_000, 1_001, 9_000));
    }

    #[test]
    fn an_older_message_moves_nothing_back() {
        let mut marks = Watermarks::default();
        marks.begin(1);
        marks.see(7, 0, 50);
        marks.see(7, 0, 40);
        assert_eq!(marks.of(7), 50);
    }
}
