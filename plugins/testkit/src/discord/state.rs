//! What the double knows, behind one lock: the world, the sessions, the connections, the pending faults.
//!
//! Whatever changes more than one of these happens under that lock, so a message is in the log, in the history and in every
//! session's replay at once, and a step of the script falls exactly between two messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::mpsc;

use super::compose;
use super::dispatch::Dispatch;
use super::entry::{Closer, Event};
use super::faults::{Faults, Flood, Order, Target};
use super::log::{ConnectionId, Log};
use super::payload::{self, Given, Post};
use super::rest::RestState;
use super::script::Script;
use super::session::Session;
use super::snowflake::{Id, Snowflakes};
use super::starts::StartLimit;
use super::steps::Steps;
use super::world::World;
use crate::clock::{self, Clock};

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) log: Log,
    pub(crate) faults: Faults,
    pub(crate) steps: Steps,
    pub(crate) sessions: BTreeMap<Arc<str>, Session>,
    pub(crate) starts: StartLimit,
    pub(crate) rest: RestState,
    pub(crate) script: Arc<Script>,
    pub(crate) rng: StdRng,
    connections: BTreeMap<ConnectionId, mpsc::UnboundedSender<Order>>,
    connections_made: ConnectionId,
    /// None once it was reset.
    token: Option<String>,
    snowflakes: Snowflakes,
    messages: u64,
    floods: mpsc::UnboundedSender<Flood>,
    clock: Clock,
}

/// Why a message could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// No such channel.
    #[error("there is no channel {0}: use one of `Double::channels` or `Double::direct_channel`")]
    UnknownChannel(Id),
    /// Nobody has this id.
    #[error("nobody has the id {0}: use one of `Double::authors` or `Double::bot`")]
    UnknownAuthor(Id),
}

impl State {
    pub(crate) fn new(
        script: Arc<Script>,
        token: String,
        log: Log,
        clock: Clock,
        floods: mpsc::UnboundedSender<Flood>,
    ) -> Self {
        Self {
            world: World::new(script.guilds, script.channels, script.authors, script.history_max),
            log,
            faults: Faults::default(),
            steps: Steps::new(&script.steps),
            sessions: BTreeMap::new(),
            starts: StartLimit::new(script.session_starts),
            rest: RestState::new(&script.rest),
            rng: StdRng::seed_from_u64(script.seed),
            script,
            connections: BTreeMap::new(),
            connections_made: 0,
            token: Some(token),
            snowflakes: Snowflakes::default(),
            messages: 0,
            floods,
            clock,
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.elapsed_ms()
    }

    /// Whether this is the bot's token, with or without its scheme.
    pub(crate) fn accepts(&self, token: &str) -> bool {
        self.token.as_deref() == Some(token.strip_prefix("Bot ").unwrap_or(token))
    }

    /// Gives a dispatch to every session that asked for its kind.
    pub(crate) fn publish(&mut self, dispatch: Dispatch) -> Arc<Dispatch> {
        self.sweep();
        let dispatch = Arc::new(dispatch);
        let scope = dispatch.scope;
        let kind = Arc::clone(&dispatch.kind);
        self.log.push(Event::Created { kind, channel: scope.channel, message: scope.message });
        for session in self.sessions.values_mut() {
            session.offer(&dispatch);
        }
        dispatch
    }

    /// Makes a message, and does what the script says after that many.
    pub(crate) fn post(
        &mut self,
        channel: Id,
        author: Id,
        text: &str,
        given: &Given<'_>,
    ) -> Result<Arc<Dispatch>, PostError> {
        let id = self.snowflakes.next(clock::unix_ms());
        let channel = self.world.channel(channel).ok_or(PostError::UnknownChannel(channel))?;
        let author = self.world.author(author).ok_or(PostError::UnknownAuthor(author))?;
        let post = Post { id, channel, author, content: text, given };
        let dispatch = self.publish(payload::message_create(&post, &self.world));
        self.world.remember(&dispatch);
        self.messages += 1;
        for action in self.steps.due_at_message(self.messages) {
            self.perform(&action, Target::All);
        }
        Ok(dispatch)
    }

    /// Makes so many messages as the seed wants them.
    pub(crate) fn post_composed(&mut self, count: u64) {
        for _ in 0..count {
            let Some(draft) = compose::draft(&mut self.rng, &self.world, self.messages) else { return };
            // The draft names a channel and an author of this world.
            _ = self.post(draft.channel, draft.author, &draft.text, &Given::default());
        }
    }

    pub(crate) fn connect(&mut self, host: String, target: String) -> (ConnectionId, mpsc::UnboundedReceiver<Order>) {
        self.connections_made += 1;
        let connection = self.connections_made;
        let (orders, receiver) = mpsc::unbounded_channel();
        self.connections.insert(connection, orders);
        self.log.push(Event::ConnectionOpened { connection, host, target });
        (connection, receiver)
    }

    pub(crate) fn disconnect(
        &mut self,
        connection: ConnectionId,
        session: Option<Arc<str>>,
        by: Closer,
        code: Option<u16>,
    ) {
        self.connections.remove(&connection);
        self.log.push(Event::ConnectionClosed { connection, session, by, code });
    }

    pub(crate) fn order(&self, target: Target, order: Order) {
        for (connection, orders) in &self.connections {
            if target == Target::All || target == Target::One(*connection) {
                // A connection that just ended obeys no more.
                _ = orders.send(order);
            }
        }
    }

    pub(crate) fn flood(&self, flood: Flood) {
        // The receiver lives as long as the double.
        _ = self.floods.send(flood);
    }

    /// What Discord does to a bot that identifies too often.
    pub(crate) fn reset_token(&mut self) {
        self.token = None;
        self.log.push(Event::TokenReset);
        for session in std::mem::take(&mut self.sessions).into_values() {
            self.log.push(Event::SessionEnded { session: session.id, why: "token reset".to_owned() });
        }
        self.order(Target::All, Order::Close(super::close::Code::AUTHENTICATION_FAILED));
    }
}
