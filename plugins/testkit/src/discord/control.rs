//! What a test does to a running double: the actions of a script, at once and to every connection.

use std::time::Duration;

use super::double::Double;
use super::faults::Target;
use super::script::Action;

impl Double {
    /// Does what a step of a script would do. The methods below are the same, by name.
    pub fn perform(&self, action: &Action) {
        self.shared.lock().perform(action, Target::All);
        self.shared.room.notify_waiters();
    }

    /// Sends opcode 7. Who does not leave within five seconds is closed with 4000.
    pub fn reconnect_all(&self) {
        self.perform(&Action::Reconnect {});
    }

    /// Sends opcode 1, which asks for a heartbeat at once.
    pub fn request_heartbeats(&self) {
        self.perform(&Action::RequestHeartbeat {});
    }

    /// Sends opcode 9; sessions that can't be resumed end at once.
    pub fn invalidate(&self, resumable: bool) {
        self.perform(&Action::InvalidSession { resumable });
    }

    /// Ends every socket without a close frame.
    pub fn drop_all(&self) {
        self.perform(&Action::Drop {});
    }

    /// Closes every connection with this code; a code that forbids a resume ends the sessions too. A code that can't stand in
    /// a close frame (1005, 1006) drops the sockets, which is what it means.
    pub fn close_all(&self, code: u16) {
        if super::close::Code(code).sendable() {
            self.perform(&Action::Close { code });
        } else {
            self.drop_all();
        }
    }

    /// Stops reading and writing for so long, then closes with this code.
    pub fn slow_close_all(&self, stall: Duration, code: u16) {
        self.perform(&Action::SlowClose { ms: millis(stall), code });
    }

    /// Leaves the next heartbeats without an answer.
    pub fn withhold_acks(&self, count: u32) {
        self.perform(&Action::WithholdAcks { count });
    }

    /// Makes every session unknown to a resume, which gets opcode 9 with `false`. Sessions on a socket go on there.
    pub fn forget_sessions(&self) {
        self.perform(&Action::ForgetSession {});
    }

    /// Ends the next replay with so many of its dispatches a second time.
    pub fn duplicate_next_replay(&self, dispatches: usize) {
        self.perform(&Action::DuplicateReplay { dispatches });
    }

    /// Lets the next replay come in another order.
    pub fn reorder_next_replay(&self) {
        self.perform(&Action::ReorderReplay {});
    }

    /// Answers the next upgrades with this status.
    pub fn refuse_upgrades(&self, status: u16, count: u32) {
        self.perform(&Action::RefuseUpgrades { status, count });
    }

    /// Says Hello late on the next connections.
    pub fn delay_hello(&self, delay: Duration, count: u32) {
        self.perform(&Action::HelloDelay { ms: millis(delay), count });
    }

    /// Lets the script make no messages for so long. What tests post is made all the same.
    pub fn pause(&self, pause: Duration) {
        self.perform(&Action::Pause { ms: millis(pause) });
    }

    /// Makes so many messages in the background, as fast as the sockets take them or at this pace.
    pub fn flood(&self, messages: u64, per_second: Option<u32>) {
        self.perform(&Action::Flood { messages, per_second });
    }

    /// Sends a dispatch of about this size.
    pub fn oversized_frame(&self, bytes: usize) {
        self.perform(&Action::OversizedFrame { bytes });
    }

    /// Makes the token worthless, as Discord does to a bot that identifies too often: everything is closed with 4004.
    pub fn reset_token(&self) {
        self.perform(&Action::ResetToken {});
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
