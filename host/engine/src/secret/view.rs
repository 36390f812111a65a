//! Text with its escapes undone, and the way back to where each byte came from.
//!
//! A value that was percent-encoded or JSON-escaped on its way back may be escaped in any of its characters, or in some.
//! Searching the unescaped text finds all of these, and base64 or hex inside them, with one search.

use std::char;

/// Unescaped bytes. Only the escapes are remembered, so the map costs nothing where there are none.
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    escapes: Vec<Escape>,
}

/// These bytes of the view were written as those of the source.
struct Escape {
    view: usize,
    view_len: usize,
    source: usize,
    source_len: usize,
}

/// What one escape stands for: at most one character.
struct Meaning {
    bytes: [u8; 4],
    len: usize,
}

impl Meaning {
    fn byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], len: 1 }
    }

    fn character(c: char) -> Self {
        let mut bytes = [0; 4];
        let len = c.encode_utf8(&mut bytes).len();
        Self { bytes, len }
    }
}

impl View {
    /// `%41` undone. `None` when there is nothing to undo.
    pub(super) fn percent(source: &[u8]) -> Option<Self> {
        Self::undo(source, b'%', |rest| {
            let [b'%', high, low, ..] = rest else { return None };
            Some((3, Meaning::byte(digit(*high)? << 4 | digit(*low)?)))
        })
    }

    /// `\u0041`, `\/`, `\"` and their like undone. `None` when there is nothing to undo.
    pub(super) fn json(source: &[u8]) -> Option<Self> {
        Self::undo(source, b'\\', |rest| {
            let [b'\\', kind, ..] = rest else { return None };
            let plain = match kind {
                b'"' | b'\\' | b'/' => *kind,
                b'b' => 0x08,
                b'f' => 0x0c,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'u' => return unicode(rest),
                _ => return None,
            };
            Some((2, Meaning::byte(plain)))
        })
    }

    /// Replaces each escape that begins with `mark` and that `read` understands, as (bytes read, what they mean).
    fn undo(source: &[u8], mark: u8, read: impl Fn(&[u8]) -> Option<(usize, Meaning)>) -> Option<Self> {
        memchr::memchr(mark, source)?;
        let mut view = Self { bytes: Vec::with_capacity(source.len()), escapes: Vec::new() };
        let mut at = 0;
        while let Some(found) = source.get(at..).and_then(|rest| memchr::memchr(mark, rest)) {
            view.bytes.extend_from_slice(source.get(at..at + found)?);
            at += found;
            let rest = source.get(at..)?;
            // What is no escape stays as it is; one byte further there may be one.
            let Some((len, meaning)) = read(rest) else {
                view.bytes.push(mark);
                at += 1;
                continue;
            };
            view.escapes.push(Escape { view: view.bytes.len(), view_len: meaning.len, source: at, source_len: len });
            view.bytes.extend_from_slice(meaning.bytes.get(..meaning.len)?);
            at += len;
        }
        if view.escapes.is_empty() {
            return None;
        }
        view.bytes.extend_from_slice(source.get(at..)?);
        Some(view)
    }

    /// Where in the source the byte at this position began. An escape is never cut.
    pub(super) fn start(&self, at: usize) -> usize {
        match self.escape_before(at) {
            Some(escape) if at < escape.view + escape.view_len => escape.source,
            Some(escape) => escape.source + escape.source_len + (at - escape.view - escape.view_len),
            None => at,
        }
    }

    /// Where in the source the byte before this position ended.
    pub(super) fn end(&self, at: usize) -> usize {
        let Some(last) = at.checked_sub(1) else { return 0 };
        match self.escape_before(last) {
            Some(escape) if last < escape.view + escape.view_len => escape.source + escape.source_len,
            _ => self.start(last) + 1,
        }
    }

    fn escape_before(&self, at: usize) -> Option<&Escape> {
        let behind = self.escapes.partition_point(|escape| escape.view <= at);
        self.escapes.get(behind.checked_sub(1)?)
    }
}

/// `\uXXXX`, or a pair of them where the first is a high surrogate (RFC 8259 §7). A lone surrogate means no character.
fn unicode(rest: &[u8]) -> Option<(usize, Meaning)> {
    let unit = |at: usize| match rest.get(at..at + 6)? {
        [b'\\', b'u', digits @ ..] => digits.iter().try_fold(0_u32, |sum, &b| Some(sum << 4 | u32::from(digit(b)?))),
        _ => None,
    };
    let first = unit(0)?;
    let (len, code) = match (first, unit(6)) {
        (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
            (12, 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
        }
        _ => (6, first),
    };
    Some((len, Meaning::character(char::from_u32(code)?)))
}

fn digit(b: u8) -> Option<u8> {
    char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_escapes_are_undone_and_mapped_back() {
        let source = br#"a\u0041\ud83d\ude00\/z\q\ud800"#;
        let view = View::json(source).unwrap();
        assert_eq!(view.bytes, "aA\u{1f600}/z\\q\\ud800".as_bytes());
        assert_eq!((view.start(0), view.start(1), view.start(2), view.start(6)), (0, 1, 7, 19));
        // In the middle of an emoji: the whole pair.
        assert_eq!((view.start(4), view.end(4)), (7, 19));
        assert_eq!(view.end(view.bytes.len()), source.len());
    }

    #[test]
    fn percent_is_undone_and_mapped_back() {
        let view = View::percent(b"x%41%zz%4").unwrap();
        assert_eq!(view.bytes, b"xA%zz%4");
        assert_eq!((view.start(1), view.end(2), view.end(7)), (1, 4, 9));
        assert!(View::percent(b"100 % sure").is_none());
    }
}
