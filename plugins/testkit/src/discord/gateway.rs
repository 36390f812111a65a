//! One gateway connection, from Hello to its end: what it hears, what it sends, what it is told to do.
//!
//! A single task that never waits for one thing alone: it listens and obeys while its client does not read, so a stalled
//! client can still be dropped.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures::{Sink, Stream, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::close::Code;
use super::entry::{Closer, Event};
use super::faults::{Order, Target};
use super::log::ConnectionId;
use super::outbox::Outbox;
use super::protocol::{self, Command};
use super::script::{Action, Moment};
use super::sessions::{Answer, Carried};
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
                message = stream.next(), if flows => self.hear(message),
                written = self.outbox.drain(&mut sink), if flows && !idle => match written {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(self.ended()),
                },
                () = woken(wake), if flows && idle => ControlFlow::Continue(()),
                () = until(due) => self.overdue(),
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
            self.outbox.push_dispatch(frame, numbered);
        }
    }

    /// Logs what was written, and does what the script says at READY and RESUMED.
    fn note_written(&mut self) {
        let written = self.outbox.take_written();
        let Some(session) = self.last_session.clone().filter(|_| !written.is_empty()) else { return };
        let mut moment = None;
        for numbered in &written {
            match &*numbered.dispatch.kind {
                "READY" => moment = Some(Moment::Ready),
                "RESUMED" => moment = Some(Moment::Resumed),
                _ => {}
            }
        }
        let connection = self.id;
        self.shared.log.extend(written.into_iter().map(|numbered| Event::Sent {
            connection,
            session: Arc::clone(&session),
            seq: numbered.seq,
            kind: Arc::clone(&numbered.dispatch.kind),
            channel: numbered.dispatch.scope.channel,
            message: numbered.dispatch.scope.message,
            again: numbered.again,
        }));
        let Some(moment) = moment else { return };
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
            Order::Invalidate { resumable } => {
                self.leave();
                self.say(protocol::invalid_session(resumable));
            }
            Order::Close(code) => self.close(code),
            Order::SlowClose { ms, code } => self.stalled = Some((clock::now() + Duration::from_millis(ms), code)),
        }
        ControlFlow::Continue(())
    }

    fn hear(&mut self, message: Option<Result<Message, Error>>) -> ControlFlow<End> {
        match message {
            None | Some(Err(Error::ConnectionClosed | Error::AlreadyClosed)) => ControlFlow::Break(self.ended()),
            Some(Err(Error::Capacity(_))) if self.leaving.is_none() => {
                self.close(Code::DECODE_ERROR);
                ControlFlow::Continue(())
            }
            Some(Err(_)) => ControlFlow::Break(self.ended()),
            Some(Ok(Message::Close(frame))) => {
                self.client_closes(frame.as_ref());
                ControlFlow::Continue(())
            }
            Some(Ok(_)) if self.leaving.is_some() => ControlFlow::Continue(()),
            Some(Ok(Message::Text(text))) => {
                self.answer(text.as_str());
                ControlFlow::Continue(())
            }
            Some(Ok(Message::Binary(_))) => {
                self.close(Code::DECODE_ERROR);
                ControlFlow::Continue(())
            }
            Some(Ok(_)) => ControlFlow::Continue(()),
        }
    }

    fn client_closes(&mut self, frame: Option<&CloseFrame>) {
        if self.leaving.is_some() {
            return;
        }
        let code = frame.map(|frame| u16::from(frame.code));
        let ends = code.is_some_and(|code| Code(code).received_ends_session());
        if let Some(session) = self.session.take() {
            let mut state = self.shared.lock();
            if ends {
                state.end_session(&session.id, "closed by the client with 1000 or 1001");
            } else {
                state.leave(self.id, &session.id);
            }
        }
        self.shared.room.notify_waiters();
        self.outbox.clear();
        self.leaving = Some((clock::now() + CLOSE_WAIT, End { by: Closer::Client, code }));
    }

    fn answer(&mut self, text: &str) {
        if !self.commands.admits(clock::now()) {
            return self.close(Code::RATE_LIMITED);
        }
        match protocol::parse(text) {
            Err(code) => self.close(code),
            Ok(Command::Heartbeat(seq)) => {
                self.expect_heartbeat();
                let session = self.session.as_ref().map(|session| &session.id);
                let acked = self.shared.lock().heartbeat(self.id, session, seq);
                if acked {
                    self.say(protocol::ACK.to_owned());
                }
            }
            Ok(Command::Identify(_) | Command::Resume(_)) if self.session.is_some() => {
                self.close(Code::ALREADY_AUTHENTICATED);
            }
            Ok(Command::Identify(identify)) => {
                let answer = self.shared.lock().identify(self.id, &identify, &self.resume_url);
                self.take_up(answer);
            }
            Ok(Command::Resume(resume)) => {
                let answer = self.shared.lock().resume(self.id, &resume);
                self.take_up(answer);
            }
            Ok(Command::Ignored) if self.session.is_none() => self.close(Code::NOT_AUTHENTICATED),
            Ok(Command::Ignored) => {}
        }
    }

    fn take_up(&mut self, answer: Answer) {
        match answer {
            Answer::Carry(session) => {
                self.last_session = Some(Arc::clone(&session.id));
                self.session = Some(session);
            }
            Answer::Invalid => self.say(protocol::invalid_session(false)),
            Answer::Close(code) => self.close(code),
            Answer::Scripted(action) => self.answer_as_scripted(&action),
        }
    }

    /// The steps that may stand for the answer to an identify; a script with others is refused before it runs.
    fn answer_as_scripted(&mut self, action: &Action) {
        self.shared.lock().perform(action, Target::One(self.id));
    }

    fn close(&mut self, code: Code) {
        if let Some(session) = self.session.take() {
            let mut state = self.shared.lock();
            if code.sent_ends_session() {
                state.end_session(&session.id, &format!("closed by the double with {}", code.0));
            } else {
                state.leave(self.id, &session.id);
            }
        }
        self.shared.room.notify_waiters();
        let frame = CloseFrame { code: code.0.into(), reason: code.reason().into() };
        self.outbox.push(Message::Close(Some(frame)));
        self.leaving = Some((clock::now() + CLOSE_WAIT, End { by: Closer::Double, code: Some(code.0) }));
    }

    /// Lets the session wait for a resume.
    fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            self.shared.lock().leave(self.id, &session.id);
        }
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
