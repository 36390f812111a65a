//! How Discord writes things down: frames, ids, text and times, parsed without copies.

mod frame;
mod id;
mod text;
pub mod when;

pub use frame::{Envelope, Frame, Peek};
pub use id::Id;
pub use text::Text;

/// Deepest nesting of a payload. Nothing that Discord sends comes near; deeper ones are refused before they are parsed.
pub const DEPTH_MAX: usize = 128;

/// Whether `json` nests deeper than [`DEPTH_MAX`].
///
/// Counting brackets first, wherever they stand, answers for every real payload in one pass without branches.
#[must_use]
pub fn is_too_deep(json: &str) -> bool {
    opened(json.as_bytes()) > DEPTH_MAX && deepest(json) > DEPTH_MAX
}

/// How many brackets open something, inside strings too. In vectors: natively compilers use them by themselves, in a component
/// where they are told that they may.
#[cfg_attr(target_family = "wasm", target_feature(enable = "simd128"))]
fn opened(json: &[u8]) -> usize {
    /// Whole vectors, and so few bytes that the count of their brackets is a byte too.
    const CHUNK: usize = 240;
    // `[` and `{` differ in one bit from each other.
    let opens = |byte: &u8| u8::from(byte | 0x20 == b'{');
    json.chunks(CHUNK).map(|chunk| usize::from(chunk.iter().map(opens).sum::<u8>())).sum()
}

/// Deepest nesting, brackets inside strings aside.
fn deepest(json: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_nesting_and_not_brackets() {
        assert!(!is_too_deep(&"[]".repeat(1_000)));
        assert!(!is_too_deep(&format!("\"\\\"{}\"", "[".repeat(1_000))));
        assert!(!is_too_deep(&"[".repeat(DEPTH_MAX)));
        assert!(is_too_deep(&"[".repeat(DEPTH_MAX + 1)));
        assert!(is_too_deep(&"{\"a\":".repeat(100_000)));
    }

    #[test]
    fn brackets_are_counted_wherever_they_stand() {
        for length in [0, 1, 239, 240, 241, 255, 256, 1_000] {
            assert_eq!(opened(&vec![b'['; length]), length);
            assert_eq!(opened(&vec![b'{'; length]), length);
            assert_eq!(opened(&vec![b']'; length]), 0);
        }
    }
}
