//! What waits to be written to one socket. Writing can be broken off at any point and taken up again without losing a frame,
//! so a connection can listen and obey while its client does not read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Poll, ready};

use futures::{Sink, SinkExt as _};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::replay::Numbered;

/// A dispatch, and for which session it was.
type Sent = (Arc<str>, Numbered);

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<(Message, Option<Sent>)>,
    written: Vec<Sent>,
    unflushed: bool,
}

impl Outbox {
    pub(crate) fn push(&mut self, message: Message) {
        self.waiting.push_back((message, None));
    }

    pub(crate) fn push_dispatch(&mut self, frame: String, session: &Arc<str>, numbered: Numbered) {
        self.waiting.push_back((Message::text(frame), Some((Arc::clone(session), numbered))));
    }

    /// Nothing waits, and everything written is flushed.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.unflushed
    }

    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// The dispatches written since the last call.
    pub(crate) fn take_written(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.written)
    }

    /// Writes and flushes everything.
    pub(crate) async fn drain(&mut self, sink: &mut (impl Sink<Message, Error = Error> + Unpin)) -> Result<(), Error> {
        std::future::poll_fn(|context| {
            while !self.waiting.is_empty() {
                ready!(sink.poll_ready_unpin(context))?;
                let Some((message, sent)) = self.waiting.pop_front() else { break };
                self.unflushed = true;
                sink.start_send_unpin(message)?;
                self.written.extend(sent);
            }
            ready!(sink.poll_flush_unpin(context))?;
            self.unflushed = false;
            Poll::Ready(Ok(()))
        })
        .await
    }
}
