//! Who the helpful guests are and what they ask for.

use jackfield_sdk::Transport;
use jackfield_sdk::connector::{Ask, Descriptor, SecretAsk};

/// Where the socket leads; tests map it to loopback with `connect`.
pub const SOCKET: &str = "wss://echo.test";
/// Where requests lead.
pub const WEB: &str = "https://echo.test";
/// Where requests may lead, and the secret may not.
pub const PLAIN: &str = "https://plain.test";
/// The secret whose whereabouts the suite watches.
pub const SECRET: &str = "canary";
/// Bytes of durable state.
pub const STATE_BYTES: u32 = 65_536;

/// What a configuration may say; see [`crate::session::Config`].
const CONFIG: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "url": { "type": "string" },
    "start": { "enum": ["open", "wait", "fatal", "transient", "not-configured"] },
    "closed": { "enum": ["reopen", "transient", "stay"] }
  }
}"#;

/// A descriptor that asks for nothing: transform only.
#[must_use]
pub fn bare(id: &str) -> Descriptor {
    Descriptor::new(id, env!("CARGO_PKG_VERSION")).titled(id, "A guest of the suite.").transports([Transport::Webhook])
}

/// A descriptor without a session: requests, a secret, people, locks and state.
#[must_use]
pub fn actions(id: &str) -> Descriptor {
    Descriptor::new(id, env!("CARGO_PKG_VERSION"))
        .titled(id, "Does what it is told.")
        .ask(Ask::Http(WEB.to_owned()))
        .ask(Ask::Http(PLAIN.to_owned()))
        .ask(Ask::State(STATE_BYTES))
        .ask(Ask::Contacts)
        .ask(Ask::Lease)
        .ask(Ask::Secret(SecretAsk {
            name: SECRET.to_owned(),
            help: "Anything that must not leave.".to_owned(),
            required: false,
            to: vec![WEB.to_owned()],
        }))
}

/// A descriptor with a socket, requests, a secret and state.
#[must_use]
pub fn session(id: &str) -> Descriptor {
    Descriptor::new(id, env!("CARGO_PKG_VERSION"))
        .titled(id, "Speaks lines.")
        .transports([Transport::Socket])
        .config_schema(CONFIG)
        .ask(Ask::Socket(SOCKET.to_owned()))
        .ask(Ask::Http(WEB.to_owned()))
        .ask(Ask::Http(PLAIN.to_owned()))
        .ask(Ask::State(STATE_BYTES))
        .ask(Ask::Secret(SecretAsk {
            name: SECRET.to_owned(),
            help: "Anything that must not leave.".to_owned(),
            required: false,
            to: vec![SOCKET.to_owned(), WEB.to_owned()],
        }))
}
