//! Text of strangers on a terminal: what a connector, a platform or a file says may not steer the terminal that shows it.

/// The text with everything that a terminal acts on, or that reorders what is read, spelled out. Newlines stay.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, char| {
        if char == '\n' || !steers(char) {
            out.push(char)
        } else {
            out.extend(char.escape_unicode())
        }
        out
    })
}

/// The same on one line, cut after `most` characters.
#[must_use]
pub fn line(text: &str, most: usize) -> String {
    let mut line: String = printable(&text.replace('\n', "\\n"));
    if let Some((cut, _)) = line.char_indices().nth(most) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

/// The word of an enum that is written as one; nothing for anything else.
#[must_use]
pub fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Control characters, and the marks that change the direction of text (Unicode Bidi, UAX #9).
fn steers(char: char) -> bool {
    char.is_control() || matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\r\u{202e}c\0é"), "a\\u{1b}[31mb\\u{d}\\u{202e}c\\u{0}é");
        assert_eq!(printable("two\nlines"), "two\nlines");
        assert_eq!(line("two\nlines", 5), "two\\n…");
        assert_eq!(line("ü".repeat(4).as_str(), 4), "üüüü");
    }
}
