//! The machine: starts, takes signals, gives checkpoints. What each signal means is in the files beside it.

use jackfield_sdk::Blob;
use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Condition, SessionFault, Signal, StartContext, StartFault, StartReason, StopReason};

use super::host::Host;
use super::state::{Next, Phase, State};
use super::{FETCH_GATEWAY, SOCKET, backfill, checkpoint, dial, lost, timer};
use crate::config::Config;

/// What a step comes to. A fault ends the session.
pub(super) type Step = Result<(), SessionFault>;

/// A gateway session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    pub(super) config: Config,
    pub(super) state: State,
}

impl Machine {
    /// Begins, or goes on from where a checkpoint says.
    ///
    /// # Errors
    ///
    /// `fatal` when the operator has to change something, `transient` when a warm start can't read the checkpoint
    /// (whoever has the sockets keeps them) or the start budget is used up.
    pub fn start(config: Config, context: StartContext, host: &mut dyn Host) -> Result<Self, StartFault> {
        let warm = matches!(context.reason, StartReason::Swap | StartReason::Wake | StartReason::Recover);
        let state = match context.checkpoint.as_ref().map(checkpoint::decode) {
            None => State::default(),
            Some(Ok(state)) => state,
            Some(Err(why)) if warm => {
                return Err(StartFault::Transient(format!("checkpoint: {why}")));
            }
            Some(Err(why)) => {
                let fields = [("why", why.as_str())];
                host.log(Level::Error, "checkpoint is unreadable, beginning anew", &fields);
                State::default()
            }
        };
        let mut machine = Self { config, state };
        let begun = if warm {
            machine.go_on(&context, host)
        } else {
            machine.state = machine.state.without_anything_live();
            machine.begin(host)
        };
        match begun {
            Ok(()) => Ok(machine),
            Err(SessionFault::Fatal(why)) => Err(StartFault::Fatal(why)),
            Err(SessionFault::Transient(why)) => Err(StartFault::Transient(why)),
        }
    }

    /// Takes what happened, oldest first.
    ///
    /// # Errors
    ///
    /// A fault ends the session: `fatal` until somebody changed something, `transient` for the host to try again.
    pub fn handle(&mut self, signals: &[Signal], host: &mut dyn Host) -> Step {
        for (index, signal) in (0_u32..).zip(signals) {
            self.take(index, signal, host)?;
        }
        Ok(())
    }

    /// All that a successor needs.
    #[must_use]
    pub fn checkpoint(&self) -> Blob {
        checkpoint::encode(&self.state)
    }

    /// Where the session stands.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.state.phase
    }

    fn take(&mut self, index: u32, signal: &Signal, host: &mut dyn Host) -> Step {
        match signal {
            Signal::Opened(label) if label == SOCKET => {
                self.opened(host);
                Ok(())
            }
            Signal::Message(incoming) if incoming.label == SOCKET => self.frame(index, &incoming.message, host),
            Signal::Closed(closure) if closure.label == SOCKET => self.closed(&closure.cause, host),
            Signal::Elapsed(label) => self.elapsed(label, host),
            Signal::Fetched(fetched) if fetched.label == FETCH_GATEWAY => self.gateway_said(&fetched.outcome, host),
            Signal::Fetched(fetched) => match backfill::channel_of(&fetched.label) {
                Some(channel) => self.page(channel, &fetched.outcome, host),
                None => Ok(()),
            },
            Signal::Committed(marks) => {
                marks.iter().for_each(|mark| self.settled(mark));
                Ok(())
            }
            Signal::Held(label) if label == SOCKET => {
                self.state.beat.iter_mut().for_each(super::beat::Beat::hold);
                Ok(())
            }
            Signal::Flowing(label) if label == SOCKET => {
                self.state.beat.iter_mut().for_each(super::beat::Beat::flow);
                Ok(())
            }
            Signal::Stopping(reason) => {
                self.stop(*reason, host);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn elapsed(&mut self, label: &str, host: &mut dyn Host) -> Step {
        match label {
            timer::BEAT => self.beat_due(host),
            timer::ENTRY => self.entry_overdue(host),
            timer::RECONNECT => self.reconnect(host),
            timer::STABLE => {
                self.state.retry = super::state::Retry::default();
                Ok(())
            }
            other => self.backfill_elapsed(other, host),
        }
    }

    /// A mark comes back. One of an earlier Discord session says nothing about this one.
    pub(super) fn settled(&mut self, mark: &str) {
        let seq = mark
            .split_once(':')
            .filter(|(ordinal, _)| ordinal.parse() == Ok(self.state.ordinal))
            .and_then(|(_, seq)| seq.parse().ok());
        if let Some(seq) = seq {
            self.state.settled.settled(seq);
        }
    }

    /// Discord keeps a session whose socket just vanishes, and ends one that is closed properly: so nothing is closed
    /// here unless nobody will come back.
    fn stop(&mut self, reason: StopReason, host: &mut dyn Host) {
        if reason == StopReason::Removed && self.state.phase.has_socket() {
            host.close(Some(dial::GOING_AWAY));
            self.state.session = None;
        }
        self.state.phase = Phase::Over;
    }

    /// A cold start: no socket, no timer, no request.
    fn begin(&mut self, host: &mut dyn Host) -> Step {
        host.report(Condition::Connecting);
        self.forget_if_reconfigured();
        self.state.retry.after_restart();
        if self.state.session.is_some() {
            return self.dial(super::Entry::Resume, host);
        }
        match self.state.retry.wait_at_start_ms(host.random()) {
            0 => self.ask(host),
            wait => {
                self.wait(Next::Ask, wait, host);
                Ok(())
            }
        }
    }

    /// A warm start: sockets, timers and requests are there. Whatever the checkpoint counts on and the context does not
    /// list is made up for, so that no session waits for something that never comes.
    fn go_on(&mut self, context: &StartContext, host: &mut dyn Host) -> Step {
        let runs = |label: &str| context.timers.iter().any(|timer| timer.label == label);
        let fetches = |label: &str| context.fetches.iter().any(|fetch| fetch == label);
        let socket = context.sockets.iter().any(|socket| socket.label == SOCKET);
        self.missing_requests(&runs, &fetches, host)?;
        if self.forget_if_reconfigured() {
            if self.state.phase.has_socket() {
                return self.leave(Next::Ask, host);
            }
            if let Phase::Waiting(_) = self.state.phase {
                self.state.phase = Phase::Waiting(Next::Ask);
            }
        }
        match self.state.phase {
            Phase::Idle | Phase::Over => self.begin(host),
            Phase::Asking if !fetches(FETCH_GATEWAY) => self.ask(host),
            Phase::Asking => Ok(()),
            Phase::Waiting(_) => {
                if !runs(timer::RECONNECT) {
                    host.set_timer(timer::RECONNECT, lost::SOON_MS);
                }
                Ok(())
            }
            _ if !socket => self.leave(Next::Resume, host),
            _ => {
                self.missing_timers(&runs, host);
                Ok(())
            }
        }
    }

    fn missing_timers(&mut self, runs: &dyn Fn(&str) -> bool, host: &mut dyn Host) {
        if let Some(beat) = &self.state.beat
            && !runs(timer::BEAT)
        {
            host.set_timer(timer::BEAT, beat.interval_ms);
        }
        match self.state.phase {
            Phase::Greeting(_) | Phase::Entering(_) if !runs(timer::ENTRY) => {
                host.set_timer(timer::ENTRY, dial::ENTRY_MS);
            }
            Phase::Ready if !runs(timer::STABLE) && self.state.retry != super::state::Retry::default() => {
                host.set_timer(timer::STABLE, lost::STABLE_MS);
            }
            _ => {}
        }
    }

    /// Intents, shard and presence belong to a session: with others, a new one has to begin. Says whether it does.
    fn forget_if_reconfigured(&mut self) -> bool {
        let reconfigured = self.state.session.is_some() && self.state.opened_with != self.config.fingerprint();
        if reconfigured {
            self.state.session = None;
        }
        reconfigured
    }
}
