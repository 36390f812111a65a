//! Times: RFC 3339 with microseconds and an offset in JSON, 42 bits in an id.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Where Discord's own count of milliseconds starts: 2015-01-01T00:00:00Z.
const DISCORD_EPOCH_MS: u64 = 1_420_070_400_000;

/// Bits of an id below its time.
const SNOWFLAKE_SHIFT: u32 = 22;

/// Milliseconds since the Unix epoch; `None` when it is no such time, or one before 1970.
#[must_use]
pub fn millis(rfc3339: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(rfc3339, &Rfc3339).ok()?;
    // Not by way of nanoseconds: a division of 128 bits is slow in WebAssembly.
    let seconds = u64::try_from(time.unix_timestamp()).ok()?;
    seconds.checked_mul(1_000)?.checked_add(u64::from(time.millisecond()))
}

/// The same instant always in the same letters: UTC, `Z`, no trailing zeros. For keys.
#[must_use]
pub fn canonical(rfc3339: &str) -> Option<String> {
    let time = OffsetDateTime::parse(rfc3339, &Rfc3339).ok()?;
    time.checked_to_offset(time::UtcOffset::UTC)?.format(&Rfc3339).ok()
}

/// Milliseconds since the Unix epoch at which an id was made.
#[must_use]
pub fn of_snowflake(id: u64) -> u64 {
    (id >> SNOWFLAKE_SHIFT).saturating_add(DISCORD_EPOCH_MS)
}

/// The smallest id that could be made at this time.
#[must_use]
pub fn first_snowflake_at(unix_ms: u64) -> u64 {
    unix_ms.saturating_sub(DISCORD_EPOCH_MS).saturating_mul(1 << SNOWFLAKE_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_has_one_spelling() {
        for spelling in ["2026-02-03T14:25:00.000000+00:00", "2026-02-03T14:25:00Z", "2026-02-03T15:25:00+01:00"] {
            assert_eq!(canonical(spelling).unwrap(), "2026-02-03T14:25:00Z");
        }
        assert_eq!(millis("2026-02-03T14:15:16.171000+00:00"), Some(1_770_128_116_171));
        assert_eq!(millis("yesterday"), None);
    }

    #[test]
    fn an_id_knows_when_it_was_made() {
        assert_eq!(of_snowflake(175_928_847_299_117_063), 1_462_015_105_796);
        assert_eq!(of_snowflake(first_snowflake_at(1_462_015_105_796)), 1_462_015_105_796);
    }
}
