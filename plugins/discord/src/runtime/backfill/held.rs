//! Live dispatches that wait for what was before them.

use jackfield_sdk::log::Level;
use jackfield_sdk::{Blob, Dispatch};
use serde::{Deserialize, Serialize};

use super::Backfill;
use crate::runtime::host::Host;
use crate::runtime::lane::Lane;
use crate::runtime::machine::{Machine, Step};

/// Most dispatches that are held back: with two pages and a full batch they stay below the 256 effects of one call.
const HELD_MAX: usize = 48;

/// Most bytes that are held back. They are in every checkpoint, escaped.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// A live dispatch that waits.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(in crate::runtime) struct Held {
    pub(in crate::runtime) channel: u64,
    pub(in crate::runtime) guild: u64,
    pub(in crate::runtime) kind: String,
    pub(in crate::runtime) text: String,
    pub(in crate::runtime) context: String,
    pub(in crate::runtime) mark: Option<String>,
    /// Id of the message, of a new one.
    pub(in crate::runtime) posted: Option<u64>,
}

impl Backfill {
    /// Sequence numbers of what is held and belongs to this session.
    pub(in crate::runtime) fn held_seqs(&self, ordinal: u32) -> Vec<u64> {
        self.held
            .iter()
            .filter_map(|held| held.mark.as_deref()?.split_once(':'))
            .filter(|(of, _)| of.parse() == Ok(ordinal))
            .filter_map(|(_, seq)| seq.parse().ok())
            .collect()
    }

    /// Somebody waits for this channel: it comes next.
    fn prefer(&mut self, channel: u64) {
        let at = self.queue.iter().position(|gap| gap.channel == channel);
        if let Some(gap) = at.and_then(|at| self.queue.remove(at)) {
            self.queue.push_front(gap);
        }
    }
}

impl Machine {
    /// Keeps a live dispatch until what was before it is there.
    pub(in crate::runtime) fn hold(&mut self, held: Held, host: &mut dyn Host) -> Step {
        let backfill = &mut self.state.backfill;
        backfill.prefer(held.channel);
        backfill.held.push(held);
        let bytes: usize = backfill.held.iter().map(|held| held.text.len()).sum();
        if backfill.held.len() <= HELD_MAX && bytes <= HELD_BYTES_MAX {
            return Ok(());
        }
        backfill.unordered = true;
        host.log(Level::Warn, "too much to hold back, missed messages come late", &[]);
        self.release_all(host)
    }

    /// Submits what waited for this channel, in order.
    pub(super) fn release(&mut self, channel: u64, host: &mut dyn Host) -> Step {
        let held = std::mem::take(&mut self.state.backfill.held);
        let (out, kept) = held.into_iter().partition(|held| held.channel == channel);
        self.state.backfill.held = kept;
        self.submit_held(out, host)
    }

    pub(super) fn release_all(&mut self, host: &mut dyn Host) -> Step {
        let all = std::mem::take(&mut self.state.backfill.held);
        self.submit_held(all, host)
    }

    fn submit_held(&mut self, all: Vec<Held>, host: &mut dyn Host) -> Step {
        for held in all {
            let dispatch = Dispatch {
                kind: held.kind.clone(),
                payload: Blob::Text(held.text),
                lane: Lane::Channel(held.channel).name(),
                context: held.context,
            };
            let taken = host.submit(dispatch, held.mark.as_deref());
            self.taken(taken, &held.kind, held.mark.as_deref(), host)?;
            if let Some(id) = held.posted {
                self.state.watermarks.see(held.channel, held.guild, id);
            }
        }
        Ok(())
    }
}
