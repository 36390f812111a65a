//! Code blocks in a text, as Discord reads them: three backticks open one, anywhere in a line, and the next three close it.

/// Longest run of backticks that opens or closes a block. A longer one is somebody's drawing.
const RUN_MAX: usize = 16;

/// Longest language after an opening fence, in bytes; a longer one is taken for code.
const LANGUAGE_BYTES_MAX: usize = 40;

/// White space next to a fence up to this length, in bytes, is no code. Bounded, since it is looked at for every cut.
const BLANK_BYTES: usize = 64;

const FENCE: &str = "```";

/// A code block. All positions are bytes of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block<'a> {
    /// First backtick.
    pub(super) start: usize,
    /// What may follow the opening fence, such as `rust`.
    pub(super) language: &'a str,
    /// Where the code begins: after the opening fence, its language and the end of its line.
    code: usize,
    /// Where the code ends: the closing fence, or the end of the text for a block that nothing closes.
    close: usize,
    /// After the closing fence.
    pub(super) end: usize,
}

impl Block<'_> {
    /// Whether a cut at `at` falls into the code, so that the fence has to be closed before it and opened again after it.
    pub(super) fn holds(&self, at: usize) -> bool {
        let is_closed = self.close < self.end;
        self.code <= at && (at < self.close || !is_closed && at == self.close)
    }

    /// Whether a cut at `at` would take a fence apart.
    pub(super) fn breaks(&self, at: usize) -> bool {
        self.start < at && at < self.code || self.close < at && at < self.end
    }

    /// Whether a cut at `at` would leave a block with nothing in it on one side.
    pub(super) fn empties(&self, text: &str, at: usize) -> bool {
        let is_blank =
            |part: Option<&str>| part.is_some_and(|part| part.len() <= BLANK_BYTES && part.trim().is_empty());
        self.holds(at) && (is_blank(text.get(self.code..at)) || is_blank(text.get(at..self.close)) && at < text.len())
            || at == self.close && self.close < self.end
    }
}

/// The blocks of a text, in order.
///
/// An opening fence that nothing closes opens a block up to the end where it begins a line, as Markdown has it
/// everywhere else; in the middle of a line it is only three backticks.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    let mut from = 0;
    while let Some(run) = next_run(text, from) {
        from = run.end;
        open = match open {
            None => Some(opened(text, run)),
            Some(block) => {
                blocks.push(Block { close: run.start, end: run.end, ..block });
                None
            }
        };
        // A language has no backticks in it, so the search goes on behind it or behind the fence alike.
    }
    blocks.extend(open.filter(|block| begins_line(text, block.start)));
    blocks
}

/// The next run of backticks that can be a fence.
fn next_run(text: &str, mut from: usize) -> Option<std::ops::Range<usize>> {
    loop {
        let start = from + text.get(from..)?.find(FENCE)?;
        let length = text.get(start..)?.bytes().take_while(|byte| *byte == b'`').count();
        if length <= RUN_MAX {
            return Some(start..start + length);
        }
        from = start + length;
    }
}

fn opened(text: &str, run: std::ops::Range<usize>) -> Block<'_> {
    let rest = text.get(run.end..).unwrap_or_default();
    let is_language = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-.#".contains(&byte);
    let line = rest.split_once('\n').map(|(line, _)| line);
    let language = line.map(|line| line.strip_suffix('\r').unwrap_or(line));
    let language = language.filter(|word| word.len() <= LANGUAGE_BYTES_MAX && word.bytes().all(is_language));
    let code = match (language, line) {
        (Some(_), Some(line)) => run.end + line.len() + 1,
        _ => run.end,
    };
    Block { start: run.start, language: language.unwrap_or_default(), code, close: text.len(), end: text.len() }
}

fn begins_line(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each block as its language and its code.
    #[track_caller]
    fn check(text: &str, want: &[(&str, &str)]) {
        let found: Vec<_> =
            blocks(text).into_iter().map(|block| (block.language, &text[block.code..block.close])).collect();
        assert_eq!(found, want, "{text:?}");
    }

    #[test]
    fn blocks_are_what_stands_between_fences() {
        check("no code, `inline` or ``twice``", &[]);
        check("a\n```rust\nfn f() {}\n```\nb", &[("rust", "fn f() {}\n")]);
        check("a ```b``` c ```\nd\n```", &[("", "b"), ("", "d\n")]);
        check("```c++\r\nx\r\n```", &[("c++", "x\r\n")]);
        check("```not a language\nx```", &[("", "not a language\nx")]);
        check("````md\nx\n````", &[("md", "x\n")]);
    }

    #[test]
    fn what_nothing_closes_is_code_to_the_end_where_it_begins_a_line() {
        check("a\n```py\nx\n", &[("py", "x\n")]);
        check("  ```\nx", &[("", "x")]);
        check("use ``` to quote", &[]);
        check("```", &[("", "")]);
    }

    #[test]
    fn a_drawing_is_no_fence() {
        check(&"`".repeat(RUN_MAX + 1), &[]);
        check(&format!("```\n{}\n```", "`".repeat(3_000)), &[("", &format!("{}\n", "`".repeat(3_000)))]);
    }
}
