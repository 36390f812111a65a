//! What `say LANE ID TEXT` means: one event with key `ID`, unless `TEXT` asks for something else.
//!
//! | `TEXT` begins with | answer |
//! | --- | --- |
//! | `poison` | a trap; none when the guest is the fixed one |
//! | `spin` | never |
//! | `slow N` | the event, after N million turns; what follows is ballast |
//! | `malformed`, `ignored` | so |
//! | `deep N` | the event, its properties nested N deep |
//! | `raw JSON` | the event, its properties as given |
//! | `by ID EMAIL NAME` | the event, about this person, who may become a contact |

use jackfield_sdk::transform::{Answer, Received};
use jackfield_sdk::{Event, Sender, Subject};

use crate::line::cut;

/// Name of the event.
pub const SAID: &str = "x.echo.said";
/// Kind of the dispatch.
pub const KIND: &str = "line";

/// Whether the code takes poison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// It traps.
    Broken,
    /// It makes an event of it like any other.
    Fixed,
}

/// Answers a batch.
#[must_use]
pub fn transform(batch: &[Received], code: Code) -> Vec<Answer> {
    batch.iter().map(|received| answer(received, code)).collect()
}

fn answer(received: &Received, code: Code) -> Answer {
    let Some(line) = received.dispatch.payload.as_text() else {
        return Answer::Malformed("a line is text".to_owned());
    };
    let (verb, rest) = cut(line);
    if verb != "say" {
        return Answer::Ignored("unknown-verb".to_owned());
    }
    let (_lane, rest) = cut(rest);
    let (id, text) = cut(rest);
    let mut event = Event::once(SAID, id, received.received_at);
    let (how, what) = cut(text);
    event.properties = match how {
        "poison" if code == Code::Broken => std::process::abort(),
        "spin" => spin(),
        "slow" => slow(cut(what).0),
        "malformed" => return Answer::Malformed(what.to_owned()),
        "ignored" => return Answer::Ignored("asked".to_owned()),
        "deep" => deep(what.parse().unwrap_or_default()),
        "raw" => what.to_owned(),
        "by" => {
            event.subject = Some(person(what));
            said(text)
        }
        _ => said(text),
    };
    Answer::Events(vec![event])
}

fn said(text: &str) -> String {
    serde_json::json!({ "text": text }).to_string()
}

fn spin() -> String {
    loop {
        std::hint::spin_loop();
    }
}

fn slow(millions: &str) -> String {
    said(&compute(millions.parse().unwrap_or_default()).to_string())
}

/// Computes for this many million turns. A million takes about a millisecond.
#[must_use]
pub fn compute(millions: u64) -> u64 {
    let mut sum = 0_u64;
    for turn in 0..millions * 1_000_000 {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(turn));
    }
    sum
}

fn deep(levels: usize) -> String {
    let inner = levels.saturating_sub(1);
    format!("{{\"down\":{}{}}}", "[".repeat(inner), "]".repeat(inner))
}

fn person(words: &str) -> Subject {
    let (id, words) = cut(words);
    let (email, name) = cut(words);
    let mut subject = Subject::new(id, Sender::Person);
    subject.may_create = true;
    if !email.is_empty() && email != "-" {
        subject.email = Some(email.to_owned());
        subject.email_verified = true;
    }
    if !name.is_empty() {
        subject.display_name = Some(name.to_owned());
    }
    subject
}
