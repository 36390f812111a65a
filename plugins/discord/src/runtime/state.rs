//! Everything that a session knows: what is in a checkpoint, no more and no less.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Settled;
use super::backfill::Backfill;
use super::beat::Beat;
use super::content::ContentWatch;
use super::watermarks::Watermarks;

/// How a session is entered.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Discord still knows it and sends what was missed.
    Resume,
    /// A new one. Counts against the day's thousand.
    Identify,
}

/// What comes after a wait.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Connect and resume.
    Resume,
    /// Ask where to connect and how many starts are left, then identify.
    Ask,
    /// Connect and identify.
    Identify,
}

/// Where the session stands.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// Nothing is under way.
    #[default]
    Idle,
    /// [`super::timer::RECONNECT`] runs.
    Waiting(Next),
    /// [`super::FETCH_GATEWAY`] is under way.
    Asking,
    /// The socket is being opened.
    Opening(Entry),
    /// The socket is open; Hello has to come.
    Greeting(Entry),
    /// Resume or Identify is sent; RESUMED or READY has to come.
    Entering(Entry),
    /// Dispatches come.
    Ready,
    /// The host is stopping us.
    Over,
}

impl Phase {
    /// How the session is being entered, while it is.
    pub(super) fn entry(self) -> Option<Entry> {
        match self {
            Self::Opening(entry) | Self::Greeting(entry) | Self::Entering(entry) => Some(entry),
            _ => None,
        }
    }

    /// Whether the socket is ours, open or opening.
    pub(super) fn has_socket(self) -> bool {
        self.entry().is_some() || self == Self::Ready
    }
}

/// A session that Discord may still know. Its newest sequence number is in [`State::settled`].
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct Session {
    pub(super) id: String,
    /// Where to resume it; the ordinary gateway where this is missing.
    pub(super) resume_url: Option<String>,
}

/// Who we are.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct Me {
    pub(super) user: String,
    pub(super) application: Option<String>,
}

/// What went wrong since the session was last stable.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Retry {
    /// Sockets that ended, and attempts that came to nothing.
    pub(super) failures: u32,
    /// Identifies that were sent.
    pub(super) identifies: u32,
    /// Resumes that Discord refused, and resumed sessions that it soon ended with a complaint.
    pub(super) refusals: u8,
    /// Resumes for which the socket did not even open.
    pub(super) misses: u8,
}

/// What a session knows.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// As `/gateway/bot` last said.
    pub(super) gateway_url: Option<String>,
    pub(super) session: Option<Session>,
    /// Counts sessions, so that a late mark of an earlier one is known as such.
    pub(super) ordinal: u32,
    pub(super) me: Option<Me>,
    /// [`crate::config::Config::fingerprint`] of the session.
    pub(super) opened_with: String,
    pub(super) beat: Option<Beat>,
    pub(super) settled: Settled,
    pub(super) retry: Retry,
    pub(super) content: ContentWatch,
    pub(super) guilds: usize,
    pub(super) watermarks: Watermarks,
    pub(super) backfill: Backfill,
    /// Guilds whose next GUILD_CREATE says nothing new: listed in READY, or unavailable since.
    /// In the binary part of a checkpoint.
    #[serde(skip)]
    pub(super) expected: BTreeSet<u64>,
}

impl State {
    /// Everything that rested on a socket, a timer or a request is gone. What was outstanding is settled.
    pub(super) fn without_anything_live(mut self) -> Self {
        self.phase = Phase::Idle;
        self.beat = None;
        self.settled.all_settled();
        self.backfill.forget_requests();
        // Never submitted, so not settled with the others.
        for seq in self.backfill.held_seqs(self.ordinal) {
            self.settled.submitted(seq);
        }
        self
    }

    /// The mark of a dispatch.
    pub(super) fn mark(&self, seq: u64) -> String {
        format!("{}:{seq}", self.ordinal)
    }
}
