//! Writing to Discord: what can be done, one call each.
//!
//! An action decides nothing about the world by itself: it asks through [`Host`], so that tests drive it with a script of
//! answers. What all of them promise:
//!
//! - What an answer says is what happened. "Not done" is said only where that is certain; a lost answer is "maybe"; and what
//!   is known to be done is listed even where the rest is not.
//! - A text never notifies anybody whom the caller did not name as such, whatever stands in it.
//! - A call that is repeated under the same key within a few minutes doubles nothing.
//! - Rate limits are asked before each request, and a 429 is never answered by trying harder.

mod broadcast;
mod direct;
mod edit;
mod host;
mod mention;
mod nonce;
mod people;
mod post;
mod refusal;
mod request;
mod run;
mod schema;
mod send;
pub mod split;

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome};
use serde::Deserialize;

pub use host::Host;
use run::Run;

/// How long Discord knows a nonce: "the past few minutes", it says. This is the least that can mean, for hosts that ask.
const IDEMPOTENCY_WINDOW: &str = r#"{"idempotency-window-ms":120000}"#;

/// Some twenty messages at the five in five seconds that a channel takes, with their answers. Milliseconds.
const SEND_TIMEOUT_MS: u32 = 60_000;

/// All actions.
#[must_use]
pub fn describe() -> Vec<ActionSpec> {
    vec![send::spec(), broadcast::spec(), mention::members_spec(), mention::role_spec(), direct::spec(), edit::spec()]
}

/// Runs one.
///
/// # Errors
///
/// Whether it happened is in the variant.
pub fn run(call: &Call, host: &mut dyn Host) -> Result<Outcome, ActionFault> {
    let run = &mut Run::new(host, call.deadline);
    match call.name.as_str() {
        send::NAME => send::run(call, run),
        broadcast::NAME => broadcast::run(call, run),
        mention::MEMBERS => mention::members(call, run),
        mention::ROLE => mention::role(call, run),
        direct::NAME => direct::run(call, run),
        edit::NAME => edit::run(call, run),
        other => Err(ActionFault::Rejected(format!("there is no action `{other}`"))),
    }
}

/// The arguments. The host has checked them against the schema; what gets here anyway is refused, ids as numbers first.
fn args<'a, T: Deserialize<'a>>(call: &'a Call) -> Result<T, ActionFault> {
    serde_json::from_str(&call.args).map_err(|wrong| ActionFault::Rejected(format!("arguments: {wrong}")))
}
