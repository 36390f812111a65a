//! "What happened to message X?": everything that the stores know of an id, in one timeline.
//!
//! Walks from what was asked about to what is one step away from it: from a submission to what it made, from an event to
//! the execution that made its message. Where nothing is known it says what that can mean, with this host's numbers.
//!
//! A search takes as long as the log is, and ends with its connection.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::IntoResponse;
use jackfield_model::{ConnectionId, Generation, Timestamp, Transport};
use jackfield_store::event::Record;
use jackfield_store::execution::Execution;
use jackfield_store::trace::{Trail, Waiting};
use serde::{Deserialize, Serialize};

use super::failure::{Class, Failure};
use super::server::Admin;
use super::{dead_letters, executions};
use crate::config::units;
use crate::{status, text};

/// Where it is asked.
pub(crate) const TRACE: &str = "/v0/trace";

/// Most entries of each kind, for one id.
pub(crate) const PAGE_MAX: usize = 200;

/// Longest text that is looked for, in bytes: ids, keys.
const TEXT_BYTES_MAX: usize = 512;

/// Most ids that are followed: each is a search through the whole log.
const FOLLOWED_MAX: usize = 4;

/// What is asked about.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// An id of the platform, an event's key, an execution's id, or a caller's key.
    pub(crate) text: String,
    /// At most so many of each kind.
    pub(crate) limit: usize,
}

/// What is known.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Trace {
    pub(crate) text: String,
    /// Oldest first, by when this host first heard of each.
    pub(crate) entries: Vec<Entry>,
    /// There is more than was asked for.
    pub(crate) more: bool,
    /// Ids that lead further, and were not followed.
    pub(crate) not_followed: Vec<String>,
    /// What it can mean that nothing is known. Empty where something is.
    pub(crate) can_mean: Vec<String>,
}

/// One thing that is known.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// When this host first heard of it.
    pub(crate) at: Timestamp,
    /// How it has to do with what was asked about.
    pub(crate) relation: Relation,
    /// The id that led to it, where that is not what was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) through: Option<String>,
    #[serde(flatten)]
    pub(crate) what: What,
}

/// How something has to do with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Relation {
    /// It has this id or key.
    Is,
    /// An execution that brought it about.
    Made,
    /// An event about it: an edit, a reaction.
    RefersTo,
    /// It stands somewhere inside.
    Mentions,
}

/// What is known of one thing.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum What {
    Event(Event),
    Waiting(Row),
    DeadLetter(dead_letters::Envelope),
    Execution(executions::Envelope),
}

/// An event of the log, without what it says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) position: u64,
    pub(crate) connection: ConnectionId,
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) refers_to: Option<String>,
    pub(crate) kind: String,
    pub(crate) lane: String,
    pub(crate) via: Transport,
    pub(crate) occurred_at: Timestamp,
    pub(crate) received_at: Timestamp,
    pub(crate) stored_at: Timestamp,
    pub(crate) submitted_by: Generation,
    pub(crate) transformed_by: Generation,
    pub(crate) late: bool,
}

/// A dispatch that waits in the inbox.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) row: u64,
    pub(crate) connection: ConnectionId,
    pub(crate) kind: String,
    pub(crate) lane: String,
    pub(crate) attempts: u32,
    pub(crate) late: bool,
    pub(crate) via: Transport,
    pub(crate) received_at: Timestamp,
    pub(crate) submitted_by: Generation,
}

pub(super) async fn trace(
    State(admin): State<Admin>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Failure> {
    let text = wanted.text;
    if text.is_empty() || text.len() > TEXT_BYTES_MAX {
        let problem = format!("what is traced has 1 to {TEXT_BYTES_MAX} bytes");
        return Err(Failure::bad(problem).case(Class::Usage, "invalid"));
    }
    let limit = wanted.limit.clamp(1, PAGE_MAX);
    let mut walk = Walk { asked: text, entries: Vec::new(), seen: BTreeSet::new(), more: false };
    let store = &admin.host.stores().trace;
    let first = store.trace(&walk.asked, limit).await?;
    let mut next = walk.next(&admin, &first);
    let not_followed = next.split_off(next.len().min(FOLLOWED_MAX));
    walk.add(None, first);
    for id in next {
        let trail = store.trace(&id, limit).await?;
        walk.add(Some(&id), trail);
    }
    walk.entries.sort_by_key(|entry| entry.at);
    let can_mean = if walk.entries.is_empty() { can_mean(&admin).await } else { Vec::new() };
    let Walk { asked, entries, more, .. } = walk;
    Ok(Json(Trace { text: asked, entries, more, not_followed, can_mean }))
}

/// Names one entry, so that it is shown once however many ids lead to it.
type Name = (u8, u128);

struct Walk {
    asked: String,
    entries: Vec<Entry>,
    seen: BTreeSet<Name>,
    more: bool,
}

impl Walk {
    /// The ids that are one step away.
    fn next(&self, admin: &Admin, found: &Trail) -> Vec<String> {
        let mut next: Vec<String> = Vec::new();
        // `discord:msg:80351110224678912`: executions know their messages by the platform's bare id.
        let namespaces: BTreeSet<&str> = admin.served.values().map(|served| served.namespace.as_str()).collect();
        if let (Some((namespace, _)), Some((_, id))) = (self.asked.split_once(':'), self.asked.rsplit_once(':'))
            && namespaces.contains(namespace)
        {
            next.push(id.to_owned());
        }
        let own = found.executions.items.iter().filter(|execution| self.is(execution));
        next.extend(own.flat_map(|execution| execution.provider_ids.iter().cloned()));
        next.retain(|id| !id.is_empty() && id.len() <= TEXT_BYTES_MAX && *id != self.asked);
        let mut once = BTreeSet::new();
        next.retain(|id| once.insert(id.clone()));
        next
    }

    fn is(&self, execution: &Execution) -> bool {
        execution.key.as_deref() == Some(&self.asked) || execution.id.to_string() == self.asked
    }

    fn add(&mut self, through: Option<&str>, found: Trail) {
        let Trail { events, waiting, dead_letters, executions } = found;
        self.more |= events.more || waiting.more || dead_letters.more || executions.more;
        let id = through.unwrap_or(&self.asked).to_owned();
        // First: at the same moment, what was asked for comes before what came of it.
        for execution in executions.items {
            let name = (3, u128::from_be_bytes(execution.id.to_be_bytes()));
            let relation = match &execution {
                own if through.is_none() && self.is(own) => Relation::Is,
                made if made.provider_ids.contains(&id) => Relation::Made,
                _ => Relation::Mentions,
            };
            let what = What::Execution(executions::Envelope::from(&execution));
            self.push(name, execution.submitted_at, relation, through, what);
        }
        for record in events.items {
            let relation = of_event(&id, &record);
            let name = (0, u128::from(record.position));
            self.push(name, record.received_at, relation, through, What::Event(Event::from(record)));
        }
        for row in waiting.items {
            let name = (1, u128::from(row.id.0));
            self.push(name, row.row.reception.at, Relation::Mentions, through, What::Waiting(Row::from(row)));
        }
        for letter in dead_letters.items {
            let what = What::DeadLetter(dead_letters::Envelope::from(&letter));
            self.push((2, u128::from(letter.id)), letter.reception.at, Relation::Mentions, through, what);
        }
    }

    fn push(&mut self, name: Name, at: Timestamp, relation: Relation, through: Option<&str>, what: What) {
        if self.seen.insert(name) {
            self.entries.push(Entry { at, relation, through: through.map(str::to_owned), what });
        }
    }
}

/// A platform's bare id is the end of the keys of its events.
fn of_event(id: &str, record: &Record) -> Relation {
    let names = |key: &str| key == id || key.strip_suffix(id).is_some_and(|before| before.ends_with(':'));
    match &record.event {
        event if names(&event.key) => Relation::Is,
        event if event.refers_to.as_deref().is_some_and(names) => Relation::RefersTo,
        _ => Relation::Mentions,
    }
}

/// What it can mean that nothing is known, most likely first.
async fn can_mean(admin: &Admin) -> Vec<String> {
    let status = admin.host.status().await;
    let policy = admin.host.retention();
    let mut reasons = vec![format!(
        "it is older than what is kept: events {}, dead letters {}, executions {}",
        days(policy.events),
        days(policy.dead_letters),
        days(policy.executions),
    )];
    let counted = |counts: &BTreeMap<String, u64>| {
        let shown = counts.iter().filter(|(_, count)| **count > 0).map(|(reason, count)| format!("{reason} {count}"));
        shown.collect::<Vec<_>>().join(", ")
    };
    for status::Connection { id, state, cause, ignored, drops, .. } in &status.connections {
        if *state != status::State::Ready {
            reasons.push(format!("{id} did not receive it: it is {} ({cause})", text::word(state)));
        }
        for (what, counts) in
            [("was of no interest to its connector", counted(ignored)), ("was dropped", counted(drops))]
        {
            if !counts.is_empty() {
                reasons.push(format!("it {what} on {id}, and only counted; since the host started: {counts}"));
            }
        }
    }
    reasons.push("the platform never sent it, or knows it under another id".to_owned());
    reasons
}

fn days(kept: Duration) -> String {
    const DAY: u64 = 24 * 60 * 60;
    match kept.as_secs() {
        seconds if seconds > 0 && seconds.is_multiple_of(DAY) => format!("{} days", seconds / DAY),
        _ => units::show_duration(kept),
    }
}

impl From<Record> for Event {
    fn from(record: Record) -> Self {
        Self {
            position: record.position,
            connection: record.connection,
            name: record.event.name,
            key: record.event.key,
            refers_to: record.event.refers_to,
            kind: record.kind,
            lane: record.lane,
            via: record.via,
            occurred_at: record.event.occurred_at,
            received_at: record.received_at,
            stored_at: record.stored_at,
            submitted_by: record.submitted_by,
            transformed_by: record.transformed_by,
            late: record.late,
        }
    }
}

impl From<Waiting> for Row {
    fn from(Waiting { connection, id, row }: Waiting) -> Self {
        Self {
            row: id.0,
            connection,
            kind: row.dispatch.kind.clone(),
            lane: row.dispatch.lane.clone(),
            attempts: row.attempts,
            late: row.late,
            via: row.reception.via,
            received_at: row.reception.at,
            submitted_by: row.reception.by,
        }
    }
}
