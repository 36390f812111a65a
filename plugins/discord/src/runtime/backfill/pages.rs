//! Pages of messages: asking for them, what came, and what to do when it did not.

use std::fmt::Write;

use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Condition, Notice};
use jackfield_sdk::{Blob, Dispatch, Fault, HttpResponse};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Active, channel_of, label};
use crate::runtime::backoff::Backoff;
use crate::runtime::host::Host;
use crate::runtime::lane::Lane;
use crate::runtime::machine::{Machine, Step};
use crate::runtime::state::Phase;
use crate::runtime::{rest, timer};
use crate::wire::Id;

/// Requests at a time: one that is slow or long leaves room for another.
const UNDER_WAY_MAX: usize = 2;

/// Channels taken out of the queue at a time, those that wait included. Each of them has a request or a timer of its own,
/// and a session may have 64 of either.
const ACTIVE_MAX: usize = 32;

/// Pages of one channel: a thousand messages. A longer gap is cut short, and said so.
const PAGES_MAX: u8 = 20;

/// Attempts at one page.
const TRIES_MAX: u8 = 3;

/// Waits that Discord may impose on one channel before it is given up.
const WAITS_MAX: u8 = 10;

/// Between attempts at one page.
const RETRY: Backoff = Backoff { base_ms: 2_000, ceiling_ms: 30_000, floor_ms: 500 };

impl Machine {
    /// Asks for as many pages as may be asked for at a time.
    pub(in crate::runtime) fn fetch_pages(&mut self, host: &mut dyn Host) -> Step {
        loop {
            let backfill = &self.state.backfill;
            let has_room = backfill.under_way() < UNDER_WAY_MAX && backfill.active.len() < ACTIVE_MAX;
            if backfill.paused || !has_room {
                break;
            }
            let Some(gap) = self.state.backfill.queue.pop_front() else {
                break;
            };
            self.fetch_page(gap.into(), host)?;
        }
        Ok(())
    }

    fn fetch_page(&mut self, active: Active, host: &mut dyn Host) -> Step {
        let request = rest::messages(active.channel, active.after);
        let Err(fault) = host.fetch(&label(active.channel), request) else {
            self.state.backfill.active.push(active);
            return Ok(());
        };
        if let Fault::Denied(what) = fault {
            return self.give_up(&format!("Discord's API is not granted ({what})"), host);
        }
        // The host has no room for a request: nor for the next one.
        let why = fault.text().to_string();
        host.log(Level::Warn, "fetch missed messages failed", &[("why", &why)]);
        self.pause_all(active, RETRY.ceiling_ms, host);
        Ok(())
    }

    /// A page came, or did not.
    pub(in crate::runtime) fn page(
        &mut self,
        channel: u64,
        outcome: &Result<HttpResponse, Fault>,
        host: &mut dyn Host,
    ) -> Step {
        let Some(active) = self.state.backfill.take_active(channel, false) else {
            return Ok(());
        };
        match outcome {
            Ok(response) => self.answered(active, response, host)?,
            Err(fault) => self.failed(active, &fault.text().to_string(), host)?,
        }
        self.fetch_pages(host)?;
        let backfill = &mut self.state.backfill;
        if backfill.is_idle() && backfill.fetched > 0 {
            let fetched = std::mem::take(&mut backfill.fetched).to_string();
            host.log(Level::Info, "missed messages are fetched", &[("messages", &fetched)]);
        }
        Ok(())
    }

    fn answered(&mut self, active: Active, response: &HttpResponse, host: &mut dyn Host) -> Step {
        match response.status {
            200 => self.take_page(active, response, host),
            401 => self.give_up("Discord does not accept the bot token (401)", host),
            // Not to be read by the bot: nothing of it ever came live either.
            403 => self.release(active.channel, host),
            404 => {
                self.state.watermarks.forget(active.channel);
                self.release(active.channel, host)
            }
            429 => self.slow_down(active, rest::wait(response), host),
            status => self.failed(active, &format!("status {status}"), host),
        }
    }

    fn take_page(&mut self, mut active: Active, page: &HttpResponse, host: &mut dyn Host) -> Step {
        let Some(messages) = page.body.as_text().and_then(messages) else {
            return self.failed(active, "a page that is no list of messages", host);
        };
        let known = active.after;
        for (id, message) in messages.into_iter().filter(|(id, _)| *id > known) {
            self.submit_fetched(&active, message, host)?;
            self.state.watermarks.see(active.channel, active.guild, id);
            self.state.backfill.fetched = self.state.backfill.fetched.saturating_add(1);
            active.after = id;
        }
        if active.after == known {
            return self.release(active.channel, host);
        }
        active.pages = active.pages.saturating_add(1);
        active.tries = 0;
        if active.pages >= PAGES_MAX {
            report_loss("backfill-truncated", active.channel, "the gap is longer than what is fetched", host);
            return self.release(active.channel, host);
        }
        self.fetch_page(active, host)
    }

    /// In the shape of a live one, so that `transform` knows only one. The text of the message is not touched.
    fn submit_fetched(&mut self, active: &Active, message: &RawValue, host: &mut dyn Host) -> Step {
        const KIND: &str = "MESSAGE_CREATE";
        let mut context = self.who_we_are();
        if active.guild != 0 {
            // Writing to a string can't fail.
            let _ = write!(context, r#","guild":"{}""#, active.guild);
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

    fn slow_down(&mut self, mut active: Active, wait: rest::Wait, host: &mut dyn Host) -> Step {
        if wait.global {
            self.pause_all(active, wait.ms, host);
            return Ok(());
        }
        active.waits = active.waits.saturating_add(1);
        if active.waits > WAITS_MAX {
            report_loss("backfill-failed", active.channel, "Discord allows no requests", host);
            return self.release(active.channel, host);
        }
        self.later(active, wait.ms, host);
        Ok(())
    }

    fn failed(&mut self, mut active: Active, why: &str, host: &mut dyn Host) -> Step {
        active.tries = active.tries.saturating_add(1);
        if active.tries >= TRIES_MAX {
            report_loss("backfill-failed", active.channel, why, host);
            return self.release(active.channel, host);
        }
        let wait = RETRY.wait_ms(u32::from(active.tries), host.random());
        self.later(active, wait, host);
        Ok(())
    }

    fn later(&mut self, mut active: Active, wait_ms: u32, host: &mut dyn Host) {
        host.set_timer(&label(active.channel), wait_ms);
        active.waiting = true;
        self.state.backfill.active.push(active);
    }

    fn pause_all(&mut self, active: Active, wait_ms: u32, host: &mut dyn Host) {
        self.state.backfill.paused = true;
        self.state.backfill.queue.push_front(active.into());
        host.set_timer(timer::BACKFILL, wait_ms);
    }

    /// No request can work, whatever the channel.
    fn give_up(&mut self, why: &str, host: &mut dyn Host) -> Step {
        self.state.backfill.queue.clear();
        for active in std::mem::take(&mut self.state.backfill.active).into_iter().filter(|active| active.waiting) {
            host.cancel_timer(&label(active.channel));
        }
        let message = format!("Messages that were missed are not fetched: {why}.");
        host.report(Condition::Degraded(Notice::new("backfill-failed", message)));
        self.release_all(host)
    }

    /// A wait is over: of one channel, or of all.
    pub(in crate::runtime) fn backfill_elapsed(&mut self, label: &str, host: &mut dyn Host) -> Step {
        if label == timer::BACKFILL {
            self.state.backfill.paused = false;
            return self.fetch_pages(host);
        }
        let waited = channel_of(label).and_then(|channel| self.state.backfill.take_active(channel, true));
        match waited {
            Some(active) => self.fetch_page(Active { waiting: false, ..active }, host),
            None => Ok(()),
        }
    }

    /// After a warm start: requests and timers that should be there and are not.
    pub(in crate::runtime) fn missing_requests(
        &mut self,
        runs: &dyn Fn(&str) -> bool,
        fetches: &dyn Fn(&str) -> bool,
        host: &mut dyn Host,
    ) -> Step {
        self.state.backfill.paused &= runs(timer::BACKFILL);
        for active in std::mem::take(&mut self.state.backfill.active) {
            let label = label(active.channel);
            let is_there = if active.waiting { runs(&label) } else { fetches(&label) };
            if is_there {
                self.state.backfill.active.push(active);
            } else {
                self.fetch_page(Active { waiting: false, ..active }, host)?;
            }
        }
        // What a cold start put back waits for the session to be up, also for an instance that comes after it.
        if matches!(self.state.phase, Phase::Ready) || !self.state.backfill.active.is_empty() {
            self.fetch_pages(host)?;
        }
        Ok(())
    }
}

fn report_loss(code: &str, channel: u64, why: &str, host: &mut dyn Host) {
    let message = format!("Messages of channel {channel} that were missed are not all fetched: {why}.");
    host.report(Condition::Degraded(Notice::new(code, message)));
}

/// The messages of a page with their ids, oldest first: Discord lists the newest first. One without an id is not a
/// message, and neither is then the page.
fn messages(page: &str) -> Option<Vec<(u64, &RawValue)>> {
    #[derive(Deserialize)]
    struct WithId<'a> {
        #[serde(borrow)]
        id: Id<'a>,
    }
    let raw: Vec<&RawValue> = serde_json::from_str(page).ok()?;
    let mut messages = raw
        .into_iter()
        .map(|raw| {
            let with: WithId<'_> = serde_json::from_str(raw.get()).ok()?;
            Some((with.id.number(), raw))
        })
        .collect::<Option<Vec<_>>>()?;
    messages.sort_by_key(|(id, _)| *id);
    Some(messages)
}
