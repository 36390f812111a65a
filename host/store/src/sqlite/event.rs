//! An event's row: written once, in columns, its JSON as it came.

use jackfield_model::{Blob, Event, Recurrence, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::commit::{Admitted, Outcome, Settled, Stored};
use crate::sqlite::column::{Payload, Read, int, via};
use crate::sqlite::dedupe::Marker;
use crate::sqlite::subject::Whom;

/// Bits of the column `flags`.
pub(super) const LATE: i64 = 1;
pub(super) const SANITIZED: i64 = 1 << 1;
pub(super) const RECURRING: i64 = 1 << 2;

/// What can be worked out of an event before its turn comes.
pub(super) struct Written {
    pub(super) marker: Marker,
    subject: Option<String>,
    location: Option<String>,
}

impl Written {
    pub(super) fn of(admitted: &Admitted) -> Self {
        let event = &admitted.event;
        // Strings, numbers and options: none of it can fail to become JSON.
        Self {
            marker: Marker::of(event),
            subject: event.subject.as_ref().and_then(|subject| serde_json::to_string(subject).ok()),
            location: event.location.as_ref().and_then(|location| serde_json::to_string(location).ok()),
        }
    }
}

/// Where an event's row goes.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) position: u64,
    pub(super) connection: i64,
    pub(super) epoch: u64,
    pub(super) stored_at: Timestamp,
}

/// Bytes of an event's row, without the few dozen of its numbers.
pub(super) fn weight(admitted: &Admitted) -> usize {
    let Event { name, key, properties, subject, .. } = &admitted.event;
    let subject = subject.as_ref().map_or(0, |subject| subject.properties.len());
    name.len() + key.len() + properties.len() + subject
}

/// Appends an event.
pub(super) fn append(
    db: &Connection,
    place: Place,
    settled: &Settled,
    admitted: &Admitted,
    written: &Written,
    whom: &Whom,
) -> rusqlite::Result<()> {
    let Event { name, occurred_at, key, recurrence, refers_to, properties, .. } = &admitted.event;
    let flags = if settled.late { LATE } else { 0 }
        | if admitted.sanitized { SANITIZED } else { 0 }
        | if *recurrence == Recurrence::Recurring { RECURRING } else { 0 };
    let conflicts = (!whom.conflicts.is_empty()).then(|| serde_json::to_string(&whom.conflicts).unwrap_or_default());
    db.prepare_cached(
        "INSERT INTO event (position, connection, marker, stored_at, received_at, occurred_at, epoch, submitted_by,
           transformed_by, via, flags, name, key, refers_to, kind, lane, contact, conflicts, subject, location, properties)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
    )?
    .execute(params![
        int(place.position),
        place.connection,
        written.marker.0,
        int(place.stored_at.0),
        int(settled.reception.at.0),
        int(occurred_at.0),
        int(place.epoch),
        int(settled.reception.by.0),
        int(settled.transformed_by.0),
        via(settled.reception.via),
        flags,
        name,
        key,
        refers_to,
        settled.dispatch.kind,
        settled.dispatch.lane,
        whom.contact,
        conflicts,
        written.subject,
        written.location,
        properties,
    ])
    .map(|_| ())
}

/// Keeps the payload of a dispatch beside its events when their text had to be changed.
pub(super) fn keep_raw(db: &Connection, settled: &Settled, stored: &[Stored]) -> rusqlite::Result<()> {
    let Outcome::Events(events) = &settled.outcome else { return Ok(()) };
    let changed = events.iter().zip(stored).filter_map(|(admitted, stored)| match stored {
        Stored::New(position) if admitted.sanitized => Some(*position),
        _ => None,
    });
    let (Some(first), Some(last)) = (changed.clone().min(), changed.max()) else { return Ok(()) };
    db.prepare_cached("INSERT INTO raw (first, last, payload) VALUES (?1, ?2, ?3)")?
        .execute(params![int(first), int(last), Payload(&settled.dispatch.payload)])
        .map(|_| ())
}

/// The payload of a dispatch whose text had to be changed, by the position of one of its events.
pub(super) fn raw(db: &Connection, position: u64) -> rusqlite::Result<Option<Blob>> {
    let position = int(position);
    let changed = db
        .prepare_cached("SELECT 1 FROM event WHERE position = ?1 AND flags & ?2 != 0")?
        .exists(params![position, SANITIZED])?;
    if !changed {
        return Ok(None);
    }
    db.prepare_cached("SELECT payload FROM raw WHERE first <= ?1 AND last >= ?1 ORDER BY first DESC LIMIT 1")?
        .query_row([position], |row| row.get(0).map(|Read(payload)| payload))
        .optional()
}
