//! Dispatches, events and batches to try things with.

use std::sync::Arc;

use jackfield_model::action::{self, Ending, EndingKind};
use jackfield_model::{
    Blob, ConnectionId, Digest, Dispatch, Event, ExecutionId, Generation, Location, Recurrence, Sender, Space, Subject,
    Timestamp, Transport,
};

use crate::commit::{Admitted, Batch, Death, Outcome, Reception, Settled, Stage};
use crate::execution::{Closing, Opening, Repeats, Surface};
use crate::inbox::Row;

/// The connection that cases use unless they need two.
#[must_use]
pub fn connection() -> ConnectionId {
    "acme-discord".parse().unwrap()
}

/// The contact space that cases use unless they need two.
#[must_use]
pub fn space() -> Space {
    "acme".parse().unwrap()
}

/// A dispatch in a lane.
#[must_use]
pub fn dispatch(lane: &str, payload: &str) -> Arc<Dispatch> {
    let kind = "MESSAGE_CREATE".to_owned();
    Arc::new(Dispatch { kind, payload: Blob::from(payload), lane: lane.to_owned(), context: "{}".to_owned() })
}

/// Something that happens once.
#[must_use]
pub fn event(key: &str) -> Event {
    Event {
        name: "message.created".to_owned(),
        occurred_at: Timestamp(1_770_000_000_000),
        key: key.to_owned(),
        recurrence: Recurrence::Once,
        refers_to: None,
        subject: None,
        location: Some(Location { room: Some("4711".to_owned()), ..Location::default() }),
        properties: format!(r#"{{"text":"about {key}"}}"#),
    }
}

/// Something that can happen again, at this time.
#[must_use]
pub fn recurring(key: &str, at: u64) -> Event {
    Event { recurrence: Recurrence::Recurring, occurred_at: Timestamp(at), ..event(key) }
}

/// An event that passed.
#[must_use]
pub fn admitted(event: Event) -> Admitted {
    Admitted { event, sanitized: false }
}

/// A dispatch that means these events.
#[must_use]
pub fn settled(events: Vec<Event>) -> Settled {
    let lane = events.first().map_or_else(|| "lane".to_owned(), |event| event.key.clone());
    ended("lane", &lane, Outcome::Events(events.into_iter().map(admitted).collect()))
}

/// A dispatch that ended in some way.
#[must_use]
pub(super) fn ended(lane: &str, payload: &str, outcome: Outcome) -> Settled {
    Settled {
        row: None,
        dispatch: dispatch(lane, payload),
        reception: reception(),
        transformed_by: Generation(3),
        late: false,
        outcome,
    }
}

/// Something by which a person may become a contact.
#[must_use]
pub(super) fn said_by(key: &str, subject: Subject) -> Settled {
    settled(vec![Event { subject: Some(subject), ..event(key) }])
}

/// A person with these platform ids.
#[must_use]
pub(super) fn person(ids: &[&str]) -> Subject {
    Subject {
        ids: ids.iter().map(|&id| id.to_owned()).collect(),
        sender: Sender::Person,
        is_self: false,
        email: None,
        email_verified: false,
        external_id: None,
        display_name: None,
        may_create: true,
        properties: "{}".to_owned(),
    }
}

/// How things came.
#[must_use]
pub(super) fn reception() -> Reception {
    Reception { at: Timestamp(1_770_000_001_000), via: Transport::Socket, by: Generation(2) }
}

/// Why things died.
#[must_use]
pub fn death() -> Death {
    let digest = Digest::of(b"a component");
    Death { stage: Stage::Transform, error: "unreachable executed".to_owned(), attempts: 3, digest }
}

/// A dispatch that has to wait.
#[must_use]
pub fn row(lane: &str, payload: &str) -> Row {
    Row { dispatch: dispatch(lane, payload), reception: reception(), attempts: 0, late: false }
}

/// A batch of a connection.
#[must_use]
pub fn batch(connection: &ConnectionId, settled: Vec<Settled>) -> Batch {
    Batch {
        connection: connection.clone(),
        space: space(),
        namespace: "discord".to_owned(),
        settled,
        parked: Vec::new(),
        attempts: Vec::new(),
        state: Vec::new(),
    }
}

/// A batch of one dispatch a key, each of one event.
#[must_use]
pub(super) fn batch_of(connection: &ConnectionId, keys: &[&str]) -> Batch {
    batch(connection, keys.iter().map(|key| settled(vec![event(key)])).collect())
}

/// The id of an execution: the later the number, the newer.
#[must_use]
pub fn execution(at: u64) -> ExecutionId {
    ExecutionId::new(Timestamp(1_770_000_000_000 + at), u128::from(at))
}

/// An execution that is about to begin.
#[must_use]
pub fn opening(at: u64, key: Option<&str>) -> Opening {
    Opening {
        id: execution(at),
        connection: connection(),
        generation: Generation(2),
        digest: Digest::of(b"a component"),
        action: "send-message".to_owned(),
        surface: Surface::Admin,
        caller: "user 1000".to_owned(),
        args: r#"{"text":"hello"}"#.to_owned(),
        args_digest: Digest::of(b"hello"),
        key: key.map(str::to_owned),
        attempt: 1,
        approved: None,
        submitted_at: Timestamp(1_770_000_000_000 + at),
        repeats: Repeats::Never,
    }
}

/// One of each kind.
#[must_use]
pub(super) fn ending(kind: EndingKind) -> Ending {
    let reason = "because".to_owned();
    let made = action::Outcome {
        output: r#"{"id":"4711"}"#.to_owned(),
        provider_ids: vec!["4711".to_owned()],
        effects: vec![action::Patch { op: action::PatchOp::Set, path: "/id".to_owned(), value: "1".to_owned() }],
    };
    match kind {
        EndingKind::Done => Ending::Done(made),
        EndingKind::Partial => Ending::Partial(made),
        EndingKind::Rejected => Ending::Rejected { reason },
        EndingKind::Retry => Ending::Retry { reason, after_ms: Some(u64::MAX) },
        EndingKind::Unauthorized => Ending::Unauthorized { reason },
        EndingKind::Unknown => Ending::Unknown { reason },
    }
}

/// How an execution ended.
#[must_use]
pub fn closing(kind: EndingKind) -> Closing {
    Closing {
        ending: ending(kind),
        result: String::new(),
        notes: Vec::new(),
        requests: Vec::new(),
        waited_ms: 0,
        started_at: Some(Timestamp(2)),
        finished_at: Timestamp(3),
    }
}
