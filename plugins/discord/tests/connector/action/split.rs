//! Long texts as several messages.

use jackfield_discord::action::split::{Part, UNITS_MAX, split};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

/// Longest run of backticks that is a fence.
const RUN_MAX: usize = 16;

/// How often a fence stands in a text.
fn fences(text: &str) -> usize {
    let runs = text.split(|char| char != '`').map(str::len);
    runs.filter(|length| (3..=RUN_MAX).contains(length)).count()
}

/// The parts, after checking what holds of every text.
#[track_caller]
fn parts(text: &str) -> Vec<Part<'_>> {
    let parts = split(text);
    let joined: String = parts.iter().map(|part| part.body).collect();
    assert_eq!(joined, text, "joined, the parts are the text");
    for part in &parts {
        let content = part.content();
        assert!(!part.body.is_empty() || text.is_empty());
        assert!(content.chars().count() <= UNITS_MAX, "scalar values: {content}");
        assert!(content.encode_utf16().count() <= UNITS_MAX, "UTF-16 code units: {content}");
        assert!(content.graphemes(true).count() <= UNITS_MAX, "clusters: {content}");
        assert!(part.opening.is_empty() || part.opening.starts_with("```") && part.opening.ends_with('\n'));
        assert!(["", "```", "\n```"].contains(&part.closing));
    }
    parts
}

/// Whether every cut falls between the clusters of the text.
fn is_whole(text: &str, parts: &[Part<'_>]) -> bool {
    let borders: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
    let mut at = 0;
    parts.iter().all(|part| {
        at += part.body.len();
        borders.binary_search(&at).is_ok()
    })
}

#[track_caller]
fn bodies(text: &str) -> Vec<usize> {
    parts(text).iter().map(|part| part.body.encode_utf16().count()).collect()
}

#[test]
fn report_d15_one_letter_too_many() {
    assert_eq!(bodies(&"a".repeat(2_000)), [2_000]);
    assert_eq!(bodies(&"a".repeat(2_001)), [2_000, 1]);
}

#[test]
fn report_d15_an_emoji_across_the_limit_stays_whole() {
    let text = "a".repeat(1_999) + "👩🏽‍💻";
    let parts = parts(&text);
    assert_eq!(parts.len(), 2);
    assert_eq!((parts[0].body.len(), parts[1].body), (1_999, "👩🏽‍💻"));
}

#[test]
fn report_d15_one_code_block_is_closed_and_opened_again() {
    let line = "let x = 1; // 25 letters\n";
    let text = format!("```rust\n{}```", line.repeat(200));
    assert_eq!(line.len() * 200, 5_000);
    let parts = parts(&text);
    assert_eq!(parts.len(), 3);
    for part in &parts {
        let content = part.content();
        assert!(content.starts_with("```rust\nlet x") && content.ends_with("letters\n```"), "{content}");
        assert_eq!(fences(&content), 2);
    }
    // Without a single line end to cut at.
    let text = format!("```{}```", "a".repeat(5_000));
    let contents: Vec<String> = self::parts(&text).iter().map(Part::content).collect();
    assert_eq!(contents.len(), 3);
    assert!(contents.iter().all(|content| fences(content) == 2), "{contents:#?}");
}

#[test]
fn a_text_that_fits_is_sent_as_it_is() {
    for text in ["", "hello", "```rust\nnever closed", "``` ``` ```"] {
        assert_eq!(split(text), [Part { opening: String::new(), body: text, closing: "" }]);
    }
}

#[test]
fn a_cut_falls_after_a_paragraph_then_a_line_then_a_word() {
    let words = "word ".repeat(240);
    let lines = format!("{words}\n{words}\n");
    assert_eq!(bodies(&format!("{}\n\n{lines}", words.trim_end())), [1_201, 1_201, 1_201]);
    let text = format!("{lines}{words}");
    assert!(parts(&text)[0].body.ends_with("\n"));
    assert!(parts(&"word ".repeat(500))[0].body.ends_with("word "));
    // A border early in the part is no reason for a short one.
    let text = format!("short\n\n{}", "a".repeat(3_000));
    assert_eq!(bodies(&text), [2_000, 1_007]);
}

#[test]
fn a_block_is_not_left_with_nothing_in_it() {
    // The limit falls right behind an opening fence, inside it, and right before a closing one.
    for fill in 1_980..2_000 {
        let text = format!("{}```rust\n{}\n```{}", "a".repeat(fill), "b".repeat(300), "c".repeat(100));
        let contents: Vec<String> = parts(&text).iter().map(Part::content).collect();
        for content in &contents {
            assert_eq!(fences(content) % 2, 0, "{content}");
            assert!(!content.contains("```rust\n```") && !content.contains("```rust\n\n```"), "{content}");
        }
    }
    for fill in 1_950..2_000 {
        let text = format!("```rust\n{}\n```{}", "b".repeat(fill - 8), "c".repeat(100));
        for content in parts(&text).iter().map(Part::content) {
            assert_eq!(fences(&content) % 2, 0, "{content}");
            assert!(!content.contains("```rust\n```") && !content.contains("```rust\n\n```"), "{content}");
        }
    }
}

#[test]
fn a_fence_that_nothing_closes_is_code_to_the_end() {
    let text = format!("look:\n```py\n{}", "x = 1\n".repeat(500));
    let parts = parts(&text);
    assert_eq!(parts.len(), 2);
    assert!(parts.iter().all(|part| fences(&part.content()) == 2));
    assert!(parts[1].content().starts_with("```py\n"));
}

#[test]
fn a_letter_that_no_message_holds_is_cut() {
    let text = format!("a{}b", "\u{301}".repeat(5_000));
    assert!(parts(&text).len() >= 3);
    let text = format!("```\n{}\n```", "\u{301}".repeat(5_000));
    assert!(parts(&text).len() >= 3);
}

#[test]
fn line_ends_of_both_kinds_stay_whole() {
    let text = "a line\r\n".repeat(600);
    let parts = parts(&text);
    assert!(is_whole(&text, &parts));
    assert!(parts.iter().all(|part| part.body.ends_with("\r\n")));
    let text = format!("```c\r\n{}```", "x;\r\n".repeat(900));
    assert!(self::parts(&text).iter().all(|part| fences(&part.content()) == 2));
}

/// Words, emoji, code and line ends in any order.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z]{1,12} ",
        2 => Just("\n".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        2 => Just("👩🏽‍💻".to_owned()),
        1 => Just("e\u{301}🇩🇪".to_owned()),
        1 => Just("日本語の文章".to_owned()),
        1 => "[a-z]{200,900}",
        1 => Just("`inline` ".to_owned()),
        3 => ("(rust|py|c\\+\\+|)", prop::collection::vec("[a-z(){};= ]{0,60}", 1..60))
            .prop_map(|(language, lines)| format!("```{language}\n{}\n```\n", lines.join("\n"))),
        1 => "[a-z]{1,40}".prop_map(|code| format!("```{code}``` ")),
    ];
    prop::collection::vec(piece, 1..150).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_text_comes_whole_and_shows_as_it_would(text in text()) {
        let parts = parts(&text);
        prop_assert!(is_whole(&text, &parts));
        for part in &parts {
            prop_assert_eq!(fences(&part.content()) % 2, 0, "{}", part.content());
        }
    }

    #[test]
    fn every_text_at_all_fits_and_comes_whole(text in "(.|\n|`|``|```|\u{301}|👩🏽‍💻){0,3000}") {
        let parts = parts(&text);
        prop_assert!(is_whole(&text, &parts));
    }
}
