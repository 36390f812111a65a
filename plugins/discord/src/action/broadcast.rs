//! `broadcast`: the same text in several channels.

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, EffectClass, Outcome, Semantics};
use serde::{Deserialize, Serialize};

use super::nonce::Nonces;
use super::post::{Posted, Saying, Stopped, outcome, post};
use super::run::Run;
use super::schema::{id, list, object, stopped, string, text};
use super::{IDEMPOTENCY_WINDOW, args};
use crate::wire::Id;

pub(super) const NAME: &str = "broadcast";

/// Fifty channels with a request of some 200 ms each, several messages or a wait here and there. Milliseconds.
const TIMEOUT_MS: u32 = 120_000;

const INPUT: &str = object!(
    "channel_ids": list!(1 to 50, id!("A channel, thread or private conversation.")),
    "text": text!(4000, "What is said in each of them. More than 2,000 characters become several messages, in order.")
);

const OUTPUT: &str = object!(
    "results": list!(object!(
        "channel_id": string!("Where."),
        "state": r#"{"enum":["sent","partial","unknown","not-sent"],"description":"What is known of it."}"#,
        "message_ids": list!(string!("A message that was made."));
        "stopped": stopped!()
    ))
);

#[derive(Deserialize)]
struct Args<'a> {
    #[serde(borrow)]
    channel_ids: Vec<Id<'a>>,
    text: String,
}

#[derive(Serialize)]
struct Results<'a> {
    results: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    channel_id: Id<'a>,
    state: &'static str,
    message_ids: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped<'a>>,
}

pub(super) fn spec() -> ActionSpec {
    ActionSpec::new(NAME, "Writes the same in several channels, and says of each what became of it.")
        .input(INPUT)
        .output(OUTPUT)
        .semantics(Semantics { effect: EffectClass::MultiStep, ..Semantics::SEND_WITH_KEY })
        .timeout_ms(TIMEOUT_MS)
        .scopes(&["bot", "VIEW_CHANNEL", "SEND_MESSAGES"])
        .annotations(IDEMPOTENCY_WINDOW)
}

pub(super) fn run(call: &Call, run: &mut Run<'_>) -> Result<Outcome, ActionFault> {
    let args: Args<'_> = args(call)?;
    let saying = Saying::new(&args.text)?;
    let mut all: Vec<(Id<'_>, Posted)> = Vec::with_capacity(args.channel_ids.len());
    for channel in args.channel_ids {
        let posted = post(run, channel.as_str(), &saying, &Nonces::new(call, channel.as_str()));
        if let Some(ActionFault::Retry(pause)) = posted.miss.as_ref().map(|miss| &miss.fault)
            && !run.has_begun()
        {
            // Nothing is done yet, so all of it can wait for this one.
            return Err(ActionFault::Retry(pause.clone()));
        }
        all.push((channel, posted));
    }
    ending(&all)
}

/// How a call over several channels ends: done when all of it is, partial when some of it is known to be, and otherwise
/// the fault that says most.
fn ending(all: &[(Id<'_>, Posted)]) -> Result<Outcome, ActionFault> {
    let misses = || all.iter().filter_map(|(_, posted)| posted.miss.as_ref());
    let ids: Vec<String> = all.iter().flat_map(|(_, posted)| posted.ids.iter().cloned()).collect();
    if ids.is_empty()
        && let Some(miss) = misses().max_by_key(|miss| says(&miss.fault))
    {
        return Err(miss.fault.clone());
    }
    let results = all.iter().map(|(channel, posted)| Entry {
        channel_id: *channel,
        state: state(posted),
        message_ids: &posted.ids,
        stopped: posted.stopped(),
    });
    let outcome = outcome(&Results { results: results.collect() }, ids);
    if misses().next().is_some() { Err(ActionFault::Partial(outcome)) } else { Ok(outcome) }
}

fn state(posted: &Posted) -> &'static str {
    match &posted.miss {
        None => "sent",
        Some(_) if !posted.ids.is_empty() => "partial",
        Some(miss) if miss.is_maybe() => "unknown",
        Some(_) => "not-sent",
    }
}

/// How much a fault says where nothing is known to be done: that something may have been comes first, then what somebody
/// has to do about all of it, then what time mends.
fn says(fault: &ActionFault) -> u8 {
    match fault {
        ActionFault::Unknown(_) | ActionFault::Partial(_) => 3,
        ActionFault::Unauthorized(_) => 2,
        ActionFault::Retry(_) => 1,
        ActionFault::Rejected(_) => 0,
    }
}
