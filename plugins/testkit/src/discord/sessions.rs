//! What connections do with sessions: begin, resume, fill, acknowledge, leave, end.

use std::sync::Arc;

use rand::RngCore as _;
use tokio::sync::Notify;

use super::close::Code;
use super::entry::{Event, Outcome};
use super::faults::{Order, Target};
use super::intents::Intents;
use super::log::ConnectionId;
use super::payload;
use super::protocol::{Identify, Resume};
use super::replay::{Numbered, Refusal};
use super::script::{Action, Moment};
use super::session::Session;
use super::starts::Start;
use super::state::State;
use super::world::World;

/// The session that a connection carries.
#[derive(Debug, Clone)]
pub(crate) struct Carried {
    pub(crate) id: Arc<str>,
    pub(crate) wake: Arc<Notify>,
    /// Whether it sees what people wrote.
    pub(crate) content: bool,
}

/// The answer to an identify or a resume.
#[derive(Debug)]
pub(crate) enum Answer {
    Carry(Carried),
    /// Opcode 9 with `false`.
    Invalid,
    Close(Code),
    /// What the script says instead.
    Scripted(Action),
}

impl State {
    pub(crate) fn identify(&mut self, connection: ConnectionId, identify: &Identify, resume_url: &str) -> Answer {
        let (outcome, answer) = self.identified(connection, identify, resume_url);
        let Identify { intents, shard, .. } = *identify;
        self.log.push(Event::Identify { connection, intents, shard, outcome });
        answer
    }

    fn identified(&mut self, connection: ConnectionId, identify: &Identify, resume_url: &str) -> (Outcome, Answer) {
        let refuse = |code: Code| (Outcome::Closed { code: code.0 }, Answer::Close(code));
        if !self.accepts(&identify.token) {
            return refuse(Code::AUTHENTICATION_FAILED);
        }
        let now_ms = self.now_ms();
        let start = self.starts.start(identify.shard.0, now_ms);
        if start == Start::Exhausted {
            self.reset_token();
            return refuse(Code::AUTHENTICATION_FAILED);
        }
        if let Some(action) = self.steps.due_at(Moment::Identify) {
            return (Outcome::Scripted, Answer::Scripted(action));
        }
        if start == Start::TooSoon {
            return (Outcome::InvalidSession { why: "identified too soon".to_owned() }, Answer::Invalid);
        }
        if identify.shard.0 >= identify.shard.1 {
            return refuse(Code::INVALID_SHARD);
        }
        let Some(intents) = identify.intents.map(Intents).filter(|intents| intents.valid()) else {
            return refuse(Code::INVALID_INTENTS);
        };
        if intents.includes_any(self.script.disallowed_intents) {
            return refuse(Code::DISALLOWED_INTENTS);
        }
        let carried = self.begin(connection, intents, identify.shard, resume_url);
        (Outcome::Ready { session: Arc::clone(&carried.id) }, Answer::Carry(carried))
    }

    fn begin(&mut self, connection: ConnectionId, intents: Intents, shard: (u64, u64), resume_url: &str) -> Carried {
        let id: Arc<str> = format!("{:016x}{:016x}", self.rng.next_u64(), self.rng.next_u64()).into();
        let mut session = Session::new(Arc::clone(&id), intents, shard, self.script.replay_max, connection);
        let World { guilds, .. } = &self.world;
        let guilds: Vec<_> = guilds.iter().filter(|guild| guild.id.shard(shard.1) == shard.0).collect();
        let ids: Vec<_> = guilds.iter().map(|guild| guild.id).collect();
        let ready = payload::Ready { session: &id, resume_url, shard, guilds: &ids };
        session.offer_control(Arc::new(payload::ready(&ready, &self.world)));
        for guild in guilds {
            session.offer(&Arc::new(payload::guild_create(guild, &self.world)));
        }
        let carried = carried(&session);
        self.sessions.insert(id, session);
        carried
    }

    pub(crate) fn resume(&mut self, connection: ConnectionId, resume: &Resume) -> Answer {
        let (outcome, answer) = self.resumed(connection, resume);
        let session = self.sessions.get_key_value(resume.session.as_str()).map(|(id, _)| Arc::clone(id));
        // An id that is not ours could be anything: its first characters tell enough.
        let session = session.unwrap_or_else(|| resume.session.chars().take(32).collect::<String>().into());
        self.log.push(Event::Resume { connection, session, seq: resume.seq, outcome });
        answer
    }

    fn resumed(&mut self, connection: ConnectionId, resume: &Resume) -> (Outcome, Answer) {
        let refuse = |code: Code| (Outcome::Closed { code: code.0 }, Answer::Close(code));
        let invalid = |why: &str| (Outcome::InvalidSession { why: why.to_owned() }, Answer::Invalid);
        if !self.accepts(&resume.token) {
            return refuse(Code::AUTHENTICATION_FAILED);
        }
        self.sweep();
        let Some(session) = self.sessions.get_mut(resume.session.as_str()) else { return invalid("unknown session") };
        if session.forgotten {
            return invalid("forgotten session");
        }
        let spoil = self.faults.spoil();
        let resumed = session.replay.resume(resume.seq, Arc::new(payload::resumed()), spoil);
        let replayed = match resumed {
            Ok(replayed) => replayed as u64,
            Err(Refusal::Trimmed) => return invalid("what followed this sequence number was acknowledged or let go"),
            Err(Refusal::Ahead) => {
                let id = Arc::clone(&session.id);
                self.end_session(&id, "resumed with a sequence number that was never sent");
                return refuse(Code::INVALID_SEQ);
            }
        };
        // A replay of nothing leaves nothing to spoil.
        if replayed > 0 {
            self.faults.spoilt();
        }
        let displaced = session.socket().filter(|other| *other != connection);
        session.attach(connection);
        session.wake.notify_one();
        let carried = carried(session);
        if let Some(other) = displaced {
            self.order(Target::One(other), Order::Close(Code::UNKNOWN_ERROR));
        }
        (Outcome::Resumed { replayed }, Answer::Carry(carried))
    }

    /// The next dispatches for this connection, at most `most`. None for a session that it does not carry any more.
    pub(crate) fn take(&mut self, connection: ConnectionId, session: &str, most: usize) -> Vec<Numbered> {
        let carried = self.sessions.get_mut(session).filter(|session| session.socket() == Some(connection));
        carried.map(|session| session.replay.take(most)).unwrap_or_default()
    }

    /// Notes a heartbeat, and says whether it gets an answer.
    pub(crate) fn heartbeat(&mut self, connection: ConnectionId, session: Option<&Arc<str>>, seq: Option<u64>) -> bool {
        let known = session.and_then(|id| self.sessions.get_mut(id));
        if let (Some(known), Some(seq)) = (known, seq) {
            known.replay.acknowledge(seq);
        }
        let acked = self.faults.ack();
        self.log.push(Event::Heartbeat { connection, session: session.cloned(), seq, acked });
        acked
    }

    /// The connection lets go of the session, which waits for a resume from now on.
    pub(crate) fn leave(&mut self, connection: ConnectionId, session: &str) {
        let now_ms = self.now_ms();
        let carried = self.sessions.get_mut(session).filter(|session| session.socket() == Some(connection));
        let Some(session) = carried else { return };
        session.detach(now_ms);
        if session.forgotten {
            let id = Arc::clone(&session.id);
            self.end_session(&id, "forgotten");
        }
    }

    pub(crate) fn end_session(&mut self, session: &str, why: &str) {
        if let Some(session) = self.sessions.remove(session) {
            self.log.push(Event::SessionEnded { session: session.id, why: why.to_owned() });
        }
    }

    /// Ends what these connections carry.
    pub(crate) fn end_sessions_of(&mut self, target: Target, why: &str) {
        let concerned = |session: &Session| match (session.socket(), target) {
            (Some(connection), Target::One(one)) => connection == one,
            (Some(_), Target::All) => true,
            (None, _) => false,
        };
        let ids: Vec<Arc<str>> = self
            .sessions
            .values()
            .filter(|session| concerned(session))
            .map(|session| Arc::clone(&session.id))
            .collect();
        for id in ids {
            self.end_session(&id, why);
        }
    }

    /// Makes every session unknown to a resume; those on a socket go on there.
    pub(crate) fn forget_sessions(&mut self) {
        let mut over = Vec::new();
        for session in self.sessions.values_mut() {
            session.forgotten = true;
            if session.socket().is_none() {
                over.push(Arc::clone(&session.id));
            }
        }
        for id in over {
            self.end_session(&id, "forgotten");
        }
    }

    /// Ends sessions whose time is over.
    pub(crate) fn sweep(&mut self) {
        let (now_ms, window_ms) = (self.now_ms(), self.script.resume_window_ms);
        let over = |session: &Session| Some((Arc::clone(&session.id), session.over(now_ms, window_ms)?));
        let over: Vec<(Arc<str>, &str)> = self.sessions.values().filter_map(over).collect();
        for (id, why) in over {
            self.end_session(&id, why);
        }
    }

    /// Whether every session with a socket has room for more.
    pub(crate) fn has_room(&self) -> bool {
        let full = |session: &Session| session.socket().is_some() && session.replay.unsent() >= self.script.unsent_max;
        !self.sessions.values().any(full)
    }
}

fn carried(session: &Session) -> Carried {
    Carried { id: Arc::clone(&session.id), wake: Arc::clone(&session.wake), content: session.intents.message_content() }
}
