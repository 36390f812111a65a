//! A session: what an identify began, and what outlives the sockets that carry it.

use std::sync::Arc;

use tokio::sync::Notify;

use super::dispatch::Dispatch;
use super::intents::Intents;
use super::log::ConnectionId;
use super::replay::Replay;

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) intents: Intents,
    pub(crate) shard: (u64, u64),
    pub(crate) replay: Replay,
    /// Told when there is something to send.
    pub(crate) wake: Arc<Notify>,
    /// Alive on its socket, but a resume will be told that it is unknown.
    pub(crate) forgotten: bool,
    carrier: Carrier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    Socket(ConnectionId),
    /// Without a socket since, in milliseconds of the double's clock.
    None {
        since_ms: u64,
    },
}

impl Session {
    pub(crate) fn new(id: Arc<str>, intents: Intents, shard: (u64, u64), replay_max: usize, on: ConnectionId) -> Self {
        Self {
            id,
            intents,
            shard,
            replay: Replay::new(replay_max),
            wake: Arc::new(Notify::new()),
            forgotten: false,
            carrier: Carrier::Socket(on),
        }
    }

    /// The socket that carries it.
    pub(crate) fn socket(&self) -> Option<ConnectionId> {
        match self.carrier {
            Carrier::Socket(connection) => Some(connection),
            Carrier::None { .. } => None,
        }
    }

    pub(crate) fn attach(&mut self, connection: ConnectionId) {
        self.carrier = Carrier::Socket(connection);
    }

    pub(crate) fn detach(&mut self, now_ms: u64) {
        self.carrier = Carrier::None { since_ms: now_ms };
    }

    /// Gives it the dispatch if it asked for that kind.
    pub(crate) fn offer(&mut self, dispatch: &Arc<Dispatch>) {
        if dispatch.reaches(self.intents, self.shard) {
            self.replay.push(Arc::clone(dispatch));
            self.wake.notify_one();
        }
    }

    /// Gives it what belongs to its connection, whatever it asked for.
    pub(crate) fn offer_control(&mut self, dispatch: Arc<Dispatch>) {
        self.replay.push(dispatch);
        self.wake.notify_one();
    }

    /// Why it can't be resumed any more, if so.
    pub(crate) fn over(&self, now_ms: u64, window_ms: u64) -> Option<&'static str> {
        let Carrier::None { since_ms } = self.carrier else { return None };
        if now_ms.saturating_sub(since_ms) > window_ms {
            return Some("resume window passed");
        }
        self.replay.overflowed().then_some("more dispatches than are kept for a replay")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discord::dispatch::Scope;

    fn session() -> Session {
        Session::new("s".into(), Intents(0), (0, 1), 2, 1)
    }

    #[test]
    fn outlives_its_socket_for_the_window() {
        let mut session = session();
        assert_eq!(session.over(10_000, 100), None);
        session.detach(10_000);
        assert_eq!(session.over(10_100, 100), None);
        assert!(session.over(10_101, 100).is_some());
        session.attach(2);
        assert_eq!(session.over(99_999, 100), None);
    }

    #[test]
    fn is_over_when_more_waits_than_is_kept() {
        let mut session = session();
        session.detach(0);
        for _ in 0..3 {
            assert!(session.over(0, 100).is_none());
            let dispatch = Dispatch::new("INTERACTION_CREATE".into(), "{}".to_owned(), Scope::default());
            session.offer(&Arc::new(dispatch));
        }
        assert!(session.over(0, 100).is_some());
    }
}
