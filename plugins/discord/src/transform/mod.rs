//! What a dispatch means. Pure over the dispatch, its context and the time it was received.
//!
//! Every dispatch gets exactly one answer, and no input makes this panic: what is not what its kind promises is
//! `malformed`, kinds that mean nothing to anybody are `ignored` with a reason that is counted.

mod channel;
mod context;
mod guild;
mod interaction;
mod member;
mod message;
mod message_change;
mod person;
mod reaction;

use jackfield_sdk::transform::{Answer, Received};
use jackfield_sdk::{Event, Location};
use serde::{Deserialize, Serialize};

use crate::wire::{self, Envelope, Id};
pub use context::Context;
pub use message::Message;

/// Kind under which a frame that could not be read at all is submitted, so that it ends in the dead letters.
pub const UNREADABLE: &str = "unreadable";

/// Longest reason of a `malformed` answer, in bytes: enough for the field and what was wrong with it.
const REASON_BYTES_MAX: usize = 240;

/// What a handler says. The error is the reason of a `malformed` answer.
type Meaning = Result<Answer, String>;

/// What `received` means.
#[must_use]
pub fn answer(received: &Received) -> Answer {
    meaning(received).unwrap_or_else(|reason| Answer::Malformed(shortened(reason)))
}

fn meaning(received: &Received) -> Meaning {
    let kind = received.dispatch.kind.as_str();
    let payload = received.dispatch.payload.as_text().ok_or("the payload is not UTF-8")?;
    if wire::is_too_deep(payload) {
        return Err(format!("nested deeper than {} levels", wire::DEPTH_MAX));
    }
    let about = Context::of(&received.dispatch.context, received.received_at)?;
    match kind {
        "MESSAGE_CREATE" => message::created(&parse(payload)?, &about),
        "MESSAGE_UPDATE" => message_change::updated(&parse(payload)?, &about),
        "MESSAGE_DELETE" => message_change::deleted(&parse(payload)?, &about),
        "MESSAGE_DELETE_BULK" => message_change::deleted_bulk(&parse(payload)?, &about),
        "MESSAGE_REACTION_ADD" => reaction::added(&parse(payload)?, &about),
        "MESSAGE_REACTION_REMOVE" => reaction::removed(&parse(payload)?, &about),
        "MESSAGE_REACTION_REMOVE_ALL" | "MESSAGE_REACTION_REMOVE_EMOJI" => reaction::cleared(&parse(payload)?, &about),
        "GUILD_MEMBER_ADD" => member::joined(&parse(payload)?, &about),
        "GUILD_MEMBER_REMOVE" => member::left(&parse(payload)?, &about),
        "GUILD_MEMBER_UPDATE" => member::updated(&parse(payload)?, &about),
        "GUILD_CREATE" => guild::created(&parse(payload)?, &about),
        "GUILD_DELETE" => guild::deleted(&parse(payload)?, &about),
        "CHANNEL_CREATE" => channel::created(&parse(payload)?),
        "THREAD_CREATE" => channel::thread_created(&parse(payload)?),
        "CHANNEL_DELETE" | "THREAD_DELETE" => channel::deleted(&parse(payload)?, &about),
        "INTERACTION_CREATE" => interaction::created(&parse(payload)?, &about),
        UNREADABLE => Err("not a gateway frame".to_owned()),
        known if NOT_MAPPED.contains(&known) => Ok(ignored("not-mapped")),
        _ => Ok(ignored("unknown-kind")),
    }
}

/// Kinds that Discord documents and that say nothing the vocabulary has a word for. Others are unknown, and counted
/// as such: that is how a new one is noticed.
const NOT_MAPPED: [&str; 24] = [
    "CHANNEL_PINS_UPDATE",
    "CHANNEL_UPDATE",
    "GUILD_AUDIT_LOG_ENTRY_CREATE",
    "GUILD_BAN_ADD",
    "GUILD_BAN_REMOVE",
    "GUILD_EMOJIS_UPDATE",
    "GUILD_INTEGRATIONS_UPDATE",
    "GUILD_MEMBERS_CHUNK",
    "GUILD_ROLE_CREATE",
    "GUILD_ROLE_DELETE",
    "GUILD_ROLE_UPDATE",
    "GUILD_STICKERS_UPDATE",
    "GUILD_UPDATE",
    "INVITE_CREATE",
    "INVITE_DELETE",
    "PRESENCE_UPDATE",
    "THREAD_LIST_SYNC",
    "THREAD_MEMBERS_UPDATE",
    "THREAD_MEMBER_UPDATE",
    "THREAD_UPDATE",
    "TYPING_START",
    "USER_UPDATE",
    "VOICE_STATE_UPDATE",
    "WEBHOOKS_UPDATE",
];

fn parse<'a, D: Deserialize<'a>>(payload: &'a str) -> Result<D, String> {
    serde_json::from_str::<Envelope<D>>(payload).map(|envelope| envelope.d).map_err(|wrong| wrong.to_string())
}

fn ignored(reason: &str) -> Answer {
    Answer::Ignored(reason.to_owned())
}

fn one(event: Event) -> Meaning {
    Ok(Answer::Events(vec![event]))
}

/// Properties as JSON. What is serialised here is ours: strings, numbers and lists of them, which can't fail.
fn properties(of: &impl Serialize) -> String {
    serde_json::to_string(of).unwrap_or_else(|_| "{}".to_owned())
}

/// The key of a message, and of everything that refers to it.
fn message_key(channel: Option<Id<'_>>, message: Id<'_>) -> String {
    match channel {
        Some(channel) => format!("{channel}:{message}"),
        None => message.to_string(),
    }
}

/// Where a thing in a channel is. Without a guild it is a private conversation, whose channel is the peer.
fn place(guild: Option<Id<'_>>, channel: Option<Id<'_>>) -> Location {
    let channel = channel.map(|id| id.to_string());
    let (room, peer) = match guild {
        Some(_) => (channel, None),
        None => (None, channel),
    };
    Location { account: guild.map(|id| id.to_string()), room, peer, thread: None }
}

fn shortened(mut reason: String) -> String {
    let end = reason.floor_char_boundary(REASON_BYTES_MAX);
    reason.truncate(end);
    reason
}
