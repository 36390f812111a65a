//! `mention-members` and `mention-role`: a text that notifies exactly these, whomever else it names.

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Outcome, Semantics};
use serde::{Deserialize, Serialize};

use super::nonce::Nonces;
use super::people::{self, Person};
use super::post::{Saying, Sent, Stopped, post};
use super::run::Run;
use super::schema::{id, list, object, person, stopped, string, text};
use super::{IDEMPOTENCY_WINDOW, SEND_TIMEOUT_MS, args};
use crate::wire::Id;

pub(super) const MEMBERS: &str = "mention-members";
pub(super) const ROLE: &str = "mention-role";

const MEMBERS_INPUT: &str = object!(
    "channel_id": id!("The channel or thread."),
    "members": list!(1 to 50, person!()),
    "text": text!(10000, "What is said to them. The mentions are put in front of it.")
);

const MEMBERS_OUTPUT: &str = object!(
    "channel_id": string!("Where."),
    "user_ids": list!(string!("A user who was mentioned.")),
    "message_ids": list!(string!("A message that was made."));
    "stopped": stopped!()
);

const ROLE_INPUT: &str = object!(
    "channel_id": id!("The channel or thread."),
    "role_id": id!("The role."),
    "text": text!(10000, "What is said to them. The mention is put in front of it.")
);

const ROLE_OUTPUT: &str = object!(
    "channel_id": string!("Where."),
    "message_ids": list!(string!("A message that was made."));
    "stopped": stopped!()
);

#[derive(Deserialize)]
struct MembersArgs<'a> {
    #[serde(borrow)]
    channel_id: Id<'a>,
    #[serde(borrow)]
    members: Vec<Person<'a>>,
    text: String,
}

#[derive(Serialize)]
struct Mentioned<'a> {
    channel_id: Id<'a>,
    user_ids: &'a [String],
    message_ids: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped<'a>>,
}

#[derive(Deserialize)]
struct RoleArgs<'a> {
    #[serde(borrow)]
    channel_id: Id<'a>,
    #[serde(borrow)]
    role_id: Id<'a>,
    text: String,
}

pub(super) fn members_spec() -> ActionSpec {
    ActionSpec::new(MEMBERS, "Writes in a channel and notifies exactly these people.")
        .input(MEMBERS_INPUT)
        .output(MEMBERS_OUTPUT)
        .semantics(Semantics::SEND_WITH_KEY)
        .timeout_ms(SEND_TIMEOUT_MS)
        .scopes(&["bot", "VIEW_CHANNEL", "SEND_MESSAGES"])
        .annotations(IDEMPOTENCY_WINDOW)
}

pub(super) fn role_spec() -> ActionSpec {
    ActionSpec::new(ROLE, "Writes in a channel and notifies exactly one role.")
        .input(ROLE_INPUT)
        .output(ROLE_OUTPUT)
        .semantics(Semantics::SEND_WITH_KEY)
        .timeout_ms(SEND_TIMEOUT_MS)
        .scopes(&["bot", "VIEW_CHANNEL", "SEND_MESSAGES", "MENTION_EVERYONE"])
        .annotations(IDEMPOTENCY_WINDOW)
}

/// Everybody is found before anything is said: a text that names three of four people is not what was asked for.
pub(super) fn members(call: &Call, run: &mut Run<'_>) -> Result<Outcome, ActionFault> {
    let args: MembersArgs<'_> = args(call)?;
    let mut users: Vec<String> = Vec::new();
    for person in &args.members {
        let user = people::find(run, person)?;
        if !users.contains(&user) {
            users.push(user);
        }
    }
    let mentions: String = users.iter().map(|user| format!("<@{user}> ")).collect();
    let text = mentions + &args.text;
    let mut saying = Saying::new(&text)?;
    saying.mentions.users = users.iter().map(String::as_str).collect();
    let posted = post(run, args.channel_id.as_str(), &saying, &Nonces::new(call, args.channel_id.as_str()));
    posted.ending(|message_ids, stopped| Mentioned {
        channel_id: args.channel_id,
        user_ids: &users,
        message_ids,
        stopped,
    })
}

pub(super) fn role(call: &Call, run: &mut Run<'_>) -> Result<Outcome, ActionFault> {
    let args: RoleArgs<'_> = args(call)?;
    let text = format!("<@&{}> {}", args.role_id, args.text);
    let mut saying = Saying::new(&text)?;
    saying.mentions.roles = vec![args.role_id.as_str()];
    let channel = args.channel_id.as_str();
    let posted = post(run, channel, &saying, &Nonces::new(call, channel));
    posted.ending(|message_ids, stopped| Sent { channel_id: channel, message_ids, stopped })
}
