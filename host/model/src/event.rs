//! What a dispatch means: the same words for every platform.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// Somebody's or something's id on a platform.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlatformId {
    /// The connector's id, for example `discord`.
    pub namespace: String,
    /// The platform's own id. Text, whatever it looks like.
    pub id: String,
}

/// Where on the platform something happened. Parts that the platform does not have are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// A workspace, guild or team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// A channel or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// The other side of a private conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// A thread inside a room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// What kind of sender it was. Only a `Person` can become a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each variant is the word itself")]
pub enum Sender {
    Person,
    Bot,
    Webhook,
    Channel,
    Anonymous,
    System,
}

/// Who an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Ids in the connector's own namespace, which the host adds.
    pub ids: Vec<String>,
    /// What kind of sender it was.
    pub sender: Sender,
    /// It is this connection's own account.
    pub is_self: bool,
    /// An address that the platform shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The platform vouches for the address. Others are kept, and never used to match.
    pub email_verified: bool,
    /// The operator's own id for the contact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Display text, never an identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The person did this towards us, so that a contact may be made.
    pub may_create: bool,
    /// A JSON object.
    pub properties: String,
}

/// How an event's key is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recurrence {
    /// The key names one thing that can happen once, such as a message id.
    Once,
    /// The key names something that can happen again: `occurred_at` is part of it.
    Recurring,
}

/// What a dispatch means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// From the vocabulary, for example `message.created`, or `x.<connector>.<name>`.
    pub name: String,
    /// When it happened, by the platform's clock where that says so.
    pub occurred_at: Timestamp,
    /// Stable over redelivery, replay and a change of host. Unique for this name in this connection.
    pub key: String,
    /// How `key` is to be read.
    pub recurrence: Recurrence,
    /// The key of the event that this one changes, removes or answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refers_to: Option<String>,
    /// Who it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// Where it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// A JSON object, as text.
    pub properties: String,
}

/// What `transform` says of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// In order. Empty is the same as ignored.
    Events(Vec<Event>),
    /// Of no interest: a short stable reason that is counted.
    Ignored(String),
    /// Not what its kind promises: a dead letter at once.
    Malformed(String),
}
