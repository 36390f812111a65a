//! `trace`: what is known of an id, oldest first.

use std::process::ExitCode;
use std::time::Duration;

use super::arguments::Trace;
use super::executions::{outcome, took};
use super::exit::Failure;
use super::printer::Printer;
use super::progress::Progress;
use crate::admin::Client;
use crate::admin::dead_letters;
use crate::admin::executions::Envelope;
use crate::admin::trace::{self as wire, Entry, Event, Relation, Row, TRACE, Wanted, What};
use crate::text;

/// Longest wait: a search takes as long as the log is.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// How much of an id a line of progress shows, in characters.
const TEXT_CHARS_MAX: usize = 60;

pub(super) async fn run(host: &Client, asked: Trace, printer: &Printer) -> Result<ExitCode, Failure> {
    let limit = usize::try_from(asked.limit).unwrap_or(wire::PAGE_MAX);
    let progress = Progress::line(*printer);
    progress.say(format!("look through the log for {}", text::line(&asked.text, TEXT_CHARS_MAX)));
    let wanted = Wanted { text: asked.text, limit };
    let known: wire::Trace = host.get_within(TRACE, &wanted, PATIENCE).await?;
    drop(progress);
    printer.result(&known, || timeline(&known))?;
    Ok(ExitCode::SUCCESS)
}

fn timeline(known: &wire::Trace) -> String {
    if known.entries.is_empty() {
        let reasons = known.can_mean.iter().map(|reason| format!("  - {reason}"));
        let reasons: Vec<String> = reasons.collect();
        return text::printable(&format!(
            "nothing is known of {}; that can mean:\n{}",
            text::line(&known.text, usize::MAX),
            reasons.join("\n")
        ));
    }
    let mut lines: Vec<String> = known.entries.iter().flat_map(|entry| entry_lines(entry, &known.text)).collect();
    if known.more {
        lines.push("there is more: say `--limit`".to_owned());
    }
    if !known.not_followed.is_empty() {
        lines.push(text::line(&format!("not followed: {}", known.not_followed.join(" ")), usize::MAX));
    }
    lines.join("\n")
}

/// One line of what it is, and indented below it what is known of it.
fn entry_lines(entry: &Entry, asked: &str) -> Vec<String> {
    let (connection, head, details) = match &entry.what {
        What::Event(event) => (&event.connection, format!("event {}", event.position), of_event(event)),
        What::Waiting(row) => (&row.connection, format!("inbox row {}", row.row), of_row(row)),
        What::DeadLetter(letter) => (&letter.connection, format!("dead letter {}", letter.id), of_letter(letter)),
        What::Execution(execution) => {
            (&execution.connection, format!("execution {}", execution.id), of_execution(execution))
        }
    };
    let id = entry.through.as_deref().unwrap_or(asked);
    let relation = match entry.relation {
        Relation::Is if entry.through.is_none() => String::new(),
        Relation::Is => format!(" is {id}"),
        Relation::Made => format!(" made {id}"),
        Relation::RefersTo => format!(" refers to {id}"),
        Relation::Mentions => format!(" mentions {id}"),
    };
    let first = format!("{}  {connection}  {head}{relation}", entry.at);
    std::iter::once(first)
        .chain(details.into_iter().map(|detail| format!("    {detail}")))
        .map(|line| text::line(&line, usize::MAX))
        .collect()
}

fn of_event(event: &Event) -> Vec<String> {
    let late = if event.late { ", late: out of its lane's order" } else { "" };
    let refers = event.refers_to.as_ref().map(|key| format!(", refers to {key}")).unwrap_or_default();
    let by = match (event.submitted_by, event.transformed_by) {
        (one, other) if one == other => format!("by generation {one}"),
        (one, other) => format!("submitted by generation {one}, transformed by {other}"),
    };
    vec![
        format!("{}, key {}{refers}", event.name, event.key),
        format!("lane {}, from {} by {}{late}", event.lane, event.kind, text::word(&event.via)),
        format!("stored {} after it was received, {by}", took(event.received_at, event.stored_at)),
    ]
}

fn of_row(row: &Row) -> Vec<String> {
    let late = if row.late { ", late: out of its lane's order" } else { "" };
    vec![format!(
        "still waits: {} in lane {}, tried {} times{late}, submitted by generation {}",
        row.kind, row.lane, row.attempts, row.submitted_by
    )]
}

fn of_letter(letter: &dead_letters::Envelope) -> Vec<String> {
    let dead_letters::Envelope { kind, lane, stage, died_at, attempts, error, .. } = letter;
    let stage = text::word(stage);
    vec![
        format!("{kind} in lane {lane} died in {stage} at {died_at} after {attempts} tries"),
        format!("because: {error}"),
    ]
}

fn of_execution(execution: &Envelope) -> Vec<String> {
    let key = execution.key.as_ref().map(|key| format!(", under key {key}")).unwrap_or_default();
    let took =
        execution.finished_at.map(|at| format!(" after {}", took(execution.submitted_at, at))).unwrap_or_default();
    let reason = execution.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let mut lines = vec![
        format!("{}, attempt {}{key}, asked by {}", execution.action, execution.attempt, execution.caller),
        format!("{}{took}{reason}", outcome(execution)),
    ];
    if !execution.provider_ids.is_empty() {
        lines.push(format!("made {}", execution.provider_ids.join(" ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use jackfield_model::action::EndingKind;
    use jackfield_model::{Generation, Timestamp, Transport};
    use jackfield_store::commit::Stage;
    use jackfield_store::execution::Surface;

    use super::*;

    const AT: Timestamp = Timestamp(1_770_128_116_171);

    fn entry(after: u64, relation: Relation, through: Option<&str>, what: What) -> Entry {
        Entry { at: Timestamp(AT.0 + after), relation, through: through.map(str::to_owned), what }
    }

    fn known() -> wire::Trace {
        let execution = Envelope {
            id: "01890a5d0ac87b1e9f2a3b4c5d6e7f80".parse().unwrap(),
            connection: "acme".parse().unwrap(),
            action: "send-message".to_owned(),
            outcome: Some(EndingKind::Done),
            reason: None,
            key: Some("order-17".to_owned()),
            attempt: 1,
            surface: Surface::Admin,
            caller: "uid:1000 (ann)".to_owned(),
            approved: None,
            submitted_at: AT,
            started_at: Some(AT),
            finished_at: Some(Timestamp(AT.0 + 80)),
            waited_ms: 0,
            provider_ids: vec!["123".to_owned()],
            generation: Generation(3),
            digest: "sha256:0000".to_owned(),
        };
        let event = Event {
            position: 1_042,
            connection: "acme".parse().unwrap(),
            name: "reaction.added".to_owned(),
            key: "discord:react:\u{1b}1".to_owned(),
            refers_to: Some("discord:msg:123".to_owned()),
            kind: "MESSAGE_REACTION_ADD".to_owned(),
            lane: "42".to_owned(),
            via: Transport::Socket,
            occurred_at: AT,
            received_at: Timestamp(AT.0 + 2_000),
            stored_at: Timestamp(AT.0 + 2_012),
            submitted_by: Generation(3),
            transformed_by: Generation(4),
            late: true,
        };
        let row = Row {
            row: 12,
            connection: "acme".parse().unwrap(),
            kind: "MESSAGE_UPDATE".to_owned(),
            lane: "42".to_owned(),
            attempts: 2,
            late: false,
            via: Transport::Socket,
            received_at: Timestamp(AT.0 + 3_000),
            submitted_by: Generation(4),
        };
        let letter = dead_letters::Envelope {
            id: 7,
            connection: "acme".parse().unwrap(),
            kind: "MESSAGE_DELETE".to_owned(),
            lane: "42".to_owned(),
            stage: Stage::Transform,
            error: "trap: unreachable\nat 0".to_owned(),
            attempts: 3,
            repeats: 0,
            digest: "sha256:0000".to_owned(),
            via: Transport::Socket,
            received_at: Timestamp(AT.0 + 4_000),
            died_at: Timestamp(AT.0 + 4_100),
            submitted_by: Generation(4),
            bytes: 99,
        };
        wire::Trace {
            text: "order-17".to_owned(),
            entries: vec![
                entry(0, Relation::Is, None, What::Execution(execution)),
                entry(2_000, Relation::RefersTo, Some("123"), What::Event(event)),
                entry(3_000, Relation::Mentions, Some("123"), What::Waiting(row)),
                entry(4_000, Relation::Mentions, Some("123"), What::DeadLetter(letter)),
            ],
            more: true,
            not_followed: vec!["124".to_owned()],
            can_mean: Vec::new(),
        }
    }

    #[test]
    fn a_timeline() {
        // Over the wire, as a command gets it.
        let shown = serde_json::from_str(&serde_json::to_string(&known()).unwrap()).unwrap();
        insta::assert_snapshot!(timeline(&shown));
    }

    #[test]
    fn nothing_is_said_plainly() {
        let nothing = wire::Trace {
            entries: Vec::new(),
            more: false,
            not_followed: Vec::new(),
            can_mean: vec!["it is older than what is kept".to_owned(), "it never came".to_owned()],
            ..known()
        };
        insta::assert_snapshot!(timeline(&nothing));
    }
}
