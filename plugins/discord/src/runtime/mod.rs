//! The gateway session as a state machine: signals in, effects out.
//!
//! [`Machine`] decides; it owns no socket, timer or clock and asks for everything through [`Host`], so that tests
//! drive it with signals and look at what it asked for. `host.rs` is the same thing inside a component.
//!
//! What it promises:
//!
//! - One live session. A lost socket is resumed wherever Discord may still know the session, and identified anew
//!   where it can't; identifies are counted, spaced and bounded, because Discord resets the token of a bot that
//!   identifies a thousand times a day.
//! - Every dispatch is submitted, in order for each channel, and a heartbeat acknowledges only what is settled.
//! - After a gap that no resume covers, messages are fetched from where each channel stood.
//! - A checkpoint holds all of it, and is small.

mod backfill;
mod backoff;
mod beat;
mod checkpoint;
mod close;
mod content;
mod dial;
mod dispatch;
mod entry;
mod gateway;
mod host;
mod lane;
mod lost;
mod machine;
mod rest;
mod settled;
mod state;
mod watermarks;

pub use backoff::Backoff;
pub use close::{After, after};
pub use host::Host;
pub use machine::Machine;
pub use settled::Settled;
pub use state::{Entry, Phase};
pub use watermarks::{CHANNELS_MAX, Watermarks};

/// The one socket.
pub const SOCKET: &str = "gateway";

/// Names of timers.
pub mod timer {
    /// Next heartbeat.
    pub const BEAT: &str = "beat";
    /// Longest wait for what has to come next while a session begins.
    pub const ENTRY: &str = "entry";
    /// Next attempt to connect.
    pub const RECONNECT: &str = "reconnect";
    /// The session has lived long enough to be called stable.
    pub const STABLE: &str = "stable";
    /// End of a pause that Discord asked for, of all requests.
    pub const BACKFILL: &str = "backfill";
}

/// Where to connect, and how many starts are left: `GET /gateway/bot`.
pub const FETCH_GATEWAY: &str = "gateway-bot";
