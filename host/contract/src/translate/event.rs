//! Dispatches on their way in, events on their way out.

use jackfield_model::event::Answer;
use jackfield_model::{Dispatch, Event, Location, Recurrence, Sender, Subject, Timestamp, Transport};

use crate::exports::transform;
use crate::imports::types;

/// A dispatch lent to a guest: nothing is copied on the host's side.
pub type Lent<'a> = transform::Received<'a>;

/// Lends a dispatch to `transform`.
#[must_use]
pub fn lent(dispatch: &Dispatch, via: Transport, received_at: Timestamp) -> Lent<'_> {
    Lent {
        dispatch: types::DispatchParam {
            kind: &dispatch.kind,
            payload: (&dispatch.payload).into(),
            lane: &dispatch.lane,
            context: &dispatch.context,
        },
        via: via.into(),
        received_at: received_at.0,
    }
}

impl From<types::DispatchResult> for Dispatch {
    fn from(dispatch: types::DispatchResult) -> Self {
        let types::DispatchResult { kind, payload, lane, context } = dispatch;
        Self { kind, payload: payload.into(), lane, context }
    }
}

impl From<transform::Answer> for Answer {
    fn from(answer: transform::Answer) -> Self {
        match answer {
            transform::Answer::Events(events) => Self::Events(events.into_iter().map(Into::into).collect()),
            transform::Answer::Ignored(reason) => Self::Ignored(reason),
            transform::Answer::Malformed(reason) => Self::Malformed(reason),
        }
    }
}

impl From<types::Event> for Event {
    fn from(event: types::Event) -> Self {
        Self {
            name: event.name,
            occurred_at: Timestamp(event.occurred_at),
            key: event.key,
            recurrence: match event.recurrence {
                types::Recurrence::Once => Recurrence::Once,
                types::Recurrence::Recurring => Recurrence::Recurring,
            },
            refers_to: event.refers_to,
            subject: event.subject.map(Into::into),
            location: event.location.map(Into::into),
            properties: event.properties,
        }
    }
}

impl From<types::Subject> for Subject {
    fn from(subject: types::Subject) -> Self {
        Self {
            ids: subject.ids,
            sender: subject.sender.into(),
            is_self: subject.is_self,
            email: subject.email,
            email_verified: subject.email_verified,
            external_id: subject.external_id,
            display_name: subject.display_name,
            may_create: subject.may_create,
            properties: subject.properties,
        }
    }
}

impl From<types::Sender> for Sender {
    fn from(sender: types::Sender) -> Self {
        match sender {
            types::Sender::Person => Self::Person,
            types::Sender::Bot => Self::Bot,
            types::Sender::Webhook => Self::Webhook,
            types::Sender::Channel => Self::Channel,
            types::Sender::Anonymous => Self::Anonymous,
            types::Sender::System => Self::System,
        }
    }
}

impl From<types::Location> for Location {
    fn from(location: types::Location) -> Self {
        let types::Location { account, room, peer, thread } = location;
        Self { account, room, peer, thread }
    }
}
