//! Frames: what each operation code asks for, heartbeats, and the two ways a session begins.

use jackfield_sdk::Blob;
use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Condition, SessionFault};

use super::backoff::within;
use super::beat::{Beat, Due};
use super::checkpoint::GUILDS_MAX;
use super::entry::{self, Hello, Ready};
use super::host::Host;
use super::machine::{Machine, Step};
use super::state::{Entry, Me, Next, Phase, Session};
use super::{Settled, content, dial, lost, timer};
use crate::describe::BOT_TOKEN;
use crate::wire::{Frame, Text, when};

/// Operation codes that come.
mod op {
    pub(super) const DISPATCH: u8 = 0;
    pub(super) const HEARTBEAT: u8 = 1;
    pub(super) const RECONNECT: u8 = 7;
    pub(super) const INVALID_SESSION: u8 = 9;
    pub(super) const HELLO: u8 = 10;
    pub(super) const HEARTBEAT_ACK: u8 = 11;
}

/// Shortest interval between heartbeats that is believed, in milliseconds. A lower one would keep nothing but itself
/// busy.
const BEAT_MS_MIN: u32 = 1_000;

impl Machine {
    /// A frame came. After we have given up a socket, what was still on the way is left for the resume to repeat.
    pub(super) fn frame(&mut self, index: u32, message: &Blob, host: &mut dyn Host) -> Step {
        if !self.state.phase.has_socket() {
            return Ok(());
        }
        let frame = message.as_text().and_then(|text| serde_json::from_str::<Frame<'_>>(text).ok());
        let Some(frame) = frame else {
            return self.unreadable(index, host);
        };
        match frame.op {
            op::DISPATCH => self.dispatched(index, &frame, message, host),
            op::HEARTBEAT => self.send(self.heartbeat(), &[], host),
            op::RECONNECT => self.leave(Next::Resume, host),
            op::INVALID_SESSION => match frame.d.map(serde_json::value::RawValue::get) {
                Some("true") => self.leave(Next::Resume, host),
                _ => self.start_over(host),
            },
            op::HELLO => self.greeted(&frame, host),
            op::HEARTBEAT_ACK => {
                self.state.beat.iter_mut().for_each(Beat::acknowledged);
                Ok(())
            }
            other => {
                let code = other.to_string();
                host.log(Level::Debug, "unknown operation code", &[("op", &code)]);
                Ok(())
            }
        }
    }

    fn dispatched(&mut self, index: u32, frame: &Frame<'_>, message: &Blob, host: &mut dyn Host) -> Step {
        match (frame.t.as_deref(), self.state.phase) {
            (Some("READY"), Phase::Entering(_)) => self.ready(frame, host),
            (Some("RESUMED"), Phase::Entering(_)) => {
                self.receive(frame.s);
                self.entered(host)
            }
            // Neither asked for nor of any use: before Hello there is no heartbeat that would keep it alive.
            (Some("READY" | "RESUMED"), _) => Ok(()),
            (Some(kind), _) => self.dispatch(index, kind, frame, message, host),
            (None, _) => self.unreadable(index, host),
        }
    }

    fn receive(&mut self, seq: Option<u64>) {
        if let Some(seq) = seq {
            self.state.settled.received(seq);
        }
    }

    /// Hello: the heartbeat of this socket begins, and so does the session.
    fn greeted(&mut self, frame: &Frame<'_>, host: &mut dyn Host) -> Step {
        let Phase::Greeting(entry) = self.state.phase else {
            return Ok(());
        };
        let hello = frame.d.and_then(|payload| serde_json::from_str::<Hello>(payload.get()).ok());
        let Some(hello) = hello else {
            host.log(Level::Warn, "Hello without an interval", &[]);
            return self.leave(Next::Resume, host);
        };
        let beat = Beat::new(hello.heartbeat_interval.max(BEAT_MS_MIN));
        // Spread over the interval, or everyone whom an outage threw out would beat at once ever after.
        let first = within(beat.interval_ms, host.random());
        host.set_timer(timer::BEAT, first);
        self.state.beat = Some(beat);
        self.enter(entry, host)?;
        if self.state.phase == Phase::Greeting(entry) {
            self.state.phase = Phase::Entering(entry);
            host.set_timer(timer::ENTRY, dial::ENTRY_MS);
        }
        Ok(())
    }

    fn enter(&mut self, entry: Entry, host: &mut dyn Host) -> Step {
        let session = self.state.session.as_ref().filter(|_| entry == Entry::Resume);
        if let Some(session) = session {
            let frame = entry::resume(&session.id, self.state.settled.highest());
            return self.send(frame, &[BOT_TOKEN], host);
        }
        if let Err(fault) = host.spend_start() {
            return Err(SessionFault::Transient(format!(
                "the start budget is used up ({}): Discord resets the token of a bot that starts 1,000 sessions a day",
                fault.text()
            )));
        }
        self.state.retry.identifies = self.state.retry.identifies.saturating_add(1);
        let frame = entry::identify(&self.config);
        self.send(frame, &[BOT_TOKEN], host)
    }

    fn heartbeat(&self) -> String {
        // Before READY the numbers are those of the session that is to be resumed.
        let up_to = self.state.session.as_ref().and_then(|_| self.state.settled.up_to());
        entry::heartbeat(up_to)
    }

    pub(super) fn beat_due(&mut self, host: &mut dyn Host) -> Step {
        let Some(beat) = &mut self.state.beat else {
            return Ok(());
        };
        let interval = beat.interval_ms;
        match beat.due() {
            Due::Dead => {
                host.log(Level::Warn, "gateway did not acknowledge a heartbeat", &[]);
                self.leave(Next::Resume, host)
            }
            Due::Send => {
                host.set_timer(timer::BEAT, interval);
                self.send(self.heartbeat(), &[], host)
            }
        }
    }

    /// Sends. A socket that does not take a frame is on its way out, unless the secret may not go there.
    fn send(&mut self, frame: String, secrets: &[&str], host: &mut dyn Host) -> Step {
        use jackfield_sdk::Fault;
        match host.send(frame, secrets) {
            Ok(()) => Ok(()),
            Err(Fault::Denied(what)) => Err(SessionFault::Fatal(format!(
                "The bot token may not be sent to the gateway ({what}). Add wss://gateway.discord.gg and \
                 wss://*.discord.gg to the origins of secrets.bot-token."
            ))),
            Err(fault) => {
                let why = fault.text().to_string();
                host.log(Level::Warn, "send to the gateway failed", &[("why", &why)]);
                self.leave(Next::Resume, host)
            }
        }
    }

    /// READY: a new session.
    fn ready(&mut self, frame: &Frame<'_>, host: &mut dyn Host) -> Step {
        let parsed = frame.d.and_then(|payload| serde_json::from_str::<Ready<'_>>(payload.get()).ok());
        let Some(ready) = parsed else {
            host.log(Level::Error, "READY is not what it is documented to be", &[]);
            self.state.session = None;
            return self.leave(Next::Ask, host);
        };
        self.state.ordinal = self.state.ordinal.wrapping_add(1);
        self.state.settled = Settled::default();
        self.receive(frame.s);
        self.state.session = ready
            .session_id()
            .map(|id| Session { id: id.to_owned(), resume_url: ready.resume_url().map(str::to_owned) });
        self.state.me = Some(Me {
            user: ready.user.id.to_string(),
            application: ready.application.as_ref().map(|own| own.id.to_string()),
        });
        self.state.opened_with = self.config.fingerprint();
        self.state.guilds = ready.guilds.len();
        self.state.expected = ready.guilds.iter().take(GUILDS_MAX).map(|guild| guild.id.number()).collect();
        self.state.content.reset();
        host.metadata(&self.who(ready.user.username.as_ref()));
        self.entered(host)?;
        if self.state.watermarks.is_begun() {
            self.fill_gaps(host)
        } else {
            self.state.watermarks.begin(when::first_snowflake_at(host.now_ms()));
            Ok(())
        }
    }

    /// READY or RESUMED. What a cold start left to be fetched goes on.
    fn entered(&mut self, host: &mut dyn Host) -> Step {
        self.state.phase = Phase::Ready;
        self.state.retry.misses = 0;
        host.cancel_timer(timer::ENTRY);
        host.set_timer(timer::STABLE, lost::STABLE_MS);
        host.report(Condition::Ready);
        // A notice that stands outlives a resume; the report before it would be its end.
        if self.state.content.is_noticed() {
            host.report(Condition::Degraded(content::notice(self.config.intents)));
        }
        self.fetch_pages(host)
    }

    /// What operators see of us.
    fn who(&self, name: Option<&Text<'_>>) -> String {
        let (shard, shards) = self.config.shard.unwrap_or((0, 1));
        let user = self.state.me.as_ref().map(|me| me.user.as_str());
        serde_json::json!({
            "user": { "id": user, "name": name },
            "guilds": self.state.guilds,
            "shard": [shard, shards],
            "intents": self.config.intents,
        })
        .to_string()
    }
}
