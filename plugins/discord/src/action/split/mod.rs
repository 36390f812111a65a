//! Long texts as several messages.
//!
//! What it promises: the bodies of the parts, one after the other, are the text; each part fits one message; a cut falls
//! between grapheme clusters, preferably after a paragraph, a line or a word; and a code block that is cut is closed and
//! opened again with its language, so that each part shows as the whole would.
//!
//! **What is counted.** Discord's documentation says "up to 2000 characters" and not which kind. Counted here are UTF-16
//! code units: there are never fewer of them than of Unicode scalar values or of grapheme clusters, so a part fits by each
//! of the counts that "characters" can mean. UTF-8 bytes are not characters in anybody's reading, and counting them would
//! make three messages of a Japanese text that fits one.
//!
//! Only a single cluster longer than a message (a letter with thousands of accents) is cut inside.

mod fence;

use fence::Block;
use unicode_segmentation::UnicodeSegmentation as _;

/// Most that one message holds, in UTF-16 code units.
pub const UNITS_MAX: usize = 2_000;

/// What closes a code block, on a line of its own.
const CLOSING: &str = "\n```";

/// A border is worth a shorter part down to this share of a full one.
const WORTH: usize = 2;

/// One message of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// The fence that opens a cut code block again: empty, or a line.
    pub opening: String,
    /// The stretch of the text.
    pub body: &'a str,
    /// The fence that closes a cut code block.
    pub closing: &'static str,
}

impl Part<'_> {
    /// What is sent.
    #[must_use]
    pub fn content(&self) -> String {
        [&self.opening, self.body, self.closing].concat()
    }

    /// Whether there is nothing to see in it: Discord refuses such a message.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.opening.is_empty() && self.closing.is_empty() && self.body.trim().is_empty()
    }
}

/// How long a text is, in UTF-16 code units.
#[must_use]
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The parts of a text. One that fits is one part, as it is.
#[must_use]
pub fn split(text: &str) -> Vec<Part<'_>> {
    if units(text) <= UNITS_MAX {
        return vec![Part { opening: String::new(), body: text, closing: "" }];
    }
    let blocks = fence::blocks(text);
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let opening = cut_block(&blocks, start).map_or_else(String::new, |block| format!("```{}\n", block.language));
        let end = start + cut(text, start, UNITS_MAX - units(&opening), &blocks);
        let body = rest.get(..end - start).unwrap_or(rest);
        parts.push(Part { opening, body, closing: closing(text, end, &blocks) });
        start += body.len();
    }
    parts
}

/// The block whose code a cut at `at` goes through.
fn cut_block<'b, 't>(blocks: &'b [Block<'t>], at: usize) -> Option<&'b Block<'t>> {
    around(blocks, at).filter(|block| block.holds(at))
}

/// The block that `at` stands in, its ends included.
fn around<'b, 't>(blocks: &'b [Block<'t>], at: usize) -> Option<&'b Block<'t>> {
    blocks.get(blocks.partition_point(|block| block.end < at))
}

/// What a part that ends at `end` needs behind it.
fn closing(text: &str, end: usize, blocks: &[Block<'_>]) -> &'static str {
    match cut_block(blocks, end) {
        None => "",
        Some(_) if text.get(..end).is_some_and(|before| before.ends_with('\n')) => CLOSING.trim_start(),
        Some(_) => CLOSING,
    }
}

/// Where a text may be cut, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    /// Next to a fence: one of the two messages shows an empty code block.
    Fence,
    Cluster,
    Word,
    Line,
    /// Outside of code.
    Paragraph,
}

impl Border {
    const ALL: [Self; 5] = [Self::Paragraph, Self::Line, Self::Word, Self::Cluster, Self::Fence];
}

/// The length in bytes of the part that begins at `start` and may have `room` units, closing fence included. Never 0.
fn cut(text: &str, start: usize, room: usize, blocks: &[Block<'_>]) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    // The last place of each kind, and how full the part is there.
    let mut last: [Option<(usize, usize)>; Border::ALL.len()] = Default::default();
    let (mut used, mut length) = (0, 0);
    for cluster in rest.graphemes(true) {
        used += units(cluster);
        length += cluster.len();
        if used > room {
            break;
        }
        let at = start + length;
        if used + units(closing(text, at, blocks)) > room {
            continue;
        }
        if length == rest.len() {
            return length;
        }
        if let Some(slot) = border(text, at, blocks).and_then(|border| last.get_mut(border as usize)) {
            *slot = Some((length, used));
        }
    }
    let of = |border: Border| last.get(border as usize).copied().flatten();
    let worth = |(_, used): &(usize, usize)| *used >= room / WORTH;
    let chosen = Border::ALL.into_iter().find_map(|border| of(border).filter(worth));
    let chosen = chosen.or_else(|| last.into_iter().flatten().max());
    chosen.map_or_else(|| cut_cluster(rest, room), |(length, _)| length)
}

/// What kind of border there is at `at`, a border between clusters; `None` inside a fence.
fn border(text: &str, at: usize, blocks: &[Block<'_>]) -> Option<Border> {
    let before = text.get(..at)?;
    let block = around(blocks, at);
    if block.is_some_and(|block| block.breaks(at)) {
        return None;
    }
    if block.is_some_and(|block| block.empties(text, at)) {
        return Some(Border::Fence);
    }
    let is_code = cut_block(blocks, at).is_some();
    let ends_paragraph = before.ends_with("\n\n") || before.ends_with("\r\n\r\n");
    Some(match before.chars().next_back() {
        Some('\n') if ends_paragraph && !is_code => Border::Paragraph,
        Some('\n') => Border::Line,
        Some(last) if last.is_whitespace() => Border::Word,
        _ => Border::Cluster,
    })
}

/// As much of a cluster that no message can hold as fits beside a closing fence: whole scalar values, at least one.
fn cut_cluster(rest: &str, room: usize) -> usize {
    let (mut used, mut length) = (units(CLOSING), 0);
    for char in rest.chars() {
        used += char.len_utf16();
        if length > 0 && used > room {
            break;
        }
        length += char.len_utf8();
    }
    length
}
