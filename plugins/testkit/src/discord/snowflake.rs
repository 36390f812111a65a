//! Snowflakes: Discord's 64-bit ids, which carry the millisecond of their making and are written as strings in JSON.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds from 1970 to the first second of 2015, from which Discord counts.
pub const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;

/// Bits below the timestamp (worker, process and increment at Discord; one counter here).
const COUNTER_BITS: u32 = 22;

/// A Discord id. JSON has it as a string: a JSON number would lose its last digits in every client that uses doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u64);

impl Id {
    /// The id with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The id made at `unix_ms` with `low` in the bits below the timestamp.
    #[must_use]
    pub const fn at(unix_ms: u64, low: u64) -> Self {
        Self((unix_ms.saturating_sub(DISCORD_EPOCH_MS) << COUNTER_BITS) | (low & ((1 << COUNTER_BITS) - 1)))
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// When it was made, in milliseconds since 1970.
    #[must_use]
    pub const fn unix_ms(self) -> u64 {
        (self.0 >> COUNTER_BITS) + DISCORD_EPOCH_MS
    }

    /// Which of `shards` shards gets what happens in the guild with this id.
    #[must_use]
    pub const fn shard(self, shards: u64) -> u64 {
        match (self.0 >> COUNTER_BITS).checked_rem(shards) {
            Some(shard) => shard,
            None => 0,
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Makes ids that grow strictly, even when the wall clock steps back.
#[derive(Debug, Default)]
pub(crate) struct Snowflakes {
    last: u64,
}

impl Snowflakes {
    pub(crate) fn next(&mut self, unix_ms: u64) -> Id {
        self.last = Id::at(unix_ms, 0).get().max(self.last.saturating_add(1));
        Id(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_its_time() {
        let id = Id::at(1_770_128_116_171, 5);
        assert_eq!(id.unix_ms(), 1_770_128_116_171);
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{id}\""));
    }

    #[test]
    fn grows_when_the_clock_steps_back() {
        let mut ids = Snowflakes::default();
        let first = ids.next(1_770_128_116_171);
        let second = ids.next(1_770_128_116_171);
        let third = ids.next(1_000_000_000_000);
        assert!(first < second && second < third);
    }
}
