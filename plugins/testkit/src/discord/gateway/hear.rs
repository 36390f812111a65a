//! What a connection hears from its client, and how it ends because of it.

use std::ops::ControlFlow;
use std::sync::Arc;

use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{CLOSE_WAIT, Connection, End};
use crate::clock;
use crate::discord::close::Code;
use crate::discord::entry::Closer;
use crate::discord::faults::Target;
use crate::discord::protocol::{self, Command};
use crate::discord::script::Action;
use crate::discord::sessions::Answer;

impl Connection {
    pub(super) fn hear(&mut self, message: Option<Result<Message, Error>>) -> ControlFlow<End> {
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

    pub(super) fn close(&mut self, code: Code) {
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
    pub(super) fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            self.shared.lock().leave(self.id, &session.id);
        }
    }
}
