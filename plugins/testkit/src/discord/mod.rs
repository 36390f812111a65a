//! A double of Discord: gateway v10 and the part of the REST API that a connector needs, on loopback.
//!
//! Promises: numbers, replays, intents, limits and close codes as Discord documents them (what is not, is said where it is
//! decided); rate limits, faults and refusals of REST requests on command; every message and every request in the log; one order
//! of everything. Does not: TLS, compression, ETF, voice, and the parts of the REST API that no connector here needs.
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
mod outbox;
mod payload;
mod protocol;
mod replay;
mod rest;
mod run;
mod said;
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
pub use entry::{Closer, Ending, Entry, Event, Outcome};
pub use log::{ConnectionId, Counts, ENTRIES_MAX, Late, Log, Record};
pub use said::Said;
pub use script::{
    Action, Allowance, LimitScope, Limits, Mishap, Moment, Pace, Rest, RestFault, RouteLimit, Script, ScriptError,
    SessionStarts, Start, Step, Times, When,
};
pub use snowflake::{DISCORD_EPOCH_MS, Id};
pub use state::PostError;
