//! A text as messages in one channel, one after the other.

use jackfield_sdk::HttpResponse;
use jackfield_sdk::action::{ActionFault, Outcome};
use serde::{Deserialize, Serialize};

use super::nonce::Nonces;
use super::request::{self, AllowedMentions, NewMessage, Reference, SILENT};
use super::run::{Miss, Run};
use super::split::{Part, split};
use crate::wire::Id;

/// What is said, the same in every channel.
pub(super) struct Saying<'a> {
    parts: Vec<Part<'a>>,
    pub(super) mentions: AllowedMentions<'a>,
    /// The message that the first part replies to.
    pub(super) reply_to: Option<Id<'a>>,
    pub(super) silent: bool,
}

impl<'a> Saying<'a> {
    /// A text that notifies nobody and replies to nothing.
    ///
    /// # Errors
    ///
    /// `rejected` when there is nothing to see in it: Discord takes no empty message.
    pub(super) fn new(text: &'a str) -> Result<Self, ActionFault> {
        let parts: Vec<_> = split(text).into_iter().filter(|part| !part.is_blank()).collect();
        if parts.is_empty() {
            return Err(ActionFault::Rejected("text: there is nothing in it but white space".to_owned()));
        }
        Ok(Self { parts, mentions: AllowedMentions::default(), reply_to: None, silent: false })
    }
}

/// How far it got.
#[derive(PartialEq, Debug)]
pub(super) struct Posted {
    /// Ids of the messages that were made, in order.
    pub(super) ids: Vec<String>,
    /// Messages that the text makes.
    of: usize,
    /// Why the next one is missing; those behind it were not tried.
    pub(super) miss: Option<Miss>,
}

/// Where and why a message in several parts ended before its end.
#[derive(Serialize, Debug)]
pub(super) struct Stopped<'a> {
    /// The part that is missing, from 1.
    part: usize,
    /// Parts that there are.
    of: usize,
    /// Whether that part was made: `no` or `maybe`. Those behind it were not.
    happened: &'static str,
    why: &'a str,
}

/// What came of one message in one channel.
#[derive(Serialize, Debug)]
pub(super) struct Sent<'a> {
    pub(super) channel_id: &'a str,
    pub(super) message_ids: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<Stopped<'a>>,
}

impl Posted {
    /// Where it ended before its end.
    pub(super) fn stopped(&self) -> Option<Stopped<'_>> {
        let miss = self.miss.as_ref()?;
        let happened = if miss.is_maybe() { "maybe" } else { "no" };
        Some(Stopped { part: self.ids.len() + 1, of: self.of, happened, why: &miss.why })
    }

    /// How a call ends that did nothing else. `output` is told where it stopped.
    pub(super) fn ending<'a, T: Serialize>(
        &'a self,
        output: impl FnOnce(&'a [String], Option<Stopped<'a>>) -> T,
    ) -> Result<Outcome, ActionFault> {
        let outcome = || outcome(&output(&self.ids, self.stopped()), self.ids.iter().cloned());
        match &self.miss {
            None => Ok(outcome()),
            Some(miss) if self.ids.is_empty() => Err(miss.fault.clone()),
            Some(_) => Err(ActionFault::Partial(outcome())),
        }
    }
}

/// An outcome with this output.
pub(super) fn outcome(output: &impl Serialize, ids: impl IntoIterator<Item = String>) -> Outcome {
    // Plain structures of text: nothing in them can fail.
    Outcome::new(serde_json::to_string(output).unwrap_or_else(|_| "{}".to_owned())).made(ids)
}

/// Sends the parts in order, up to the first that is missing.
pub(super) fn post(run: &mut Run<'_>, channel: &str, saying: &Saying<'_>, nonces: &Nonces) -> Posted {
    let mut posted = Posted { ids: Vec::new(), of: saying.parts.len(), miss: None };
    for (index, part) in saying.parts.iter().enumerate() {
        let reply_to = saying.reply_to.filter(|_| index == 0);
        let content = part.content();
        let nonce = nonces.part(index, &content);
        let message = NewMessage {
            content: &content,
            nonce: &nonce,
            enforce_nonce: true,
            allowed_mentions: &saying.mentions,
            message_reference: reply_to.map(|id| Reference { message_id: id.as_str() }),
            flags: saying.silent.then_some(SILENT),
        };
        let made = run.change(&request::create_message(channel, &message));
        match made.and_then(|response| id(&response)) {
            Ok(id) => posted.ids.push(id),
            Err(miss) => {
                posted.miss = Some(miss);
                break;
            }
        }
    }
    posted
}

/// The id of what was made.
///
/// A success that can't be read is "maybe", not "done": whoever sends the same again under the same key gets the id if the
/// message is there, and the message if it is not.
pub(super) fn id(response: &HttpResponse) -> Result<String, Miss> {
    #[derive(Deserialize)]
    struct Made<'a> {
        #[serde(borrow)]
        id: Id<'a>,
    }
    let made = response.body.as_text().and_then(|body| serde_json::from_str::<Made<'_>>(body).ok());
    made.map(|made| made.id.to_string()).ok_or_else(|| Miss::unknown("Discord's answer has no id in it"))
}
