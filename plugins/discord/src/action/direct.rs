//! `send-direct`: a text to one person, in private.

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome, Semantics};
use serde::{Deserialize, Serialize};

use super::nonce::Nonces;
use super::people::{self, Person};
use super::post::{self, Saying, Stopped, outcome, post};
use super::request;
use super::run::{Miss, Run};
use super::schema::{id, list, object, person, stopped, string, text};
use super::{IDEMPOTENCY_WINDOW, SEND_TIMEOUT_MS, args};

pub(super) const NAME: &str = "send-direct";

/// Discord's code for somebody who takes no private messages from this bot.
const CLOSED: u64 = 50_007;

/// And for somebody who is in no guild with it any more.
const NO_MUTUAL_GUILD: u64 = 50_278;

const INPUT: &str = object!(
    "to": person!(),
    "text": text!(20000, "What is said. More than 2,000 characters become several messages, in order.")
);

const OUTPUT: &str = object!(
    "delivered": r#"{"type":"boolean","description":"Whether the person takes messages from this bot."}"#,
    "user_id": string!("Who."),
    "message_ids": list!(string!("A message that was made."));
    "channel_id": string!("The private conversation.");
    "reason": r#"{"enum":["closed","no-mutual-guild"],"description":"Why it was not delivered."}"#;
    "stopped": stopped!()
);

#[derive(Deserialize)]
struct Args<'a> {
    #[serde(borrow)]
    to: Person<'a>,
    text: String,
}

#[derive(Serialize)]
struct Delivered<'a> {
    delivered: bool,
    user_id: &'a str,
    channel_id: &'a str,
    message_ids: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped<'a>>,
}

#[derive(Serialize)]
struct Undelivered<'a> {
    delivered: bool,
    user_id: &'a str,
    message_ids: [&'a str; 0],
    reason: &'static str,
}

pub(super) fn spec() -> ActionSpec {
    ActionSpec::new(
        NAME,
        "Writes to one person in private. Somebody who takes no messages is an outcome, not an error.",
    )
    .input(INPUT)
    .output(OUTPUT)
    .semantics(Semantics::SEND_WITH_KEY)
    .timeout_ms(SEND_TIMEOUT_MS)
    .scopes(&["bot"])
    .annotations(IDEMPOTENCY_WINDOW)
}

pub(super) fn run(call: &Call, run: &mut Run<'_>) -> Result<Outcome, ActionFault> {
    let args: Args<'_> = args(call)?;
    let saying = Saying::new(&args.text)?;
    let user = people::find(run, &args.to)?;
    let channel = match run.look(&request::open_direct(&user)) {
        Ok(response) => post::id(&response).map_err(|miss| run.lost(miss.why).fault)?,
        Err(miss) => return undelivered(&user, &miss).ok_or(miss.fault),
    };
    let posted = post(run, &channel, &saying, &Nonces::new(call, &channel));
    let closed = posted.miss.as_ref().filter(|_| posted.ids.is_empty()).and_then(|miss| undelivered(&user, miss));
    if let Some(closed) = closed {
        return Ok(closed);
    }
    posted.ending(|message_ids, stopped| Delivered {
        delivered: !message_ids.is_empty(),
        user_id: &user,
        channel_id: &channel,
        message_ids,
        stopped,
    })
}

/// The outcome, where the person takes no messages.
fn undelivered(user: &str, miss: &Miss) -> Option<Outcome> {
    let reason = match miss.code? {
        CLOSED => "closed",
        NO_MUTUAL_GUILD => "no-mutual-guild",
        _ => return None,
    };
    Some(outcome(&Undelivered { delivered: false, user_id: user, message_ids: [], reason }, []))
}
