//! What a connector says of itself, and what it asks for.

use crate::dispatch::Transport;
use crate::session::StartBudget;

/// Something that the operator has to grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `https://host[:port]`; a leading `*.` stands for one or more labels.
    Http(String),
    /// `wss://host[:port]`, likewise.
    Socket(String),
    /// A secret.
    Secret(SecretAsk),
    /// Bytes of durable state.
    State(u32),
    /// Short critical sections.
    Lease,
    /// Look-up of contacts.
    Contacts,
}

/// A secret that a connector uses and never sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretAsk {
    /// Its name in the configuration.
    pub name: String,
    /// Where an operator finds it.
    pub help: String,
    /// Nothing works without it.
    pub required: bool,
    /// Origins it may be sent to. Empty: only for signatures.
    pub to: Vec<String>,
}

/// What together may have one live session only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusive {
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// JSON pointers into the configuration (RFC 6901).
    pub config: Vec<String>,
}

/// What a connector says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// `^[a-z][a-z0-9-]*$`, also the namespace of its platform ids.
    pub id: String,
    /// Its own version.
    pub version: String,
    /// A name for people.
    pub title: String,
    /// One sentence for people.
    pub summary: String,
    /// How dispatches come.
    pub transports: Vec<Transport>,
    /// JSON Schema of the connection's configuration.
    pub config_schema: String,
    /// What it asks for.
    pub asks: Vec<Ask>,
    /// What together may have one live session only.
    pub exclusive: Exclusive,
    /// How often the platform lets a session start.
    pub start_budget: Option<StartBudget>,
    /// The format that `checkpoint` writes.
    pub writes_checkpoint: u32,
    /// The formats that `start` reads.
    pub reads_checkpoints: Vec<u32>,
    /// A JSON object for what later versions may say.
    pub annotations: String,
}
