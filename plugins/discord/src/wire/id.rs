//! Ids. Discord calls them snowflakes: 64 bits, written as strings of digits.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

use super::when;

/// An id, as its digits. A JSON number is refused, never rounded: `1432011223344556677` is not a `f64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Id<'a> {
    digits: &'a str,
    number: u64,
}

impl<'a> Id<'a> {
    /// The id with these digits, if they are the digits of one: no sign, no leading zero, 64 bits.
    #[must_use]
    pub fn parse(digits: &'a str) -> Option<Self> {
        let canonical = digits == "0" || !digits.starts_with('0');
        let number = number(digits.as_bytes()).filter(|_| canonical)?;
        Some(Self { digits, number })
    }

    /// The digits.
    #[must_use]
    pub fn as_str(self) -> &'a str {
        self.digits
    }

    /// The same id as 64 bits, for tables in memory. Never for JSON.
    #[must_use]
    pub fn number(self) -> u64 {
        self.number
    }

    /// When the thing with this id was made, in milliseconds since the Unix epoch: the upper 42 bits say so.
    #[must_use]
    pub fn made_at(self) -> u64 {
        when::of_snowflake(self.number)
    }
}

/// Digits that always fit into 64 bits.
const DIGITS_SAFE: usize = 19;

/// The number that these digits are. WebAssembly has no multiplication that tells of an overflow, and what stands in for it is
/// slow: only the last of twenty digits can overflow, and only it is checked.
fn number(digits: &[u8]) -> Option<u64> {
    let digit = |byte: u8| byte.checked_sub(b'0').filter(|digit| *digit < 10).map(u64::from);
    let (safe, last) = digits.split_at_checked(DIGITS_SAFE).unwrap_or((digits, &[]));
    let number = safe.iter().try_fold(0_u64, |number, &byte| Some(number * 10 + digit(byte)?))?;
    match last {
        [] if safe.is_empty() => None,
        [] => Some(number),
        &[byte] => number.checked_mul(10)?.checked_add(digit(byte)?),
        _ => None,
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.digits)
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.digits)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;

        /// Without the number itself: by the time it gets here it may have lost digits.
        const A_NUMBER: &str = "an id as a number; ids are strings of digits";

        impl<'de> Visitor<'de> for Digits {
            type Value = Id<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an id: a string of digits")
            }

            fn visit_borrowed_str<E: Error>(self, digits: &'de str) -> Result<Id<'de>, E> {
                Id::parse(digits).ok_or_else(|| E::custom("an id that is not a string of digits"))
            }

            // Digits need no escapes: a string that had some is not what Discord writes.
            fn visit_str<E: Error>(self, _: &str) -> Result<Id<'de>, E> {
                Err(E::custom("an id with escapes in it"))
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Id<'de>, E> {
                Err(E::custom(A_NUMBER))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Id<'de>, E> {
                Err(E::custom(A_NUMBER))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Id<'de>, E> {
                Err(E::custom(A_NUMBER))
            }
        }

        deserializer.deserialize_str(Digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_digits_of_64_bits_are_an_id() {
        for digits in ["0", "7", "839760899035176311", "9999999999999999999", "18446744073709551615"] {
            let id = Id::parse(digits).unwrap();
            assert_eq!((id.as_str(), id.number()), (digits, digits.parse().unwrap()));
        }
        for other in [
            "",
            "00",
            "01",
            "+1",
            "-1",
            "1 ",
            "1a",
            "12345678901234567890x",
            "1234567890123456789:",
            "18446744073709551616",
            "99999999999999999999",
            "018446744073709551615",
            "184467440737095516150",
            "\u{661}",
        ] {
            assert_eq!(Id::parse(other), None, "{other}");
        }
    }
}
