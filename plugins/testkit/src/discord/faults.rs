//! What the double does wrong on command: the pending faults, and how a step or a test asks for one.

use super::close::Code;
use super::entry::Event;
use super::log::ConnectionId;
use super::payload;
use super::replay::Spoil;
use super::rest::Limiter;
use super::script::Action;
use super::state::State;

/// What a connection is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Send opcode 7.
    Reconnect,
    /// Send opcode 1.
    RequestHeartbeat,
    /// Send opcode 9 and carry no session any more.
    Invalidate {
        resumable: bool,
    },
    Close(Code),
    SlowClose {
        ms: u64,
        code: Code,
    },
    /// End without a close frame.
    Drop,
}

/// To whom an action is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    All,
    One(ConnectionId),
}

/// Messages to be made on top of the usual ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flood {
    pub(crate) messages: u64,
    pub(crate) per_second: Option<u32>,
}

/// Faults that wait for their occasion.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    withheld_acks: u32,
    refused_upgrades: Option<(u16, u32)>,
    late_hellos: Option<(u64, u32)>,
    spoil: Spoil,
    paused_until_ms: u64,
}

impl Faults {
    /// Whether this heartbeat gets an answer.
    pub(crate) fn ack(&mut self) -> bool {
        let withheld = self.withheld_acks > 0;
        self.withheld_acks = self.withheld_acks.saturating_sub(1);
        !withheld
    }

    /// The status with which this upgrade is refused.
    pub(crate) fn refusal(&mut self) -> Option<u16> {
        take_one(&mut self.refused_upgrades)
    }

    /// By how much the Hello of this connection is late.
    pub(crate) fn hello_delay_ms(&mut self) -> Option<u64> {
        take_one(&mut self.late_hellos)
    }

    /// How the next replay is spoilt.
    pub(crate) fn spoil(&self) -> Spoil {
        self.spoil
    }

    /// A replay was spoilt.
    pub(crate) fn spoilt(&mut self) {
        self.spoil = Spoil::default();
    }

    /// Until when no messages are made, on the double's clock.
    pub(crate) fn paused_until_ms(&self) -> u64 {
        self.paused_until_ms
    }
}

/// One of a counted fault, which is gone with the last.
fn take_one<T: Copy>(counted: &mut Option<(T, u32)>) -> Option<T> {
    let (fault, left) = (*counted)?;
    *counted = left.checked_sub(1).filter(|left| *left > 0).map(|left| (fault, left));
    Some(fault)
}

impl State {
    /// Does what a step or a test says.
    pub(crate) fn perform(&mut self, action: &Action, target: Target) {
        // Names and numbers always serialise.
        self.log.push(Event::Step { action: serde_json::to_string(action).unwrap_or_default() });
        match *action {
            Action::Reconnect {} => self.order(target, Order::Reconnect),
            Action::InvalidSession { resumable } => {
                if !resumable {
                    self.end_sessions_of(target, "invalidated");
                }
                self.order(target, Order::Invalidate { resumable });
            }
            Action::RequestHeartbeat {} => self.order(target, Order::RequestHeartbeat),
            Action::Drop {} => self.order(target, Order::Drop),
            Action::Close { code } => self.order(target, Order::Close(Code(code))),
            Action::SlowClose { ms, code } => self.order(target, Order::SlowClose { ms, code: Code(code) }),
            Action::WithholdAcks { count } => self.faults.withheld_acks = count,
            Action::DuplicateReplay { dispatches } => self.faults.spoil.duplicate = dispatches,
            Action::ReorderReplay {} => self.faults.spoil.reorder = true,
            Action::Flood { messages, per_second } => self.flood(Flood { messages, per_second }),
            Action::ForgetSession {} => self.forget_sessions(),
            Action::OversizedFrame { bytes } => {
                let guild = self.world.guilds.first().map(|guild| guild.id);
                self.publish(payload::oversized(bytes, guild));
            }
            Action::RefuseUpgrades { status, count } => self.faults.refused_upgrades = Some((status, count)),
            Action::HelloDelay { ms, count } => self.faults.late_hellos = Some((ms, count)),
            Action::Pause { ms } => self.faults.paused_until_ms = self.now_ms() + ms,
            Action::ResetToken {} => self.reset_token(),
            Action::RestFault(ref fault) => self.rest.faults.add(fault.clone()),
            Action::RestRecover {} => self.rest.faults.clear(),
            Action::RestLimits(ref limits) => self.rest.limiter = Limiter::new(limits.clone()),
            Action::CloseDms { user } => self.rest.refusals.close_dms(user),
            Action::OpenDms { user } => self.rest.refusals.open_dms(user),
            Action::DenyAccess { channel } => self.rest.refusals.deny_access(channel),
            Action::DenySend { channel } => self.rest.refusals.deny_send(channel),
            Action::Allow { channel } => self.rest.refusals.allow(channel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_faults_end_with_the_last() {
        let mut faults = Faults {
            withheld_acks: 2,
            refused_upgrades: Some((503, 2)),
            late_hellos: Some((10, 1)),
            ..Faults::default()
        };
        assert_eq!([faults.ack(), faults.ack(), faults.ack()], [false, false, true]);
        assert_eq!([faults.refusal(), faults.refusal(), faults.refusal()], [Some(503), Some(503), None]);
        assert_eq!([faults.hello_delay_ms(), faults.hello_delay_ms()], [Some(10), None]);
    }
}
