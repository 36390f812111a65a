//! A double of Discord: gateway v10 and the part of the REST API that a connector needs, on loopback.
//!
//! Promises: numbers, replays, intents, limits and close codes as Discord documents them (what is not, is said where it is
//! decided); every message in the log; one order of everything. Does not: TLS, compression, ETF, voice, permissions, REST rate
//! limits, and most of the REST API.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use jackfield_testkit::discord::{Double, Options, Script};
//!
//! let double = Double::start(Options { script: Script::silent(), ..Options::default() }).await?;
//! println!("{} {}", double.rest_url(), double.gateway_url());
//! let channel = double.channels()[0];
//! let id = double.post_message(channel, double.authors()[0], "hello").await?;
//! assert_eq!(double.log().messages()[&channel], [id]);
//! double.stop().await;
//! # Ok(())
//! # }
//! ```

mod cli;
mod close;
mod compose;
mod control;
mod dispatch;
mod double;
mod entry;
mod faults;
mod gateway;
mod intents;
mod log;
mod messages;
mod outbox;
mod payload;
mod protocol;
mod replay;
mod rest;
mod run;
mod script;
mod server;
mod session;
mod sessions;
mod shared;
mod snowflake;
mod starts;
mod state;
mod steps;
mod upgrade;
mod window;
mod world;

pub use cli::{Announcement, ServeError, serve_cli};
pub use double::{Double, Options, StartError};
pub use entry::{Closer, Entry, Event, Outcome};
pub use log::{ConnectionId, Counts, ENTRIES_MAX, Late, Log, Record};
pub use script::{Action, Moment, Pace, Script, ScriptError, SessionStarts, Start, Step, Times, When};
pub use snowflake::{DISCORD_EPOCH_MS, Id};
pub use state::PostError;
