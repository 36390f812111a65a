//! What the tasks of one double share.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::faults::Flood;
use super::log::Log;
use super::script::Script;
use super::state::State;
use crate::clock::Clock;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) address: SocketAddr,
    pub(crate) script: Arc<Script>,
    pub(crate) log: Log,
    /// True from the first READY on.
    pub(crate) started: watch::Sender<bool>,
    /// Told when fewer dispatches wait for a socket.
    pub(crate) room: Notify,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
    state: Mutex<State>,
}

impl Shared {
    pub(crate) fn new(
        address: SocketAddr,
        script: Script,
        token: String,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Flood>) {
        let clock = Clock::start();
        let log = Log::new(clock);
        let script = Arc::new(script);
        let (floods, receiver) = mpsc::unbounded_channel();
        let state = State::new(Arc::clone(&script), token, log.clone(), clock, floods);
        let shared = Self {
            address,
            script,
            log,
            started: watch::Sender::new(false),
            room: Notify::new(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            state: Mutex::new(state),
        };
        (Arc::new(shared), receiver)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The double's own addresses.
    pub(crate) fn origin(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.address)
    }

    /// Waits until every session with a socket has room for more.
    pub(crate) async fn room(&self) {
        loop {
            let mut told = pin!(self.room.notified());
            told.as_mut().enable();
            if self.stop.is_cancelled() || self.lock().has_room() {
                return;
            }
            tokio::select! {
                () = told => {}
                () = self.stop.cancelled() => {}
            }
        }
    }
}
