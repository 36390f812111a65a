//! Text that can't move a cursor, colour a terminal, break a line or turn the reading direction.

use std::borrow::Cow;

/// The text on one line with everything dangerous written as `\u{…}`, at most `bytes_max` long.
pub(crate) fn neutral(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max && !text.chars().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(bytes_max));
    for c in text.chars() {
        let before = out.len();
        if is_dangerous(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        if out.len() > bytes_max {
            out.truncate(before);
            out.push('…');
            break;
        }
    }
    Cow::Owned(out)
}

/// Control characters (C0, C1, DEL), line and paragraph separators, direction marks, overrides and isolates, invisible
/// joiners, the byte order mark, interlinear annotations and language tags.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
