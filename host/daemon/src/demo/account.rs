//! The account: every message that the double made against every event that the log has. Counters of the host have no say.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use jackfield_store::event::Record;
use jackfield_testkit::discord::{Counts, Id};
use serde::Serialize;

use super::answers::Answered;

/// What became of the messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Account {
    /// Messages that the double made.
    dispatches: u64,
    /// Events of messages in the log.
    events: u64,
    /// Messages without an event.
    lost: u64,
    /// Events beyond the first of a message, and events of no message.
    doubled: u64,
    /// Events that stand behind one of a later message of their channel.
    reordered: u64,
    /// Resumes that the double accepted.
    resumes: u64,
    /// Identifies that it received.
    identifies: u64,
    /// What could not be settled.
    dead_letters: u64,
    /// Answers that were asked for as actions, were done, and that the double has: each once.
    actions_sent: u64,
    /// Answers that are missing there, or too many.
    #[serde(skip)]
    actions_wrong: u64,
    /// From the start of the double to the end of the host.
    seconds: f64,
}

/// What the logs of messages and events don't say.
pub(super) struct Rest {
    /// What could not be settled.
    pub(super) dead_letters: u64,
    /// What became of the answers.
    pub(super) answered: Answered,
    /// Messages that the double made because it was asked to. They come back as messages, and are no events.
    pub(super) said: HashSet<Id>,
    /// From the start of the double to the end of the host.
    pub(super) seconds: f64,
}

impl Account {
    pub(super) fn new(messages: &BTreeMap<Id, Vec<Id>>, events: &[Record], counts: Counts, rest: &Rest) -> Self {
        let Rest { dead_letters, ref answered, ref said, seconds } = *rest;
        let made: HashMap<String, (&Id, usize)> = messages
            .iter()
            .flat_map(|(channel, ids)| ids.iter().enumerate().map(move |(place, id)| (id, (channel, place))))
            .filter(|(id, _)| !said.contains(id))
            .map(|(id, place)| (id.to_string(), place))
            .collect();
        let mut seen: HashMap<&str, u64> = HashMap::new();
        let mut furthest: HashMap<&Id, usize> = HashMap::new();
        let (mut doubled, mut reordered) = (0, 0);
        for record in events {
            let id = message_id(record);
            let Some((channel, place)) = made.get(id).copied() else {
                doubled += 1;
                continue;
            };
            let times = seen.entry(id).or_default();
            *times += 1;
            if *times > 1 {
                doubled += 1;
                continue;
            }
            let ahead = furthest.entry(channel).or_insert(place);
            reordered += u64::from(place < *ahead);
            *ahead = place.max(*ahead);
        }
        let dispatches = made.len() as u64;
        Self {
            dispatches,
            events: events.len() as u64,
            lost: dispatches.saturating_sub(seen.len() as u64),
            doubled,
            reordered,
            resumes: counts.resumed,
            identifies: counts.identifies,
            dead_letters,
            actions_sent: answered.sent,
            actions_wrong: answered.asked.abs_diff(said.len() as u64) + (answered.asked - answered.sent),
            seconds: (seconds * 1_000.0).round() / 1_000.0,
        }
    }

    /// Every message became exactly one event, in order per channel, over a reconnect that was resumed; every answer was
    /// said once.
    pub(super) fn is_whole(&self) -> bool {
        let Self { lost, doubled, reordered, dead_letters, resumes, actions_wrong, .. } = self;
        let none_wrong = [*lost, *doubled, *reordered, *dead_letters, *actions_wrong] == [0; 5];
        none_wrong && self.events == self.dispatches && *resumes > 0
    }
}

/// The id of the message that an event is of: the last part of its key.
fn message_id(record: &Record) -> &str {
    record.event.key.rsplit(':').next().unwrap_or_default()
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dispatches, events, lost, doubled, reordered, resumes, identifies, dead_letters, .. } = self;
        let Self { actions_sent, actions_wrong, seconds, .. } = self;
        writeln!(f, "{dispatches} messages became {events} events in {seconds:.1} s")?;
        writeln!(f, "  lost {lost}, doubled {doubled}, reordered {reordered}, dead letters {dead_letters}")?;
        writeln!(f, "  reconnects resumed {resumes}, identifies {identifies}")?;
        writeln!(f, "  answered by actions {actions_sent}, missing or doubled {actions_wrong}")?;
        f.write_str(if self.is_whole() {
            "every message became exactly one event, in order per channel, and every answer was said once"
        } else {
            "NOT every message became exactly one event in order, or not every answer was said once: see above"
        })
    }
}
