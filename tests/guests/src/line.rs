//! The lines of the platform: a verb and words.
//!
//! | from the platform | what the guest does |
//! | --- | --- |
//! | `say LANE ID TEXT` | submits the line as a dispatch with mark `ID`; [`crate::meaning`] says what `TEXT` means |
//! | `reply TEXT` | sends `TEXT`, no secret listed |
//! | `tell SECRET TEXT` | sends `TEXT`, this secret listed |
//! | `twice-then-trap LANE ID` | sends, submits and sets state, then traps unless the instance came from a recovery |
//! | `trap`, `spin` | always |
//! | `busy MS LINE` | logs `busy`, computes for so long, then obeys `LINE` in the same call |
//! | `timer LABEL MS`, `untimer LABEL` | sets or cancels; answers `elapsed LABEL` when due |
//! | `beat MS` | a timer `beat MS` that is set again whenever it elapses; answers `elapsed beat MS` each time |
//! | `chant COUNT` | says `chant COUNT`, and so on down to `chant 0`, one call each, none of which has to wait |
//! | `pour COUNT BYTES` | submits so many dispatches of this size in the lane `pour`, ids down from `COUNT`, one a timer |
//! | `fetch LABEL SECRET? URL` | fetches; answers `fetched LABEL STATUS BODY`, or `failed LABEL FAULT` |
//! | `post LABEL BODY` | posts `BODY` with no secret listed |
//! | `cancel LABEL` | gives a request up |
//! | `last LINE` | obeys `LINE` in answer to `stopping` |
//! | `open LABEL URL`, `close CODE` | opens another socket, closes the main one |
//! | `set KEY VALUE`, `get KEY` | state; `get` answers `value VALUE` or `value -` |
//! | `log TEXT`, `report TEXT`, `meta JSON` | one line; `ready`, or degraded with `TEXT`; metadata |
//! | `fatal TEXT`, `transient TEXT` | ends the session with that fault |
//! | `count` | answers `count N`: lines handled, by the checkpoint |
//!
//! Unasked it says `hello REASON N` when the main socket opens, `ack ID` for every settled mark, `held` and `flowing`.

/// A line, cut into its first words and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The first word.
    pub verb: &'a str,
    /// What follows it.
    pub rest: &'a str,
}

/// Cuts the verb off.
#[must_use]
pub fn parse(line: &str) -> Line<'_> {
    let (verb, rest) = cut(line);
    Line { verb, rest }
}

/// The first word and what follows it.
#[must_use]
pub fn cut(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}
