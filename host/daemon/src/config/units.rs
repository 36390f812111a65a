//! Sizes and durations as people write them: `64MiB`, `5s`.

use std::time::Duration;

/// A quantity that can't be read. Says how it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadQuantity {
    /// No size.
    #[error("`{0}` is not a size: write a whole number and `B`, `KiB`, `MiB` or `GiB`, for example `64MiB`")]
    Size(String),
    /// No duration.
    #[error("`{0}` is not a duration: write a whole number and `ms`, `s`, `min` or `h`, for example `5s`")]
    Duration(String),
}

/// Reads a size in bytes.
///
/// # Errors
/// When it is not a whole number with a unit of 1024.
pub fn size(text: &str) -> Result<u64, BadQuantity> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)];
    quantity(text, &units).ok_or_else(|| BadQuantity::Size(text.to_owned()))
}

/// Reads a duration.
///
/// # Errors
/// When it is not a whole number with a unit.
pub fn duration(text: &str) -> Result<Duration, BadQuantity> {
    let units = [("ms", 1), ("min", 60_000), ("s", 1_000), ("h", 3_600_000)];
    quantity(text, &units).map(Duration::from_millis).ok_or_else(|| BadQuantity::Duration(text.to_owned()))
}

/// A size as [`size`] reads it: in the largest unit that leaves a whole number.
#[must_use]
pub fn show_size(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let fit = units.into_iter().find(|(_, factor)| bytes >= *factor && bytes.is_multiple_of(*factor));
    fit.map_or_else(|| format!("{bytes}B"), |(unit, factor)| format!("{}{unit}", bytes / factor))
}

/// A duration as [`duration`] reads it, in the largest unit that leaves a whole number.
#[must_use]
pub fn show_duration(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let units = [("h", 3_600_000), ("min", 60_000), ("s", 1_000)];
    let fit = units.into_iter().find(|(_, factor)| millis >= *factor && millis.is_multiple_of(*factor));
    fit.map_or_else(|| format!("{millis}ms"), |(unit, factor)| format!("{}{unit}", millis / factor))
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|char: char| !char.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for (text, bytes) in [("0B", 0), ("64KiB", 65_536), ("4MiB", 4 << 20), ("3GiB", 3 << 30), ("1025B", 1025)] {
            assert_eq!(size(text), Ok(bytes));
            assert_eq!(show_size(bytes), text);
        }
        for (text, millis) in [("0ms", 0), ("100ms", 100), ("5s", 5_000), ("2min", 120_000), ("24h", 86_400_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)));
            assert_eq!(show_duration(Duration::from_millis(millis)), text);
        }
        assert_eq!(size("64 MiB"), Ok(64 << 20));
    }

    #[test]
    fn refuses_the_rest() {
        for bad in
            ["", "64", "MiB", "64MB", "64mib", "-1B", "1.5MiB", "99999999999999999999B", "99999999999GiB", "64MiBs"]
        {
            assert!(size(bad).is_err(), "{bad}");
        }
        for bad in ["", "5", "s", "5sec", "5m", "-5s", "0.5s", "9999999999999999999h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
