//! Filling gaps: messages that were posted while no session was there to see them, fetched channel by channel.
//!
//! A new session after an earlier one means a gap that no resume covers. For each channel that is known from before, and
//! each that GUILD_CREATE shows with something new in it (`gaps.rs`), pages are fetched from where the channel stood until
//! there is nothing left (`pages.rs`), and submitted oldest first in the channel's own lane, as if they had just come.
//! What is fetched and also came live has the same key, so one of the two is known already.
//!
//! **Order.** While a channel waits for its pages, its live dispatches are held and follow them (`held.rs`). What is held
//! is in the checkpoint, so it is bounded; when the bound is reached everything held goes out at once, and the rest of
//! this backfill runs unordered: late rather than lost.
//!
//! **Limits.** Two requests at a time; a route that Discord closes for a while waits alone, and up to 32 do before the rest
//! waits for them; a thousand messages a channel; three attempts a page. What could not be fetched is reported. Private conversations that began during the gap are not
//! found: Discord lists them nowhere.

mod gaps;
mod held;
mod pages;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::checkpoint::GUILDS_MAX;
pub(super) use held::Held;

/// Names of requests and timers about one channel.
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
        let Gap { channel, guild, after } = gap;
        Self { channel, guild, after, pages: 0, tries: 0, waits: 0, waiting: false }
    }
}

impl From<Active> for Gap {
    fn from(active: Active) -> Self {
        Self { channel: active.channel, guild: active.guild, after: active.after }
    }
}

/// What is still to be fetched.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Backfill {
    /// In the binary part of a checkpoint.
    #[serde(skip)]
    pub(super) queue: VecDeque<Gap>,
    active: Vec<Active>,
    held: Vec<Held>,
    /// No requests for now, of any channel.
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

    fn under_way(&self) -> usize {
        self.active.iter().filter(|active| !active.waiting).count()
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.active.is_empty()
    }

    /// Takes a channel out that is `waiting` for its timer, or else for its page.
    fn take_active(&mut self, channel: u64, waiting: bool) -> Option<Active> {
        let at = self.active.iter().position(|active| active.channel == channel && active.waiting == waiting)?;
        Some(self.active.remove(at))
    }

    /// Requests and timers are gone: what they were for is fetched again.
    pub(super) fn forget_requests(&mut self) {
        self.paused = false;
        for active in self.active.drain(..).rev() {
            self.queue.push_front(active.into());
        }
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
