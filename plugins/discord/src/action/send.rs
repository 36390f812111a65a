//! `send-message`: a text in a channel, in as many messages as it takes.

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome, Semantics};
use serde::Deserialize;

use super::nonce::Nonces;
use super::post::{Saying, Sent, post};
use super::request::AllowedMentions;
use super::run::Run;
use super::schema::{flag, id, list, mentions, object, stopped, string, text};
use super::{IDEMPOTENCY_WINDOW, SEND_TIMEOUT_MS, args};
use crate::wire::Id;

pub(super) const NAME: &str = "send-message";

const INPUT: &str = object!(
    "channel_id": id!("The channel, thread or private conversation."),
    "text": text!(20000, "What is said. More than 2,000 characters become several messages, in order.");
    "reply_to": id!("The message of that channel that is replied to.");
    "silent": flag!("Without push and sound.");
    "allowed_mentions": mentions!()
);

const OUTPUT: &str = object!(
    "channel_id": string!("Where."),
    "message_ids": list!(string!("A message that was made."));
    "stopped": stopped!()
);

#[derive(Deserialize)]
struct Args<'a> {
    #[serde(borrow)]
    channel_id: Id<'a>,
    text: String,
    #[serde(borrow)]
    reply_to: Option<Id<'a>>,
    #[serde(default)]
    silent: bool,
    #[serde(borrow, default)]
    allowed_mentions: Mentions<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Mentions<'a> {
    everyone: bool,
    #[serde(borrow)]
    users: Vec<Id<'a>>,
    #[serde(borrow)]
    roles: Vec<Id<'a>>,
    replied_user: bool,
}

pub(super) fn spec() -> ActionSpec {
    ActionSpec::new(NAME, "Writes in a channel, and says the ids of the messages that it took.")
        .input(INPUT)
        .output(OUTPUT)
        .semantics(Semantics::SEND_WITH_KEY)
        .timeout_ms(SEND_TIMEOUT_MS)
        .implements(&["message.send"])
        .scopes(&["bot", "VIEW_CHANNEL", "SEND_MESSAGES"])
        .annotations(IDEMPOTENCY_WINDOW)
}

pub(super) fn run(call: &Call, run: &mut Run<'_>) -> Result<Outcome, ActionFault> {
    let args: Args<'_> = args(call)?;
    let asked = &args.allowed_mentions;
    let mut saying = Saying::new(&args.text)?;
    saying.reply_to = args.reply_to;
    saying.silent = args.silent;
    saying.mentions = AllowedMentions {
        parse: if asked.everyone { &["everyone"] } else { &[] },
        users: asked.users.iter().map(|id| id.as_str()).collect(),
        roles: asked.roles.iter().map(|id| id.as_str()).collect(),
        replied_user: asked.replied_user,
    };
    let channel = args.channel_id.as_str();
    let posted = post(run, channel, &saying, &Nonces::new(call, channel));
    posted.ending(|message_ids, stopped| Sent { channel_id: channel, message_ids, stopped })
}
