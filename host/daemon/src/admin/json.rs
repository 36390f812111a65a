//! JSON that is kept as text in the stores, shown as JSON: digit for digit, so that long ids and numbers stay what they were.

use jackfield_model::{Epoch, Generation, Location, Recurrence, Sender, Subject, Timestamp, Transport};
use jackfield_store::event::Record;
use serde::Serialize;
use serde_json::value::RawValue;

/// A JSON text as it stands. What is no JSON (nothing of that kind is ever stored) becomes `null`.
pub(super) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// An event as it is shown.
#[derive(Serialize)]
pub(super) struct EventDocument<'a> {
    position: u64,
    connection: &'a str,
    name: &'a str,
    key: &'a str,
    occurred_at: Timestamp,
    recurrence: Recurrence,
    refers_to: Option<&'a str>,
    location: Option<&'a Location>,
    subject: Option<SubjectDocument<'a>>,
    contact: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    conflicts: &'a [String],
    properties: Box<RawValue>,
    kind: &'a str,
    lane: &'a str,
    via: Transport,
    received_at: Timestamp,
    stored_at: Timestamp,
    epoch: Epoch,
    submitted_by: Generation,
    transformed_by: Generation,
    late: bool,
    sanitized: bool,
}

#[derive(Serialize)]
struct SubjectDocument<'a> {
    ids: &'a [String],
    sender: Sender,
    is_self: bool,
    email: Option<&'a str>,
    email_verified: bool,
    external_id: Option<&'a str>,
    display_name: Option<&'a str>,
    properties: Box<RawValue>,
}

impl<'a> From<&'a Record> for EventDocument<'a> {
    fn from(record: &'a Record) -> Self {
        let event = &record.event;
        Self {
            position: record.position,
            connection: record.connection.as_str(),
            name: &event.name,
            key: &event.key,
            occurred_at: event.occurred_at,
            recurrence: event.recurrence,
            refers_to: event.refers_to.as_deref(),
            location: event.location.as_ref(),
            subject: event.subject.as_ref().map(SubjectDocument::from),
            contact: record.contact.as_deref(),
            conflicts: &record.conflicts,
            properties: raw(&event.properties),
            kind: &record.kind,
            lane: &record.lane,
            via: record.via,
            received_at: record.received_at,
            stored_at: record.stored_at,
            epoch: record.epoch,
            submitted_by: record.submitted_by,
            transformed_by: record.transformed_by,
            late: record.late,
            sanitized: record.sanitized,
        }
    }
}

impl<'a> From<&'a Subject> for SubjectDocument<'a> {
    fn from(subject: &'a Subject) -> Self {
        Self {
            ids: &subject.ids,
            sender: subject.sender,
            is_self: subject.is_self,
            email: subject.email.as_deref(),
            email_verified: subject.email_verified,
            external_id: subject.external_id.as_deref(),
            display_name: subject.display_name.as_deref(),
            properties: raw(&subject.properties),
        }
    }
}
