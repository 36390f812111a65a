//! Replaces secrets in what comes back, is stored or is shown.
//!
//! Promised: a value that stands there raw, in base64 (both alphabets, padded or not, at any alignment), in hex, or with
//! any of its characters percent-encoded or JSON-escaped is replaced by `[secret:name]`, and nothing else changes. An
//! escaped base64 or hex form is found too. Not promised: a value that was cut, reversed, compressed or encoded twice.
//! The gate closes those ways itself: it asks for no compression and for no part of an answer to a request with a secret.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, MatchKind};
use bytes::Bytes;

use super::forms::{self, Form};
use super::view::View;

/// How much of a form the first search looks for. No form is shorter (8 bytes give 10 base64 characters). Searching for
/// beginnings keeps the automaton of an idle connection to a few KiB, whatever the length of its secrets.
const NEEDLE_BYTES: usize = super::SECRET_BYTES_MIN;

/// Finds and replaces one connection's secrets.
#[derive(Default)]
pub struct Mask {
    names: Vec<String>,
    forms: Vec<Form>,
    /// The beginnings of all forms. `None` when there is nothing to find.
    needles: Option<AhoCorasick>,
}

/// A stretch that is to be replaced.
struct Hit {
    range: Range<usize>,
    secret: usize,
}

impl Mask {
    /// # Errors
    /// The search could not be built. There is no mask that lets secrets through.
    pub(super) fn new<'a>(secrets: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<Self, BuildError> {
        let mut mask = Self::default();
        for (index, (name, value)) in secrets.enumerate() {
            mask.names.push(name.to_owned());
            mask.forms.extend(forms::of(value, index));
        }
        let mut needles: Vec<&[u8]> =
            mask.forms.iter().filter_map(|form| form.bytes().first_chunk::<NEEDLE_BYTES>()).map(|b| &b[..]).collect();
        needles.sort_unstable();
        needles.dedup();
        if !needles.is_empty() {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostFirst).kind(Some(AhoCorasickKind::ContiguousNFA));
            mask.needles = Some(builder.build(&needles)?);
        }
        Ok(mask)
    }

    /// There is nothing to replace: no secrets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The text with every secret replaced; borrowed when there was none.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.replace(text.as_bytes()) {
            None => Cow::Borrowed(text),
            Some(masked) => Cow::Owned(
                String::from_utf8(masked).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
            ),
        }
    }

    /// The bytes with every secret replaced; the same allocation when there was none. UTF-8 stays UTF-8.
    #[must_use]
    pub fn bytes(&self, bytes: Bytes) -> Bytes {
        self.replace(&bytes).map_or(bytes, Bytes::from)
    }

    fn replace(&self, source: &[u8]) -> Option<Vec<u8>> {
        if self.is_empty() {
            return None;
        }
        let mut hits = self.search(source);
        for view in [View::percent(source), View::json(source)].into_iter().flatten() {
            hits.extend(
                self.search(&view.bytes)
                    .into_iter()
                    .map(|Hit { range, secret }| Hit { range: view.start(range.start)..view.end(range.end), secret }),
            );
        }
        if hits.is_empty() {
            return None;
        }
        if std::str::from_utf8(source).is_ok() {
            // A binary value can match in the middle of a character.
            for hit in &mut hits {
                hit.range = whole_characters(source, hit.range.clone());
            }
        }
        hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end)));

        let mut masked = Vec::with_capacity(source.len());
        let mut done = 0;
        for Hit { range, secret } in hits {
            // What overlaps with a stretch that is replaced already goes with it.
            if range.start >= done {
                masked.extend_from_slice(source.get(done..range.start).unwrap_or_default());
                let name = self.names.get(secret).map_or("?", String::as_str);
                masked.extend_from_slice(format!("[secret:{name}]").as_bytes());
            }
            done = done.max(range.end);
        }
        masked.extend_from_slice(source.get(done..).unwrap_or_default());
        Some(masked)
    }

    /// All stretches, overlapping ones too.
    fn search(&self, haystack: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        let Some(needles) = &self.needles else { return hits };
        let mut from = 0;
        // All needles have one length, so the leftmost match from each position on misses none.
        while let Some(found) = needles.find(Input::new(haystack).range(from..)) {
            let rest = haystack.get(found.start()..).unwrap_or_default();
            for form in self.forms.iter().filter(|form| rest.starts_with(form.bytes())) {
                let edge = |at: Option<usize>| at.and_then(|at| haystack.get(at)).is_some_and(|&b| is_base64(b));
                let (start, end) = (found.start(), found.start() + form.bytes().len());
                let before = usize::from(form.edge_before && edge(start.checked_sub(1)));
                let behind = usize::from(form.edge_behind && edge(Some(end)));
                hits.push(Hit { range: start - before..end + behind, secret: form.secret });
            }
            from = found.start() + 1;
        }
        hits
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mask").field(&self.names).finish()
    }
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_')
}

/// The range, widened to the characters that it touches.
fn whole_characters(source: &[u8], Range { mut start, mut end }: Range<usize>) -> Range<usize> {
    let inside = |at: usize| source.get(at).is_some_and(|b| b & 0b1100_0000 == 0b1000_0000);
    while inside(start) {
        start -= 1;
    }
    while inside(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
