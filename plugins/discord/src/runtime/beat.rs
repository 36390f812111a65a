//! Heartbeats of one socket. Made at Hello and gone with the socket, so that nothing of an old one judges a new one.

use serde::{Deserialize, Serialize};

/// The heartbeat of the current socket.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct Beat {
    /// Time between two, in milliseconds.
    pub(super) interval_ms: u32,
    /// The last periodic one was acknowledged, or none was sent yet.
    acked: bool,
    /// The host reads nothing from the socket: an acknowledgement may lie there.
    held: bool,
}

/// What to do when it is time for the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// Send one.
    Send,
    /// The last one was not answered: nobody is there.
    Dead,
}

impl Beat {
    pub(super) fn new(interval_ms: u32) -> Self {
        Self { interval_ms, acked: true, held: false }
    }

    /// It is time. Counts the one that is sent now as not acknowledged.
    pub(super) fn due(&mut self) -> Due {
        if !self.acked && !self.held {
            return Due::Dead;
        }
        self.acked = false;
        Due::Send
    }

    pub(super) fn acknowledged(&mut self) {
        self.acked = true;
    }

    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    /// The host reads again. Whatever was missing so far was missing because of us.
    pub(super) fn flow(&mut self) {
        self.held = false;
        self.acked = true;
    }

    pub(super) fn is_held(&self) -> bool {
        self.held
    }
}
