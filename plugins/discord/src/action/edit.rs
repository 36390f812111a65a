//! `edit-message`: another text for one message of the bot's own.

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome, Semantics};
use serde::{Deserialize, Serialize};

use super::args;
use super::post::outcome;
use super::request;
use super::run::Run;
use super::schema::{id, object, string, text};
use super::split::{UNITS_MAX, units};
use crate::wire::Id;

pub(super) const NAME: &str = "edit-message";

/// One request, and one wait for a place. Milliseconds.
const TIMEOUT_MS: u32 = 30_000;

const INPUT: &str = object!(
    "channel_id": id!("Where the message is."),
    "message_id": id!("A message of the bot's own."),
    "text": text!(2000, "What it says from now on. One message can't become several.")
);

const OUTPUT: &str = object!("channel_id": string!("Where."), "message_id": string!("The message."));

#[derive(Deserialize)]
struct Args<'a> {
    #[serde(borrow)]
    channel_id: Id<'a>,
    #[serde(borrow)]
    message_id: Id<'a>,
    text: String,
}

#[derive(Serialize)]
struct Edited<'a> {
    channel_id: Id<'a>,
    message_id: Id<'a>,
}

pub(super) fn spec() -> ActionSpec {
    ActionSpec::new(NAME, "Replaces the text of a message that the bot wrote. Nobody is notified.")
        .input(INPUT)
        .output(OUTPUT)
        .semantics(Semantics::OVERWRITE)
        .timeout_ms(TIMEOUT_MS)
        .implements(&["message.edit"])
        .scopes(&["bot", "VIEW_CHANNEL"])
}

pub(super) fn run(call: &Call, run: &mut Run<'_>) -> Result<Outcome, ActionFault> {
    let Args { channel_id, message_id, text } = args(call)?;
    // The schema counts scalar values, of which there may be fewer.
    let units = units(&text);
    if units > UNITS_MAX {
        let why = format!("text: {units} UTF-16 code units, and one message holds {UNITS_MAX}");
        return Err(ActionFault::Rejected(why));
    }
    run.change(&request::edit_message(channel_id, message_id, &text)).map_err(|miss| miss.fault)?;
    Ok(outcome(&Edited { channel_id, message_id }, [message_id.to_string()]))
}
