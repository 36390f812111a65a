//! Filling gaps: messages that were posted while no session was there to see them, fetched channel by channel.
//!
//! A new session after an earlier one means a gap that no resume covers. For each channel that is known from before,
//! and each that GUILD_CREATE shows with something new in it, pages are fetched from where the channel stood until
//! there is nothing left, and submitted oldest first in the channel's own lane, as if they had just come. What is
//! fetched and also came live has the same key, so one of the two is known already.
//!
//! **Order.** While a channel waits for its pages, its live dispatches are held here and follow them. What is held is
//! in the checkpoint, so it is bounded; when the bound is reached everything held goes out at once, and the rest of
//! this backfill runs unordered: late rather than lost.
//!
//! **Limits.** Two requests at a time; a route that Discord closes for a while waits alone; twenty pages a channel;
//! three attempts a page. What could not be fetched is reported. Private conversations that began during the gap are
//! not found: Discord lists them nowhere.

use std::collections::VecDeque;

use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Condition, Notice};
use jackfield_sdk::{Blob, Dispatch, Fault, HttpResponse};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::backoff::Backoff;
use super::checkpoint::GUILDS_MAX;
use super::host::Host;
use super::lane::Lane;
use super::machine::{Machine, Step};
use super::watermarks::CHANNELS_MAX;
use super::{rest, timer};
use crate::wire::Id;

/// Requests at a time. One more page each is what a busy channel costs the quiet ones.
const ACTIVE_MAX: usize = 2;

/// Pages of one channel: a thousand messages. A longer gap is cut short, and said so.
const PAGES_MAX: u8 = 20;

/// Attempts at one page.
const TRIES_MAX: u8 = 3;

/// Waits that Discord may impose on one page before it is given up.
const WAITS_MAX: u8 = 10;

/// Most dispatches that are held back: with two pages and a full batch they stay below the 256 effects of one call.
const HELD_MAX: usize = 48;

/// Most bytes that are held back. They are in every checkpoint, escaped.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// Between attempts at one page.
const RETRY: Backoff = Backoff { base_ms: 2_000, ceiling_ms: 30_000, floor_ms: 500 };

const LABEL: &str = "backfill:";

/// A channel with something to fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gap {
    pub(super) channel: u64,
    /// 0 in a private conversation.
    pub(super) guild: u64,
    /// Newest message that is known.
    pub(super) after: u64,
}

/// A channel that is being fetched.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
struct Active {
    channel: u64,
    guild: u64,
    after: u64,
    pages: u8,
    tries: u8,
    waits: u8,
    /// A timer of its own runs; no request is under way.
    waiting: bool,
}

impl From<Gap> for Active {
    fn from(gap: Gap) -> Self {
        Self { channel: gap.channel, guild: gap.guild, after: gap.after, pages: 0, tries: 0, waits: 0, waiting: false }
    }
}

/// A live dispatch that waits for what was before it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct Held {
    pub(super) channel: u64,
    pub(super) guild: u64,
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) context: String,
    pub(super) mark: Option<String>,
    /// Id of the message, of a new one.
    pub(super) posted: Option<u64>,
}

/// What is still to be fetched.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Backfill {
    /// In the binary part of a checkpoint.
    #[serde(skip)]
    pub(super) queue: VecDeque<Gap>,
    active: Vec<Active>,
    held: Vec<Held>,
    /// Discord asked for a pause of all requests.
    paused: bool,
    /// Too much had to be held: live dispatches don't wait any more.
    unordered: bool,
    /// This session began after a gap, so its first GUILD_CREATEs show what was missed.
    looking: bool,
    /// Messages fetched, for the log.
    fetched: u32,
}

impl Backfill {
    /// Whether a live dispatch of this channel has to wait.
    pub(super) fn holds(&self, channel: u64) -> bool {
        !self.unordered && self.covers(channel)
    }

    fn covers(&self, channel: u64) -> bool {
        self.active.iter().any(|active| active.channel == channel)
            || self.queue.iter().any(|gap| gap.channel == channel)
    }

    /// Requests and timers are gone: what they were for is fetched again.
    pub(super) fn forget_requests(&mut self) {
        self.paused = false;
        for active in self.active.drain(..) {
            self.queue.push_front(Gap { channel: active.channel, guild: active.guild, after: active.after });
        }
    }

    /// Sequence numbers of what is held and belongs to this session.
    pub(super) fn held_seqs(&self, ordinal: u32) -> Vec<u64> {
        self.held
            .iter()
            .filter_map(|held| held.mark.as_deref()?.split_once(':'))
            .filter(|(of, _)| of.parse() == Ok(ordinal))
            .filter_map(|(_, seq)| seq.parse().ok())
            .collect()
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.active.is_empty()
    }
}

/// Whether one more guild can be expected.
pub(super) fn fits(guilds: usize) -> bool {
    guilds < GUILDS_MAX
}

/// The channel that a request or a timer of ours is about.
pub(super) fn channel_of(label: &str) -> Option<u64> {
    label.strip_prefix(LABEL)?.parse().ok()
}

fn label(channel: u64) -> String {
    format!("{LABEL}{channel}")
}

/// What GUILD_CREATE says of its channels.
#[derive(Deserialize)]
struct Channels<'a> {
    #[serde(borrow, default)]
    channels: Vec<Newest<'a>>,
    #[serde(borrow, default)]
    threads: Vec<Newest<'a>>,
}

#[derive(Deserialize)]
struct Newest<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(rename = "type")]
    kind: u16,
    /// Absent where Discord doesn't say; null where there is none.
    #[serde(borrow, default, deserialize_with = "said")]
    last_message_id: Option<Option<Id<'a>>>,
}

/// Keeps "said to be none" apart from "not said".
fn said<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Option<Id<'de>>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// Types of channels in which messages are posted: text, voice, announcements, threads, stages.
const WITH_MESSAGES: [u16; 7] = [0, 2, 5, 10, 11, 12, 13];

impl Machine {
    /// A new session after an earlier one: every channel that is known may have a gap.
    pub(super) fn fill_gaps(&mut self, host: &mut dyn Host) -> Step {
        self.state.backfill.looking = true;
        self.state.backfill.unordered = false;
        let mut known = self.state.watermarks.table.clone();
        // Where people talk most comes first.
        known.sort_by_key(|mark| std::cmp::Reverse(mark.seen));
        for mark in known {
            self.enqueue(Gap { channel: mark.channel, guild: mark.guild, after: mark.seen });
        }
        self.fetch_pages(host);
        Ok(())
    }

    fn enqueue(&mut self, gap: Gap) -> bool {
        let backfill = &mut self.state.backfill;
        if backfill.covers(gap.channel) {
            return true;
        }
        let fits = backfill.queue.len() < CHANNELS_MAX;
        if fits {
            backfill.queue.push_back(gap);
        }
        fits
    }

    /// A guild of the new session shows its channels: those with nothing new need no request, and those that were
    /// silent all through the last session may have something.
    pub(super) fn look_for_gaps(&mut self, guild: u64, payload: &str, host: &mut dyn Host) {
        if !self.state.backfill.looking {
            return;
        }
        let Ok(shown) = serde_json::from_str::<Channels<'_>>(payload) else {
            return;
        };
        let mut left_out = 0_u32;
        for channel in shown.channels.iter().chain(&shown.threads) {
            if !WITH_MESSAGES.contains(&channel.kind) {
                continue;
            }
            let id = channel.id.number();
            let after = self.state.watermarks.of(id);
            let is_new = match channel.last_message_id {
                Some(Some(newest)) => newest.number() > after,
                Some(None) => false,
                None => true,
            };
            if is_new {
                let gap = Gap { channel: id, guild, after };
                left_out += u32::from(!self.enqueue(gap));
            } else if channel.last_message_id.is_some() {
                self.state.backfill.queue.retain(|gap| gap.channel != id);
            }
        }
        if left_out > 0 {
            let message = format!("{left_out} channels of guild {guild} were not looked at after a gap.");
            host.report(Condition::Degraded(Notice::new("backfill-incomplete", message)));
        }
    }

    /// Asks for as many pages as may be asked for at a time.
    pub(super) fn fetch_pages(&mut self, host: &mut dyn Host) {
        while !self.state.backfill.paused {
            let busy = self.state.backfill.active.iter().filter(|active| !active.waiting).count();
            if busy >= ACTIVE_MAX {
                return;
            }
            let Some(gap) = self.state.backfill.queue.pop_front() else {
                return;
            };
            self.fetch_page(gap.into(), host);
        }
    }

    fn fetch_page(&mut self, active: Active, host: &mut dyn Host) {
        let request = rest::messages(active.channel, active.after);
        let label = label(active.channel);
        match host.fetch(&label, request) {
            Ok(()) => self.state.backfill.active.push(active),
            Err(fault) => {
                // Not granted, or no room for a request: its own answer, as if it had come back.
                self.state.backfill.active.push(Active { waiting: true, ..active });
                let why = fault.text().to_string();
                host.log(Level::Warn, "fetch missed messages failed", &[("why", &why)]);
                host.set_timer(&label, RETRY.ceiling_ms);
            }
        }
    }

    /// A page came, or did not.
    pub(super) fn page(&mut self, channel: u64, outcome: &Result<HttpResponse, Fault>, host: &mut dyn Host) -> Step {
        let at = self.state.backfill.active.iter().position(|active| active.channel == channel && !active.waiting);
        let Some(at) = at else {
            return Ok(());
        };
        let active = self.state.backfill.active.remove(at);
        match outcome {
            Ok(response) => match response.status {
                200 => self.take_page(active, response, host)?,
                429 => self.pause(active, rest::wait(response), host)?,
                401 => self.give_up_all(host)?,
                403 => self.finish(active.channel, host)?,
                404 => {
                    self.state.watermarks.forget(active.channel);
                    self.finish(active.channel, host)?;
                }
                status => self.page_failed(active, &format!("status {status}"), host)?,
            },
            Err(fault) => self.page_failed(active, &fault.text().to_string(), host)?,
        }
        self.fetch_pages(host);
        self.note_the_end(host);
        Ok(())
    }

    fn take_page(&mut self, mut active: Active, page: &HttpResponse, host: &mut dyn Host) -> Step {
        let Some(messages) = page.body.as_text().and_then(messages) else {
            return self.page_failed(active, "a page that is no list of messages", host);
        };
        let mut newest = active.after;
        for (id, message) in messages {
            if id <= active.after {
                continue;
            }
            self.submit_fetched(&active, message, host)?;
            self.state.watermarks.see(active.channel, active.guild, id);
            self.state.backfill.fetched = self.state.backfill.fetched.saturating_add(1);
            newest = id;
        }
        if newest == active.after {
            return self.finish(active.channel, host);
        }
        active.after = newest;
        active.pages = active.pages.saturating_add(1);
        active.tries = 0;
        if active.pages >= PAGES_MAX {
            self.report_loss("backfill-truncated", active.channel, "the gap is longer than is fetched", host);
            return self.finish(active.channel, host);
        }
        self.fetch_page(active, host);
        Ok(())
    }

    /// In the shape of a live one, so that `transform` knows only one. The text of the message is not touched.
    fn submit_fetched(&mut self, active: &Active, message: &RawValue, host: &mut dyn Host) -> Step {
        const KIND: &str = "MESSAGE_CREATE";
        let mut context = self.who_we_are();
        if active.guild != 0 {
            context.push_str(&format!(r#","guild":"{}""#, active.guild));
        }
        context.push_str(r#","backfill":true}"#);
        let dispatch = Dispatch {
            kind: KIND.to_owned(),
            payload: Blob::Text(format!(r#"{{"op":0,"t":"{KIND}","d":{}}}"#, message.get())),
            lane: Lane::Channel(active.channel).name(),
            context,
        };
        let taken = host.submit(dispatch, None);
        self.taken(taken, KIND, None, host)
    }

    fn pause(&mut self, mut active: Active, wait: rest::Wait, host: &mut dyn Host) -> Step {
        active.waits = active.waits.saturating_add(1);
        if active.waits > WAITS_MAX {
            self.report_loss("backfill-failed", active.channel, "Discord allows no requests", host);
            return self.finish(active.channel, host);
        }
        if wait.global {
            self.state.backfill.paused = true;
            host.set_timer(timer::BACKFILL, wait.ms);
        }
        // After a global pause its own timer ends with the common one.
        host.set_timer(&label(active.channel), wait.ms);
        self.state.backfill.active.push(Active { waiting: true, ..active });
        Ok(())
    }

    fn page_failed(&mut self, mut active: Active, why: &str, host: &mut dyn Host) -> Step {
        active.tries = active.tries.saturating_add(1);
        if active.tries >= TRIES_MAX {
            self.report_loss("backfill-failed", active.channel, why, host);
            return self.finish(active.channel, host);
        }
        let wait = RETRY.wait_ms(u32::from(active.tries), host.random());
        host.set_timer(&label(active.channel), wait);
        self.state.backfill.active.push(Active { waiting: true, ..active });
        Ok(())
    }

    /// A channel's own wait is over.
    pub(super) fn retry_page(&mut self, channel: u64, host: &mut dyn Host) -> Step {
        let active = &mut self.state.backfill.active;
        let at = active.iter().position(|active| active.channel == channel && active.waiting);
        if let Some(at) = at {
            let again = active.remove(at);
            self.fetch_page(Active { waiting: false, ..again }, host);
        }
        Ok(())
    }

    /// The common pause is over.
    pub(super) fn resume_backfill(&mut self, host: &mut dyn Host) -> Step {
        self.state.backfill.paused = false;
        self.fetch_pages(host);
        Ok(())
    }

    /// The token is not accepted: the socket will say so too, and then everything ends.
    fn give_up_all(&mut self, host: &mut dyn Host) -> Step {
        let backfill = &mut self.state.backfill;
        backfill.queue.clear();
        backfill.active.clear();
        host.report(Condition::Degraded(Notice::new(
            "backfill-failed",
            "Discord does not accept the bot token for fetching missed messages.",
        )));
        self.release(|_| true, host)
    }

    fn finish(&mut self, channel: u64, host: &mut dyn Host) -> Step {
        self.release(|held| held.channel == channel, host)
    }

    fn note_the_end(&mut self, host: &mut dyn Host) {
        let backfill = &mut self.state.backfill;
        if backfill.is_idle() && backfill.fetched > 0 {
            let fetched = std::mem::take(&mut backfill.fetched).to_string();
            host.log(Level::Info, "missed messages are fetched", &[("messages", &fetched)]);
        }
    }

    /// Keeps a live dispatch until what was before it is there. Its channel comes next.
    pub(super) fn hold(&mut self, held: Held, host: &mut dyn Host) -> Step {
        let backfill = &mut self.state.backfill;
        if let Some(at) = backfill.queue.iter().position(|gap| gap.channel == held.channel)
            && let Some(gap) = backfill.queue.remove(at)
        {
            backfill.queue.push_front(gap);
        }
        backfill.held.push(held);
        let bytes: usize = backfill.held.iter().map(|held| held.text.len()).sum();
        if backfill.held.len() <= HELD_MAX && bytes <= HELD_BYTES_MAX {
            return Ok(());
        }
        backfill.unordered = true;
        host.log(Level::Warn, "too much to hold back, missed messages come late", &[]);
        self.release(|_| true, host)
    }

    fn release(&mut self, which: impl Fn(&Held) -> bool, host: &mut dyn Host) -> Step {
        let (out, kept) =
            std::mem::take(&mut self.state.backfill.held).into_iter().partition::<Vec<_>, _>(|held| which(held));
        self.state.backfill.held = kept;
        for held in out {
            let dispatch = Dispatch {
                kind: held.kind.clone(),
                payload: Blob::Text(held.text),
                lane: Lane::Channel(held.channel).name(),
                context: held.context,
            };
            let taken = host.submit(dispatch, held.mark.as_deref());
            self.taken(taken, &held.kind, None, host)?;
            if let Some(id) = held.posted {
                self.state.watermarks.see(held.channel, held.guild, id);
            }
        }
        Ok(())
    }

    fn report_loss(&mut self, code: &str, channel: u64, why: &str, host: &mut dyn Host) {
        let message = format!("Messages of channel {channel} that were missed are not all fetched: {why}.");
        host.report(Condition::Degraded(Notice::new(code, message)));
    }

    /// After a warm start: requests and timers that should be there and are not.
    pub(super) fn missing_requests(
        &mut self,
        runs: &dyn Fn(&str) -> bool,
        fetches: &dyn Fn(&str) -> bool,
        host: &mut dyn Host,
    ) -> Step {
        if self.state.backfill.paused && !runs(timer::BACKFILL) {
            self.state.backfill.paused = false;
        }
        let lost = std::mem::take(&mut self.state.backfill.active);
        for active in lost {
            let label = label(active.channel);
            let is_there = if active.waiting { runs(&label) } else { fetches(&label) };
            if is_there {
                self.state.backfill.active.push(active);
            } else {
                self.fetch_page(Active { waiting: false, ..active }, host);
            }
        }
        self.fetch_pages(host);
        Ok(())
    }
}

/// The messages of a page with their ids, oldest first: Discord lists the newest first. One without an id is not a
/// message, and neither is then the page.
fn messages(page: &str) -> Option<Vec<(u64, &RawValue)>> {
    let raw: Vec<&RawValue> = serde_json::from_str(page).ok()?;
    let mut messages = raw
        .into_iter()
        .map(|raw| {
            let id: WithId<'_> = serde_json::from_str(raw.get()).ok()?;
            Some((id.id.number(), raw))
        })
        .collect::<Option<Vec<_>>>()?;
    messages.sort_by_key(|(id, _)| *id);
    Some(messages)
}

#[derive(Deserialize)]
struct WithId<'a> {
    #[serde(borrow)]
    id: Id<'a>,
}
