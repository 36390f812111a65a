//! What a lost socket means: resume or begin anew, when, and when to leave it to the host.

use jackfield_sdk::Fault;
use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Cause, Condition, SessionFault};

use super::backoff::{Backoff, within};
use super::beat::Beat;
use super::close::{self, After};
use super::dial::ENTRY_MS;
use super::host::Host;
use super::machine::{Machine, Step};
use super::state::{Entry, Next, Phase, Retry};
use super::timer;

/// A session that lived so long is stable: what went wrong before is forgiven. READY alone forgives nothing, or a
/// session that dies right after it would identify for ever without a pause. Milliseconds.
pub(super) const STABLE_MS: u32 = 300_000;

/// Without any delay that anybody would notice, in milliseconds.
pub(super) const SOON_MS: u32 = 250;

/// Between two attempts to connect.
const RECONNECT: Backoff = Backoff { base_ms: 1_000, ceiling_ms: 60_000, floor_ms: SOON_MS };

/// Between two identifies. Discord allows one in 5 seconds; a session that keeps dying gets to half an hour after ten
/// of them, so that not even an hour of it uses up more than a dozen.
const IDENTIFY: Backoff = Backoff { base_ms: 5_000, ceiling_ms: 1_800_000, floor_ms: 5_000 };

/// Longest wait that an unstable past imposes on a cold start, in milliseconds: somebody may just have fixed it, and
/// the host has waited too.
const WAIT_AT_START_MS_MAX: u32 = 60_000;

/// Attempts that may fail before the host takes over: its back-off is longer, and its status says so.
const FAILURES_MAX: u32 = 12;

/// Resumes that Discord may refuse before a new session is the better try.
const REFUSALS_MAX: u8 = 3;

/// Resumes that may fail before the socket even opens: a minute or two of no network, in which the session lives on.
const MISSES_MAX: u8 = 8;

impl Retry {
    /// The host starts again after it has waited: some attempts before it takes over the next time.
    pub(super) fn after_restart(&mut self) {
        self.failures = self.failures.min(FAILURES_MAX / 2);
        self.misses = 0;
    }

    /// How long a cold start waits before it identifies, in milliseconds.
    pub(super) fn wait_at_start_ms(&self, random: u32) -> u32 {
        match self.identifies {
            0 => 0,
            sent => IDENTIFY.wait_ms(sent, random).min(WAIT_AT_START_MS_MAX),
        }
    }
}

impl Machine {
    /// The socket ended, or never began.
    pub(super) fn closed(&mut self, cause: &Cause, host: &mut dyn Host) -> Step {
        if !self.state.phase.has_socket() {
            return Ok(());
        }
        match cause {
            // We have decided what comes next when we closed it.
            Cause::Ours => Ok(()),
            Cause::Failed(fault) => self.not_opened(fault, host),
            Cause::Refused(response) => {
                let status = response.status.to_string();
                host.log(Level::Warn, "gateway refused the socket", &[("status", &status)]);
                self.missed(host)
            }
            Cause::Broken(why) => {
                host.log(Level::Info, "gateway socket broke", &[("why", why)]);
                self.lost(After::Resume, host)
            }
            Cause::Peer(peer) => {
                let code = peer.code.map_or("none".to_owned(), |code| code.to_string());
                let fields = [("code", code.as_str()), ("reason", peer.reason.as_str())];
                host.log(Level::Info, "gateway closed the socket", &fields);
                self.lost(close::after(peer.code), host)
            }
        }
    }

    pub(super) fn not_opened(&mut self, fault: &Fault, host: &mut dyn Host) -> Step {
        let resuming = self.state.phase.entry() == Some(Entry::Resume);
        match fault {
            Fault::Denied(_) | Fault::Invalid(_) if resuming && self.forget_resume_url() => {
                // Sent somewhere that the operator did not grant: the ordinary gateway knows the session too.
                self.try_again(Next::Resume, host)
            }
            Fault::Denied(what) => Err(SessionFault::Fatal(format!(
                "The gateway is not granted ({what}). Add wss://gateway.discord.gg and wss://*.discord.gg to grants, \
                 and to the origins of secrets.bot-token."
            ))),
            fault => {
                let why = fault.text().to_string();
                host.log(Level::Warn, "open the gateway socket failed", &[("why", &why)]);
                self.missed(host)
            }
        }
    }

    /// Whether there was one.
    fn forget_resume_url(&mut self) -> bool {
        self.state.session.as_mut().is_some_and(|session| session.resume_url.take().is_some())
    }

    fn missed(&mut self, host: &mut dyn Host) -> Step {
        if self.state.phase.entry() == Some(Entry::Resume) {
            self.state.retry.misses = self.state.retry.misses.saturating_add(1);
        }
        self.try_again(Next::Resume, host)
    }

    /// An open socket ended.
    fn lost(&mut self, after: After, host: &mut dyn Host) -> Step {
        let resuming = self.state.phase.entry() == Some(Entry::Resume);
        let refused = resuming || after == After::ResumeAndLog;
        if refused {
            self.state.retry.refusals = self.state.retry.refusals.saturating_add(1);
        }
        match after {
            After::Stop(why) => Err(SessionFault::Fatal(why.to_owned())),
            After::Identify => {
                self.state.session = None;
                self.try_again(Next::Ask, host)
            }
            After::ResumeOnce => {
                self.state.retry.refusals = self.state.retry.refusals.max(REFUSALS_MAX - 1);
                self.try_again(Next::Resume, host)
            }
            After::ResumeAndLog => {
                host.log(Level::Error, "gateway complains about what we sent: a bug here", &[]);
                self.try_again(Next::Resume, host)
            }
            After::Resume => self.try_again(Next::Resume, host),
        }
    }

    /// Drops an open socket without a close frame, which would end the session, and goes on with `next`.
    pub(super) fn leave(&mut self, next: Next, host: &mut dyn Host) -> Step {
        if self.state.phase.entry() == Some(Entry::Resume) {
            self.state.retry.refusals = self.state.retry.refusals.saturating_add(1);
        }
        host.close(None);
        self.try_again(next, host)
    }

    /// Counts a failure and waits for the next attempt, or gives up and leaves it to the host.
    pub(super) fn try_again(&mut self, next: Next, host: &mut dyn Host) -> Step {
        self.try_again_after(0, next, host)
    }

    fn try_again_after(&mut self, at_least_ms: u32, next: Next, host: &mut dyn Host) -> Step {
        let retry = &mut self.state.retry;
        retry.failures = retry.failures.saturating_add(1);
        if retry.failures > FAILURES_MAX {
            return Err(SessionFault::Transient(format!(
                "the gateway session failed {FAILURES_MAX} times without once being stable"
            )));
        }
        let resumable = retry.refusals < REFUSALS_MAX && retry.misses < MISSES_MAX;
        if !resumable {
            self.state.session = None;
        }
        let next = match next {
            Next::Resume if self.state.session.is_none() => Next::Ask,
            next => next,
        };
        let mut wait = RECONNECT.wait_ms(self.state.retry.failures, host.random()).max(at_least_ms);
        if next != Next::Resume && self.state.retry.identifies > 0 {
            wait = wait.max(IDENTIFY.wait_ms(self.state.retry.identifies, host.random()));
        }
        self.wait(next, wait, host);
        Ok(())
    }

    /// Waits, with nothing open.
    pub(super) fn wait(&mut self, next: Next, wait_ms: u32, host: &mut dyn Host) {
        self.state.beat = None;
        for running in [timer::BEAT, timer::ENTRY, timer::STABLE] {
            host.cancel_timer(running);
        }
        self.state.phase = Phase::Waiting(next);
        host.set_timer(timer::RECONNECT, wait_ms.max(SOON_MS));
        host.report(Condition::Connecting);
    }

    pub(super) fn reconnect(&mut self, host: &mut dyn Host) -> Step {
        match self.state.phase {
            Phase::Waiting(Next::Resume) => self.dial(Entry::Resume, host),
            Phase::Waiting(Next::Identify) => self.dial(Entry::Identify, host),
            Phase::Waiting(Next::Ask) => self.ask(host),
            _ => Ok(()),
        }
    }

    /// Hello, READY or RESUMED did not come.
    pub(super) fn entry_overdue(&mut self, host: &mut dyn Host) -> Step {
        match self.state.phase {
            Phase::Greeting(_) | Phase::Entering(_) => {}
            _ => return Ok(()),
        }
        if self.state.beat.as_ref().is_some_and(Beat::is_held) {
            host.set_timer(timer::ENTRY, ENTRY_MS);
            return Ok(());
        }
        host.log(Level::Warn, "gateway did not greet in time", &[]);
        self.leave(Next::Resume, host)
    }

    /// Discord does not know the session: a new one, after the one to five seconds that it asks for.
    pub(super) fn start_over(&mut self, host: &mut dyn Host) -> Step {
        const AT_LEAST_MS: u32 = 1_000;
        const JITTER_MS: u32 = 4_000;
        self.state.session = None;
        host.close(None);
        let wait = AT_LEAST_MS + within(JITTER_MS, host.random());
        self.try_again_after(wait, Next::Ask, host)
    }
}
