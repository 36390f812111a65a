//! Which channels may have a gap.

use jackfield_sdk::runtime::{Condition, Notice};
use serde::{Deserialize, Deserializer};

use super::{Backfill, Gap};
use crate::runtime::host::Host;
use crate::runtime::machine::{Machine, Step};
use crate::runtime::watermarks::CHANNELS_MAX;
use crate::wire::Id;

/// Types of channels in which messages are posted: text, private, voice, announcements, threads, stages.
const WITH_MESSAGES: [u16; 8] = [0, 1, 2, 5, 10, 11, 12, 13];

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
fn said<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<Id<'de>>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl Backfill {
    /// Up to which message nothing of a channel is missing. While a gap waits, what came after it moves the watermark on and
    /// the gap stays where it is.
    fn known_to(&self, channel: u64, watermark: u64) -> u64 {
        let waits = self.queue.iter().find(|gap| gap.channel == channel);
        waits.map_or(watermark, |gap| gap.after.min(watermark))
    }
}

impl Machine {
    /// A new session after an earlier one: every channel that is known may have a gap.
    pub(in crate::runtime) fn fill_gaps(&mut self, host: &mut dyn Host) -> Step {
        self.state.backfill.looking = true;
        self.state.backfill.unordered = false;
        let mut known = self.state.watermarks.table.clone();
        // Where people talked last comes first.
        known.sort_by_key(|mark| std::cmp::Reverse(mark.seen));
        for mark in known {
            self.enqueue(Gap { channel: mark.channel, guild: mark.guild, after: mark.seen });
        }
        self.fetch_pages(host)
    }

    /// A guild of the new session shows its channels: those with nothing new need no request, and those that were silent
    /// all through the last session may have something.
    pub(in crate::runtime) fn look_for_gaps(&mut self, guild: u64, payload: &str, host: &mut dyn Host) -> Step {
        if !self.state.backfill.looking {
            return Ok(());
        }
        let Ok(shown) = serde_json::from_str::<Channels<'_>>(payload) else {
            return Ok(());
        };
        let mut left_out = 0_u32;
        let with_messages = |channel: &&Newest<'_>| WITH_MESSAGES.contains(&channel.kind);
        for channel in shown.channels.iter().chain(&shown.threads).filter(with_messages) {
            let id = channel.id.number();
            let after = self.state.backfill.known_to(id, self.state.watermarks.of(id));
            let is_new = match channel.last_message_id {
                Some(Some(newest)) => newest.number() > after,
                Some(None) => false,
                None => true,
            };
            if is_new {
                left_out += u32::from(!self.enqueue(Gap { channel: id, guild, after }));
            } else {
                self.nothing_new(id, host)?;
            }
        }
        if left_out > 0 {
            let message = format!("{left_out} channels of guild {guild} were not looked at after a gap.");
            host.report(Condition::Degraded(Notice::new("backfill-incomplete", message)));
        }
        self.fetch_pages(host)
    }

    /// Whether there was room, or no need.
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

    /// One that is being fetched already goes on: what came live meanwhile may be what is newest.
    fn nothing_new(&mut self, channel: u64, host: &mut dyn Host) -> Step {
        let queue = &mut self.state.backfill.queue;
        let before = queue.len();
        queue.retain(|gap| gap.channel != channel);
        if queue.len() == before { Ok(()) } else { self.release(channel, host) }
    }
}
