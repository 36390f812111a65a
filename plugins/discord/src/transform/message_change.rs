//! What becomes of a message: edits, other changes, removals.

use jackfield_sdk::{Event, transform::Answer};
use serde::Deserialize;

use super::message::Message;
use super::{Context, Meaning, ignored, message_key, one, place};
use crate::wire::{Id, when};

/// A message that changed. It is an edit when it says when it was edited and what it says now; anything else (a link
/// got its preview, a pin) changes nothing that was written.
pub(super) fn updated(message: &Message<'_>, about: &Context<'_>) -> Meaning {
    if message.is_own_post(about) {
        return Ok(ignored("own-message"));
    }
    let key = message_key(message.channel_id, message.id);
    match (message.edited_timestamp, &message.content) {
        (Some(edited), Some(_)) => edit(message, about, key, edited),
        _ => {
            // What it says of text, author or time may be a part of the truth: say only that something changed.
            let mut event = Event::once(
                "message.metadata_changed",
                format!("{key}:metadata:{}", about.position()?),
                about.received_at,
            );
            event.refers_to = Some(key);
            event.location = Some(place(message.guild_id.or(about.guild), message.channel_id));
            one(event)
        }
    }
}

fn edit(message: &Message<'_>, about: &Context<'_>, key: String, edited: &str) -> Meaning {
    let occurred_at = when::millis(edited);
    let spelled = when::canonical(edited);
    let (Some(occurred_at), Some(spelled)) = (occurred_at, spelled) else {
        return Err("edited_timestamp is no time".to_owned());
    };
    let mut event = message.event("message.edited", format!("{key}:edit:{spelled}"), occurred_at, about);
    event.refers_to = Some(key);
    one(event)
}

/// A message that is gone.
#[derive(Deserialize)]
pub(super) struct Deleted<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    channel_id: Option<Id<'a>>,
    #[serde(borrow)]
    guild_id: Option<Id<'a>>,
}

pub(super) fn deleted(message: &Deleted<'_>, about: &Context<'_>) -> Meaning {
    one(removal(message.id, message.channel_id, message.guild_id, about))
}

/// Up to 100 messages that are gone.
#[derive(Deserialize)]
pub(super) struct DeletedBulk<'a> {
    #[serde(borrow)]
    ids: Vec<Id<'a>>,
    #[serde(borrow)]
    channel_id: Option<Id<'a>>,
    #[serde(borrow)]
    guild_id: Option<Id<'a>>,
}

pub(super) fn deleted_bulk(bulk: &DeletedBulk<'_>, about: &Context<'_>) -> Meaning {
    let removals = bulk.ids.iter().map(|id| removal(*id, bulk.channel_id, bulk.guild_id, about));
    Ok(Answer::Events(removals.collect()))
}

/// A message goes once, so its own key is enough to name its going.
fn removal(message: Id<'_>, channel: Option<Id<'_>>, guild: Option<Id<'_>>, about: &Context<'_>) -> Event {
    let key = message_key(channel, message);
    let mut event = Event::once("message.deleted", format!("{key}:deleted"), about.received_at);
    event.refers_to = Some(key);
    event.location = Some(place(guild, channel));
    event
}
