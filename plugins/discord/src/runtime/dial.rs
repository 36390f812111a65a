//! Getting to a session: where to connect, whether there are starts left, and opening the socket.

use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Condition, Notice, SessionFault};
use jackfield_sdk::{Fault, HttpResponse};

use super::host::Host;
use super::machine::{Machine, Step};
use super::state::{Entry, Next, Phase};
use super::{FETCH_GATEWAY, entry, rest, timer};

/// Longest wait for Hello, READY or RESUMED, in milliseconds. READY of a large bot takes seconds.
pub(super) const ENTRY_MS: u32 = 30_000;

/// Close code of ours that ends the session for good.
pub(super) const GOING_AWAY: u16 = 1_000;

/// Starts a day that are left to others who use the token.
const STARTS_RESERVE: u32 = 20;

/// Discord lets one session of each remainder of shard id by concurrency identify in so many milliseconds.
const IDENTIFY_SLOT_MS: u32 = 5_000;

impl Machine {
    /// Asks where to connect and how many starts are left. Before every identify, since only Discord counts right.
    pub(super) fn ask(&mut self, host: &mut dyn Host) -> Step {
        self.state.phase = Phase::Asking;
        match host.fetch(FETCH_GATEWAY, rest::gateway_bot()) {
            Ok(()) => Ok(()),
            Err(fault) => self.gateway_said(&Err(fault), host),
        }
    }

    pub(super) fn gateway_said(&mut self, outcome: &Result<HttpResponse, Fault>, host: &mut dyn Host) -> Step {
        if self.state.phase != Phase::Asking {
            return Ok(());
        }
        let response = match outcome {
            Ok(response) => response,
            Err(Fault::Denied(what)) => {
                return Err(SessionFault::Fatal(format!(
                    "Discord's API is not granted ({what}). Add https://discord.com to grants, and to the origins of \
                     secrets.bot-token."
                )));
            }
            Err(fault) => return self.gateway_unknown(&fault.text().to_string(), host),
        };
        match response.status {
            200 => match response.body.as_text().map(serde_json::from_str) {
                Some(Ok(answer)) => self.gateway_known(answer, host),
                _ => self.gateway_unknown("an answer that is not the documented one", host),
            },
            401 => Err(SessionFault::Fatal(
                "Discord does not accept the bot token (401). Reset it in the developer portal (Bot, Reset Token) and \
                 put the new one where secrets.bot-token points."
                    .to_owned(),
            )),
            429 => {
                let wait = rest::wait(response).ms;
                self.wait(Next::Ask, wait, host);
                Ok(())
            }
            status => self.gateway_unknown(&format!("status {status}"), host),
        }
    }

    /// Discord did not say where to connect. Where it said so before, that still holds.
    fn gateway_unknown(&mut self, why: &str, host: &mut dyn Host) -> Step {
        host.log(Level::Warn, "ask for the gateway failed", &[("why", why)]);
        if self.state.gateway_url.is_some() {
            self.dial(Entry::Identify, host)
        } else {
            self.try_again(Next::Ask, host)
        }
    }

    fn gateway_known(&mut self, answer: rest::GatewayBot, host: &mut dyn Host) -> Step {
        if !entry::is_plain_origin(&answer.url) {
            return self.gateway_unknown("a gateway that is no wss origin", host);
        }
        self.state.gateway_url = Some(answer.url);
        if let Some(shards) = answer.shards {
            host.metadata(&format!(r#"{{"recommended_shards":{shards}}}"#));
        }
        // A session that is still there lacked no more than an address.
        if self.state.session.is_some() {
            return self.dial(Entry::Resume, host);
        }
        let Some(limit) = answer.session_start_limit else {
            return self.dial(Entry::Identify, host);
        };
        let resets_in = u32::try_from(limit.reset_after).unwrap_or(u32::MAX);
        let left = limit.remaining.saturating_sub(STARTS_RESERVE);
        host.starts_left(left, resets_in);
        host.metadata(&format!(r#"{{"starts_left":{}}}"#, limit.remaining));
        if left == 0 {
            return Err(no_starts_left(limit.remaining, host));
        }
        match self.slot_ms(limit.max_concurrency) {
            0 => self.dial(Entry::Identify, host),
            wait => {
                self.wait(Next::Identify, wait, host);
                Ok(())
            }
        }
    }

    /// How long this shard waits for its turn when all of them start at once, in milliseconds.
    fn slot_ms(&self, max_concurrency: Option<u32>) -> u32 {
        let (id, _) = self.config.shard.unwrap_or_default();
        if self.state.retry.identifies > 0 {
            return 0;
        }
        let concurrency = max_concurrency.unwrap_or(1).max(1);
        (u32::from(id) / concurrency).saturating_mul(IDENTIFY_SLOT_MS)
    }

    /// Opens the socket.
    pub(super) fn dial(&mut self, entry: Entry, host: &mut dyn Host) -> Step {
        let resume_url = self
            .state
            .session
            .as_ref()
            .filter(|_| entry == Entry::Resume)
            .and_then(|session| session.resume_url.clone());
        let Some(origin) = resume_url.or_else(|| self.state.gateway_url.clone()) else {
            return self.ask(host);
        };
        self.state.phase = Phase::Opening(entry);
        match host.open(&entry::socket_url(&origin)) {
            Ok(()) => Ok(()),
            Err(fault) => self.not_opened(&fault, host),
        }
    }

    pub(super) fn opened(&mut self, host: &mut dyn Host) {
        if let Phase::Opening(entry) = self.state.phase {
            self.state.phase = Phase::Greeting(entry);
            host.set_timer(timer::ENTRY, ENTRY_MS);
        }
    }
}

fn no_starts_left(remaining: u32, host: &mut dyn Host) -> SessionFault {
    host.report(Condition::Degraded(
        Notice::new(
            "starts-used-up",
            format!("Discord allows {remaining} more sessions today; {STARTS_RESERVE} are kept back."),
        )
        .todo("Find out what uses them up: another program with this token, or a session that keeps dying."),
    ));
    SessionFault::Transient("the day's session starts are used up".to_owned())
}
