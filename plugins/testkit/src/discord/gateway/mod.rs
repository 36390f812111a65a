//! One gateway connection, from Hello to its end: what it sends, what it is told to do, when its time is up. What it hears is
//! in `hear`.
//!
//! A single task that never waits for one thing alone: it listens and obeys while its client does not read, so a stalled
//! client can still be dropped.

mod hear;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures::{Sink, Stream, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::close::Code;
use super::entry::{Closer, Event};
use super::faults::{Order, Target};
use super::log::ConnectionId;
use super::outbox::Outbox;
use super::protocol;
use super::script::Moment;
use super::sessions::Carried;
use super::shared::Shared;
use super::window::CommandWindow;
use crate::clock;

/// Dispatches taken from the session at a time. An acknowledgement waits behind at most so many.
const BATCH: usize = 256;

/// How long a close frame waits for its answer.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// How long a client may stay after opcode 7.
const RECONNECT_WAIT: Duration = Duration::from_secs(5);

/// The least time past the interval that a heartbeat may be late, so that short intervals don't end sessions on a busy machine.
const HEARTBEAT_GRACE: Duration = Duration::from_secs(2);

/// Frames from clients are at most 4 KiB by rule; what is larger is read so far to be answered with 4002.
const FRAME_BYTES_MAX: usize = 1024 * 1024;

/// What is known when the upgrade was accepted.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) host: String,
    pub(crate) target: String,
    /// What READY names to resume at.
    pub(crate) resume_url: String,
    /// The code to close with instead of saying Hello.
    pub(crate) refuse: Option<Code>,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy)]
struct End {
    by: Closer,
    code: Option<u16>,
}

const DROPPED: End = End { by: Closer::Double, code: None };
const VANISHED: End = End { by: Closer::Transport, code: None };

pub(crate) async fn run(io: Upgraded, opening: Opening, shared: Arc<Shared>) {
    let config =
        WebSocketConfig::default().max_message_size(Some(FRAME_BYTES_MAX)).max_frame_size(Some(FRAME_BYTES_MAX));
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(io), Role::Server, Some(config)).await;
    let (id, orders) = shared.lock().connect(opening.host, opening.target);
    let mut connection = Connection::new(id, opening.resume_url, Arc::clone(&shared));
    match opening.refuse {
        Some(code) => connection.close(code),
        None => connection.greet(),
    }
    let (sink, stream) = socket.split();
    let end = connection.converse(sink, stream, orders).await;
    connection.note_written();
    let last = connection.last_session.take();
    connection.leave();
    shared.lock().disconnect(id, last, end.by, end.code);
    shared.room.notify_waiters();
}

struct Connection {
    id: ConnectionId,
    resume_url: String,
    shared: Arc<Shared>,
    outbox: Outbox,
    session: Option<Carried>,
    /// READY or RESUMED was written, and what follows it may still be on its way.
    moment: Option<Moment>,
    /// For the log: what it carried, also after the session moved on.
    last_session: Option<Arc<str>>,
    commands: CommandWindow,
    hello_at: Option<Instant>,
    heartbeat_by: Option<Instant>,
    reconnect_by: Option<Instant>,
    /// Neither reads nor writes until then.
    stalled: Option<(Instant, Code)>,
    /// The close frame is on its way; this is what will have happened.
    leaving: Option<(Instant, End)>,
}

impl Connection {
    fn new(id: ConnectionId, resume_url: String, shared: Arc<Shared>) -> Self {
        Self {
            id,
            resume_url,
            shared,
            outbox: Outbox::default(),
            session: None,
            moment: None,
            last_session: None,
            commands: CommandWindow::default(),
            hello_at: None,
            heartbeat_by: None,
            reconnect_by: None,
            stalled: None,
            leaving: None,
        }
    }

    async fn converse(
        &mut self,
        mut sink: impl Sink<Message, Error = Error> + Unpin,
        mut stream: impl Stream<Item = Result<Message, Error>> + Unpin,
        mut orders: mpsc::UnboundedReceiver<Order>,
    ) -> End {
        loop {
            self.note_written();
            self.fill();
            let due = self.due();
            let wake = self.session.as_ref().map(|session| Arc::clone(&session.wake));
            let flows = self.stalled.is_none();
            let idle = self.outbox.is_idle();
            let next = tokio::select! {
                biased;
                () = self.shared.stop.cancelled() => ControlFlow::Break(DROPPED),
                Some(order) = orders.recv() => self.obey(order),
                () = until(due) => self.overdue(),
                message = stream.next(), if flows => self.hear(message),
                written = self.outbox.drain(&mut sink), if flows && !idle => match written {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(self.ended()),
                },
                () = woken(wake), if flows && idle => ControlFlow::Continue(()),
            };
            if let ControlFlow::Break(end) = next {
                return end;
            }
        }
    }

    /// Says Hello, or notes when to.
    fn greet(&mut self) {
        let delay = self.shared.lock().faults.hello_delay_ms();
        match delay {
            Some(ms) => self.hello_at = Some(clock::now() + Duration::from_millis(ms)),
            None => self.hello(),
        }
    }

    fn hello(&mut self) {
        self.hello_at = None;
        self.say(protocol::hello(self.shared.script.heartbeat_interval_ms));
        self.expect_heartbeat();
    }

    fn expect_heartbeat(&mut self) {
        let interval = Duration::from_millis(self.shared.script.heartbeat_interval_ms);
        self.heartbeat_by = Some(clock::now() + interval + (interval / 2).max(HEARTBEAT_GRACE));
    }

    fn say(&mut self, text: String) {
        self.outbox.push(Message::text(text));
    }

    /// Moves the session's next dispatches to the outbox once that is empty.
    fn fill(&mut self) {
        if self.leaving.is_some() || self.stalled.is_some() || !self.outbox.is_idle() {
            return;
        }
        let Some(session) = &self.session else { return };
        let taken = self.shared.lock().take(self.id, &session.id, BATCH);
        if taken.is_empty() {
            return;
        }
        self.shared.room.notify_waiters();
        for numbered in taken {
            let frame = numbered.dispatch.frame(numbered.seq, session.content);
            self.outbox.push_dispatch(frame, &session.id, numbered);
        }
    }

    /// Logs what was written, and does what the script says once READY with the guilds, or RESUMED, is out.
    fn note_written(&mut self) {
        let connection = self.id;
        let written = self.outbox.take_written();
        for (_, numbered) in &written {
            match &*numbered.dispatch.kind {
                "READY" => self.moment = Some(Moment::Ready),
                "RESUMED" => self.moment = Some(Moment::Resumed),
                _ => {}
            }
        }
        if !written.is_empty() {
            self.shared.log.extend(written.into_iter().map(|(session, numbered)| Event::Sent {
                connection,
                session,
                seq: numbered.seq,
                kind: Arc::clone(&numbered.dispatch.kind),
                channel: numbered.dispatch.scope.channel,
                message: numbered.dispatch.scope.message,
                again: numbered.again,
            }));
        }
        if !self.outbox.is_idle() {
            return;
        }
        let Some(moment) = self.moment.take() else { return };
        if moment == Moment::Ready {
            self.shared.started.send_replace(true);
        }
        let mut state = self.shared.lock();
        if let Some(action) = state.steps.due_at(moment) {
            state.perform(&action, Target::One(connection));
        }
    }

    fn obey(&mut self, order: Order) -> ControlFlow<End> {
        match order {
            Order::Drop => return ControlFlow::Break(DROPPED),
            _ if self.leaving.is_some() => {}
            Order::Reconnect => {
                self.say(protocol::RECONNECT.to_owned());
                self.reconnect_by = Some(clock::now() + RECONNECT_WAIT);
            }
            Order::RequestHeartbeat => self.say(protocol::REQUEST_HEARTBEAT.to_owned()),
            Order::Invalidate { resumable } => {
                self.leave();
                self.say(protocol::invalid_session(resumable));
            }
            Order::Close(code) => self.close(code),
            Order::SlowClose { ms, code } => self.stalled = Some((clock::now() + Duration::from_millis(ms), code)),
        }
        ControlFlow::Continue(())
    }

    fn ended(&self) -> End {
        self.leaving.map_or(VANISHED, |(_, end)| end)
    }

    /// When something has to be done that nobody else brings about.
    fn due(&self) -> Option<Instant> {
        if let Some((until, _)) = self.leaving {
            return Some(until);
        }
        if let Some((until, _)) = self.stalled {
            return Some(until);
        }
        [self.hello_at, self.heartbeat_by, self.reconnect_by].into_iter().flatten().min()
    }

    fn overdue(&mut self) -> ControlFlow<End> {
        let now = clock::now();
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if let Some((_, end)) = self.leaving {
            return ControlFlow::Break(end);
        }
        if let Some((_, code)) = self.stalled.take() {
            self.close(code);
        } else if passed(self.hello_at) {
            self.hello();
        } else if passed(self.reconnect_by) {
            self.close(Code::UNKNOWN_ERROR);
        } else if passed(self.heartbeat_by) {
            self.close(Code::SESSION_TIMED_OUT);
        }
        ControlFlow::Continue(())
    }
}

async fn woken(wake: Option<Arc<tokio::sync::Notify>>) {
    match wake {
        Some(wake) => wake.notified().await,
        None => std::future::pending().await,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
