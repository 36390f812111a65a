//! What a guest's events must be before they may enter the log. One that is not makes its dispatch a dead letter: stage `ingest`.

use std::borrow::Cow;

use jackfield_model::Event;
use jackfield_store::commit::Admitted;

use super::sanitize::{self, Unfit};

/// Most events of one dispatch. A page of members has a hundred; what makes thousands is a loop.
const EVENTS_MAX: usize = 1_000;
/// Longest event name, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// Longest key or reference, in bytes. Keys are hashed and compared; a long one is a payload in the wrong place.
const KEY_BYTES_MAX: usize = 512;
/// Longest id, name or address of a subject or location, in bytes.
const TEXT_BYTES_MAX: usize = 1_024;
/// Longest JSON of one event, in bytes: as long as the longest dispatch.
const PROPERTIES_BYTES_MAX: usize = jackfield_model::limits::DISPATCH_BYTES_MAX;

/// Why an event may not enter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Inadmissible {
    /// More than one dispatch may mean.
    #[error("{0} events from one dispatch, at most {EVENTS_MAX} are allowed")]
    TooMany(usize),
    /// Not a name of the vocabulary's form.
    #[error("event name `{0}` is not of the form `message.created` or `x.<connector>.<name>`")]
    Name(String),
    /// A part is longer than it may be, or empty.
    #[error("`{part}` has {bytes} bytes, it must have 1 to {limit}")]
    Length {
        /// Which part.
        part: &'static str,
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// JSON that can't be stored.
    #[error("`{part}`: {why}")]
    Json {
        /// Which part.
        part: &'static str,
        /// Why.
        why: Unfit,
    },
}

/// Checks and cleans the events of one dispatch.
pub(super) fn events(events: Vec<Event>) -> Result<Vec<Admitted>, Inadmissible> {
    if events.len() > EVENTS_MAX {
        return Err(Inadmissible::TooMany(events.len()));
    }
    events.into_iter().map(event).collect()
}

fn event(mut event: Event) -> Result<Admitted, Inadmissible> {
    if !is_name(&event.name) {
        return Err(Inadmissible::Name(event.name.chars().take(NAME_BYTES_MAX).collect()));
    }
    let mut cleaner = Cleaner { touched: false };
    cleaner.text("key", &mut event.key, KEY_BYTES_MAX)?;
    if let Some(refers_to) = &mut event.refers_to {
        cleaner.text("refers-to", refers_to, KEY_BYTES_MAX)?;
    }
    cleaner.json("properties", &mut event.properties)?;
    if let Some(location) = &mut event.location {
        for (part, text) in [
            ("location.account", &mut location.account),
            ("location.room", &mut location.room),
            ("location.peer", &mut location.peer),
            ("location.thread", &mut location.thread),
        ] {
            cleaner.optional(part, text)?;
        }
    }
    if let Some(subject) = &mut event.subject {
        for id in &mut subject.ids {
            cleaner.text("subject.ids", id, TEXT_BYTES_MAX)?;
        }
        cleaner.optional("subject.email", &mut subject.email)?;
        cleaner.optional("subject.external-id", &mut subject.external_id)?;
        cleaner.optional("subject.display-name", &mut subject.display_name)?;
        cleaner.json("subject.properties", &mut subject.properties)?;
    }
    Ok(Admitted { event, sanitized: cleaner.touched })
}

struct Cleaner {
    touched: bool,
}

impl Cleaner {
    fn text(&mut self, part: &'static str, text: &mut String, limit: usize) -> Result<(), Inadmissible> {
        if text.is_empty() || text.len() > limit {
            return Err(Inadmissible::Length { part, bytes: text.len(), limit });
        }
        if let Cow::Owned(clean) = sanitize::plain(text) {
            *text = clean;
            self.touched = true;
        }
        Ok(())
    }

    /// An empty optional text is an absent one.
    fn optional(&mut self, part: &'static str, text: &mut Option<String>) -> Result<(), Inadmissible> {
        match text {
            Some(present) if present.is_empty() => *text = None,
            Some(present) => self.text(part, present, TEXT_BYTES_MAX)?,
            None => {}
        }
        Ok(())
    }

    fn json(&mut self, part: &'static str, text: &mut String) -> Result<(), Inadmissible> {
        if text.is_empty() {
            "{}".clone_into(text);
            return Ok(());
        }
        if text.len() > PROPERTIES_BYTES_MAX {
            return Err(Inadmissible::Length { part, bytes: text.len(), limit: PROPERTIES_BYTES_MAX });
        }
        if let Cow::Owned(clean) = sanitize::object(text).map_err(|why| Inadmissible::Json { part, why })? {
            *text = clean;
            self.touched = true;
        }
        Ok(())
    }
}

/// `word` or `word.word…`, each of lower-case letters, digits, `_` and `-`, beginning with a letter or digit.
fn is_name(name: &str) -> bool {
    let word = |word: &str| {
        word.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
    };
    name.len() <= NAME_BYTES_MAX && name.split('.').all(word)
}

#[cfg(test)]
mod tests {
    use jackfield_model::{Recurrence, Timestamp};

    use super::*;

    fn sample() -> Event {
        Event {
            name: "message.created".into(),
            occurred_at: Timestamp(1),
            key: "c:1".into(),
            recurrence: Recurrence::Once,
            refers_to: None,
            subject: None,
            location: None,
            properties: "{}".into(),
        }
    }

    #[test]
    fn good_events_pass_untouched() {
        for name in ["interaction", "message.created", "x.discord.voice_state", "conversation.moved"] {
            let event = Event { name: name.into(), ..sample() };
            assert_eq!(events(vec![event.clone()]), Ok(vec![Admitted { event, sanitized: false }]));
        }
    }

    #[test]
    fn q6_cleaned_events_are_flagged() {
        let event = Event { properties: r#"{"text":"a\u0000"}"#.into(), ..sample() };
        let admitted = events(vec![event]).unwrap();
        assert!(admitted[0].sanitized);
        assert_eq!(admitted[0].event.properties, r#"{"text":"a\ufffd"}"#);
    }

    #[test]
    fn bad_events_name_the_part() {
        let cases = [
            (Event { name: "Message".into(), ..sample() }, "event name"),
            (Event { name: "a..b".into(), ..sample() }, "event name"),
            (Event { key: String::new(), ..sample() }, "`key`"),
            (Event { key: "k".repeat(513), ..sample() }, "`key`"),
            (Event { properties: "[]".into(), ..sample() }, "`properties`"),
            (Event { properties: format!("{{\"a\":{}", "[".repeat(5_000)), ..sample() }, "nested deeper"),
        ];
        for (event, part) in cases {
            let error = events(vec![event]).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(events(vec![sample(); 1_001]), Err(Inadmissible::TooMany(1_001)));
    }
}
