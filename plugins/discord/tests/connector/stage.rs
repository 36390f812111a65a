//! A host without anything real: records effects, keeps timers on a clock that tests turn, and holds what is under way.

use std::collections::BTreeMap;

use jackfield_discord::config::Config;
use jackfield_discord::runtime::{FETCH_GATEWAY, Host, Machine, SOCKET};
use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{
    Cause, Closure, Condition, Fetched, Incoming, PeerClose, PendingTimer, SessionFault, Signal, SocketState,
    StartContext, StartFault, StartReason,
};
use jackfield_sdk::transform::{Answer, Received};
use jackfield_sdk::{Blob, Dispatch, Event, Fault, HttpRequest, HttpResponse, Transport};

/// READY of a session in one guild, and that guild.
pub(crate) const READY: &str = include_str!("../../fixtures/discord/02_ready.json");
pub(crate) const GUILD: &str = include_str!("../../fixtures/discord/13_guild_create_backfill.json");
/// Ids in the fixtures.
pub(crate) const CHANNEL: u64 = 839_760_899_035_176_311;
pub(crate) const GUILD_ID: u64 = 839_760_432_494_458_817;

/// When the stage's clock starts: 2026-02-03, before the messages of the fixtures.
const START_MS: u64 = 1_770_100_000_000;

/// Timers that a session may have, and requests under way: the host's ceiling for either.
const PENDING_MAX: usize = 64;

/// What a machine asked for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Effect {
    Open(String),
    Send(String, Vec<String>),
    Close(Option<u16>),
    Fetch(String, String),
    Submit(Submitted),
    Report(String),
    SpendStart,
    StartsLeft(u32, u32),
    Metadata(String),
    Timer(String, u32),
}

/// A dispatch as the host has it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Submitted {
    pub(crate) kind: String,
    pub(crate) payload: Blob,
    pub(crate) lane: String,
    pub(crate) context: String,
    pub(crate) mark: Option<String>,
}

impl Submitted {
    /// What it means, received at the stage's start.
    pub(crate) fn answer(&self) -> Answer {
        let dispatch = Dispatch {
            kind: self.kind.clone(),
            payload: self.payload.clone(),
            lane: self.lane.clone(),
            context: self.context.clone(),
        };
        jackfield_discord::transform::answer(&Received { dispatch, via: Transport::Socket, received_at: START_MS })
    }

    /// The one event that it means.
    pub(crate) fn event(&self) -> Event {
        match self.answer() {
            Answer::Events(mut events) if events.len() == 1 => events.remove(0),
            other => panic!("not one event: {other:?}"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Socket {
    None,
    Opening,
    Open,
}

/// The host's side.
pub(crate) struct Desk {
    pub(crate) effects: Vec<Effect>,
    running: Vec<Signal>,
    pub(crate) timers: BTreeMap<String, u64>,
    pub(crate) fetches: BTreeMap<String, HttpRequest>,
    pub(crate) socket: Socket,
    pub(crate) now_ms: u64,
    random: u64,
    /// Starts that the host still allows.
    pub(crate) budget: u32,
    /// Origins that are not granted.
    pub(crate) denied: Vec<String>,
    /// Faults that `submit` gives.
    pub(crate) refuse_submit: Option<Fault>,
}

impl Host for Desk {
    fn open(&mut self, url: &str) -> Result<(), Fault> {
        self.effects.push(Effect::Open(url.to_owned()));
        if self.denied.iter().any(|origin| url.starts_with(origin.as_str())) {
            return Err(Fault::Denied(url.to_owned()));
        }
        self.socket = Socket::Opening;
        Ok(())
    }

    fn send(&mut self, frame: String, secrets: &[&str]) -> Result<(), Fault> {
        if self.socket != Socket::Open {
            return Err(Fault::Invalid("the socket is not open".to_owned()));
        }
        for secret in secrets {
            assert_eq!(frame.matches(&jackfield_sdk::secret(secret)).count(), 1, "each placeholder exactly once");
        }
        self.effects.push(Effect::Send(frame, secrets.iter().map(|name| (*name).to_owned()).collect()));
        Ok(())
    }

    fn close(&mut self, code: Option<u16>) {
        self.effects.push(Effect::Close(code));
        self.socket = Socket::None;
    }

    fn set_timer(&mut self, label: &str, after_ms: u32) {
        self.effects.push(Effect::Timer(label.to_owned(), after_ms));
        self.timers.insert(label.to_owned(), self.now_ms + u64::from(after_ms));
        assert!(self.timers.len() <= PENDING_MAX, "{label} is a timer too many");
    }

    fn cancel_timer(&mut self, label: &str) {
        self.timers.remove(label);
    }

    fn fetch(&mut self, label: &str, request: HttpRequest) -> Result<(), Fault> {
        self.effects.push(Effect::Fetch(label.to_owned(), request.url.clone()));
        assert!(!self.fetches.contains_key(label), "{label} is under way");
        self.fetches.insert(label.to_owned(), request);
        assert!(self.fetches.len() <= PENDING_MAX, "{label} is a request too many");
        Ok(())
    }

    fn submit(&mut self, dispatch: Dispatch, mark: Option<&str>) -> Result<(), Fault> {
        if let Some(fault) = &self.refuse_submit {
            return Err(fault.clone());
        }
        self.effects.push(Effect::Submit(Submitted {
            kind: dispatch.kind,
            payload: dispatch.payload,
            lane: dispatch.lane,
            context: dispatch.context,
            mark: mark.map(str::to_owned),
        }));
        Ok(())
    }

    fn submit_signal(
        &mut self,
        index: u32,
        kind: &str,
        lane: &str,
        context: &str,
        mark: Option<&str>,
    ) -> Result<(), Fault> {
        let Some(Signal::Message(incoming)) = self.running.get(index as usize) else {
            panic!("signal {index} carries no message");
        };
        let dispatch = Dispatch {
            kind: kind.to_owned(),
            payload: incoming.message.clone(),
            lane: lane.to_owned(),
            context: context.to_owned(),
        };
        self.submit(dispatch, mark)
    }

    fn report(&mut self, condition: Condition) {
        self.effects.push(Effect::Report(match condition {
            Condition::Connecting => "connecting".to_owned(),
            Condition::Ready => "ready".to_owned(),
            Condition::Degraded(notice) => notice.code,
        }));
    }

    fn spend_start(&mut self) -> Result<(), Fault> {
        self.effects.push(Effect::SpendStart);
        self.budget = self.budget.checked_sub(1).ok_or(Fault::Exhausted("starts".to_owned()))?;
        Ok(())
    }

    fn starts_left(&mut self, remaining: u32, resets_in_ms: u32) {
        self.effects.push(Effect::StartsLeft(remaining, resets_in_ms));
    }

    fn metadata(&mut self, patch: &str) {
        assert!(serde_json::from_str::<serde_json::Value>(patch).unwrap().is_object());
        self.effects.push(Effect::Metadata(patch.to_owned()));
    }

    fn log(&mut self, _: Level, _: &str, _: &[(&str, &str)]) {}

    fn random(&mut self) -> u32 {
        // Constants of Knuth's MMIX generator; the upper half is even enough.
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 32) as u32
    }

    fn now_ms(&mut self) -> u64 {
        self.now_ms
    }
}

/// A machine and its host.
pub(crate) struct Stage {
    pub(crate) machine: Machine,
    pub(crate) desk: Desk,
    pub(crate) config: Config,
    /// Replace the machine by one from its checkpoint after every call.
    pub(crate) reloads: bool,
}

impl Stage {
    /// A connection that never ran.
    pub(crate) fn fresh(config: &str) -> Self {
        Self::seeded(config, 7)
    }

    pub(crate) fn seeded(config: &str, seed: u64) -> Self {
        let config = Config::parse(config).unwrap();
        let mut desk = Desk {
            effects: Vec::new(),
            running: Vec::new(),
            timers: BTreeMap::new(),
            fetches: BTreeMap::new(),
            socket: Socket::None,
            now_ms: START_MS,
            random: seed,
            budget: u32::MAX,
            denied: Vec::new(),
            refuse_submit: None,
        };
        let machine = Machine::start(config.clone(), context(StartReason::Fresh, None), &mut desk).unwrap();
        Self { machine, desk, config, reloads: false }
    }

    /// A session that is ready and has its guild.
    pub(crate) fn ready() -> Self {
        let mut stage = Self::fresh("{}");
        stage.go_ready();
        stage.frame(GUILD).unwrap();
        stage
    }

    /// From wherever it is to a session that is ready, by identifying.
    pub(crate) fn go_ready(&mut self) {
        if self.desk.fetches.contains_key(FETCH_GATEWAY) {
            self.gateway_answers(1_000);
        }
        self.greet(41_250);
        assert!(self.last_sent().contains(r#""op":2,"#), "{}", self.last_sent());
        self.frame(READY).unwrap();
        self.assert_reported("ready");
    }

    pub(crate) fn give(&mut self, signals: Vec<Signal>) -> Result<(), SessionFault> {
        self.desk.running.clone_from(&signals);
        self.machine.handle(&signals, &mut self.desk)?;
        if self.reloads {
            self.reload();
        }
        Ok(())
    }

    /// A new instance goes on from the checkpoint, with everything live as it is.
    pub(crate) fn reload(&mut self) {
        let warm = self.warm(StartReason::Recover);
        let before = self.desk.effects.len();
        let next = Machine::start(self.config.clone(), warm, &mut self.desk).unwrap();
        assert_eq!(next, self.machine, "a checkpoint is everything");
        assert_eq!(self.desk.effects.len(), before, "a warm start that lacks nothing asks for nothing");
        self.machine = next;
    }

    pub(crate) fn warm(&self, reason: StartReason) -> StartContext {
        let timers = self.desk.timers.iter().map(|(label, due)| PendingTimer {
            label: label.clone(),
            remaining: u32::try_from(due.saturating_sub(self.desk.now_ms)).unwrap(),
        });
        let sockets = match self.desk.socket {
            Socket::None => vec![],
            state => vec![SocketState { label: SOCKET.to_owned(), open: state == Socket::Open }],
        };
        StartContext {
            sockets,
            timers: timers.collect(),
            fetches: self.desk.fetches.keys().cloned().collect(),
            ..context(reason, Some(self.machine.checkpoint()))
        }
    }

    /// Everything live is gone; a new instance starts from the stored checkpoint.
    pub(crate) fn restart(&mut self) -> Result<(), StartFault> {
        let stored = self.machine.checkpoint();
        self.restart_from(stored)
    }

    pub(crate) fn restart_from(&mut self, checkpoint: Blob) -> Result<(), StartFault> {
        self.desk.timers.clear();
        self.desk.fetches.clear();
        self.desk.socket = Socket::None;
        let cold = context(StartReason::Restart, Some(checkpoint));
        self.machine = Machine::start(self.config.clone(), cold, &mut self.desk)?;
        Ok(())
    }

    pub(crate) fn frame(&mut self, text: &str) -> Result<(), SessionFault> {
        self.give(vec![frame(text)])
    }

    /// The socket opens and Discord says Hello.
    pub(crate) fn greet(&mut self, interval_ms: u32) {
        self.opened();
        self.frame(&format!(r#"{{"t":null,"s":null,"op":10,"d":{{"heartbeat_interval":{interval_ms}}}}}"#)).unwrap();
    }

    pub(crate) fn opened(&mut self) {
        assert_eq!(self.desk.socket, Socket::Opening);
        self.desk.socket = Socket::Open;
        self.give(vec![Signal::Opened(SOCKET.to_owned())]).unwrap();
    }

    pub(crate) fn closes(&mut self, code: Option<u16>) -> Result<(), SessionFault> {
        self.ends(Cause::Peer(PeerClose { code, reason: String::new() }))
    }

    pub(crate) fn ends(&mut self, cause: Cause) -> Result<(), SessionFault> {
        self.desk.socket = Socket::None;
        self.give(vec![Signal::Closed(Closure { label: SOCKET.to_owned(), cause })])
    }

    /// Turns the clock to a timer and lets it elapse. Says how long it took.
    pub(crate) fn elapse(&mut self, label: &str) -> Result<u64, SessionFault> {
        let due = self.desk.timers.remove(label).unwrap_or_else(|| panic!("no timer {label}"));
        let waited = due.saturating_sub(self.desk.now_ms);
        self.desk.now_ms += waited;
        self.give(vec![Signal::Elapsed(label.to_owned())])?;
        Ok(waited)
    }

    pub(crate) fn answer(&mut self, label: &str, outcome: Result<HttpResponse, Fault>) -> Result<(), SessionFault> {
        assert!(self.desk.fetches.remove(label).is_some(), "{label} is not under way");
        self.give(vec![Signal::Fetched(Fetched { label: label.to_owned(), outcome })])
    }

    pub(crate) fn gateway_answers(&mut self, remaining: u32) {
        self.answer(FETCH_GATEWAY, Ok(gateway_bot(remaining))).unwrap();
    }

    pub(crate) fn last_sent(&self) -> &str {
        let sent = self.desk.effects.iter().rev().find_map(|effect| match effect {
            Effect::Send(frame, _) => Some(frame.as_str()),
            _ => None,
        });
        sent.unwrap_or("nothing")
    }

    pub(crate) fn submitted(&self) -> Vec<Submitted> {
        let submitted = self.desk.effects.iter().filter_map(|effect| match effect {
            Effect::Submit(dispatch) => Some(dispatch.clone()),
            _ => None,
        });
        submitted.collect()
    }

    pub(crate) fn count(&self, which: impl Fn(&Effect) -> bool) -> usize {
        self.desk.effects.iter().filter(|effect| which(effect)).count()
    }

    pub(crate) fn opens(&self) -> usize {
        self.count(|effect| matches!(effect, Effect::Open(_)))
    }

    pub(crate) fn identifies(&self) -> usize {
        self.count(|effect| matches!(effect, Effect::Send(frame, _) if frame.starts_with(r#"{"op":2,"#)))
    }

    pub(crate) fn resumes(&self) -> usize {
        self.count(|effect| matches!(effect, Effect::Send(frame, _) if frame.starts_with(r#"{"op":6,"#)))
    }

    pub(crate) fn reported(&self, code: &str) -> usize {
        self.count(|effect| matches!(effect, Effect::Report(reported) if reported == code))
    }

    #[track_caller]
    pub(crate) fn assert_reported(&self, condition: &str) {
        let last = self.desk.effects.iter().rev().find_map(|effect| match effect {
            Effect::Report(reported) => Some(reported.as_str()),
            _ => None,
        });
        assert_eq!(last, Some(condition));
    }

    /// Forgets what was asked for so far.
    pub(crate) fn clear(&mut self) {
        self.desk.effects.clear();
    }
}

fn context(reason: StartReason, checkpoint: Option<Blob>) -> StartContext {
    StartContext { reason, checkpoint, sockets: vec![], timers: vec![], fetches: vec![], annotations: "{}".to_owned() }
}

pub(crate) fn frame(text: &str) -> Signal {
    Signal::Message(Incoming { label: SOCKET.to_owned(), message: Blob::Text(text.to_owned()) })
}

pub(crate) fn response(status: u16, body: &str) -> HttpResponse {
    HttpResponse { status, headers: vec![], body: Blob::from(body) }
}

pub(crate) fn gateway_bot(remaining: u32) -> HttpResponse {
    response(
        200,
        &format!(
            r#"{{"url":"wss://gateway.discord.gg","shards":1,"session_start_limit":{{"total":1000,"remaining":{remaining},"reset_after":14400000,"max_concurrency":1}}}}"#
        ),
    )
}

/// A message in the guild's channel.
pub(crate) fn message(seq: u64, id: u64) -> String {
    format!(
        r#"{{"t":"MESSAGE_CREATE","s":{seq},"op":0,"d":{{"id":"{id}","channel_id":"{CHANNEL}","guild_id":"{GUILD_ID}","type":0,"content":"number {id}","timestamp":"2026-02-03T14:15:16.171000+00:00","author":{{"id":"620939583227628061","username":"juno.example"}},"attachments":[],"mentions":[]}}}}"#
    )
}
