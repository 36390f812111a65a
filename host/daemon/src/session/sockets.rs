//! The sockets of a session, by label: what status shows of them, and what a call may see.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::egress::Gate;
use jackfield_engine::runtime::SocketView;
use jackfield_model::Blob;
use jackfield_model::clock::SharedClock;
use jackfield_model::session::{Cause, Signal};
use jackfield_model::wire::SocketRequest;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::queue::Queue;
use super::socket::{Clogged, News, Socket, What};
use crate::connection::facts::Facts;
use crate::status;

/// Messages that wait between all sockets and the loop. The loop takes a call's worth at a time.
const NEWS_MAX: usize = 64;
/// What a closing handshake may take before the connection is dropped.
const CLOSE_PATIENCE: Duration = Duration::from_secs(2);

struct Slot {
    number: u64,
    request: Arc<SocketRequest>,
    open: bool,
    held: bool,
    /// How much of what it received was taken in.
    taken: u64,
    socket: Socket,
}

/// How much each socket had received at some moment, by its number.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Received(Vec<(u64, u64)>);

/// A frame that was too large: nothing that a new connection could change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge {
    /// The limit's name.
    pub limit: &'static str,
}

/// The sockets of a session.
pub(super) struct Sockets {
    gate: Gate,
    clock: SharedClock,
    facts: Arc<Facts>,
    slots: BTreeMap<String, Slot>,
    next: u64,
    tell: mpsc::Sender<News>,
    news: mpsc::Receiver<News>,
    closing: Vec<JoinHandle<()>>,
}

impl Sockets {
    /// None yet.
    pub(super) fn new(gate: Gate, clock: SharedClock, facts: Arc<Facts>) -> Self {
        let (tell, news) = mpsc::channel(NEWS_MAX);
        Self { gate, clock, facts, slots: BTreeMap::new(), next: 0, tell, news, closing: Vec::new() }
    }

    /// Dials. An open socket of this label is dropped first, and what it still had to say with it.
    pub(super) fn open(&mut self, label: String, request: SocketRequest, queue: &mut Queue) {
        self.slots.remove(&label);
        queue.forget_socket(&label);
        self.next += 1;
        let origin = origin(&request.url);
        let socket = Socket::dial(self.gate.clone(), request.clone(), self.next, self.tell.clone());
        let since = self.clock.now();
        let shown = status::Socket { origin, open: false, since, last_byte: None, held: false };
        self.facts.update(|known| known.sockets.insert(label.clone(), shown));
        let slot = Slot { number: self.next, request: Arc::new(request), open: false, held: false, taken: 0, socket };
        self.slots.insert(label, slot);
    }

    /// Queues a frame. A socket that takes no more is broken.
    pub(super) fn send(&mut self, label: &str, message: Blob, secrets: Vec<String>, queue: &mut Queue) {
        let Some(slot) = self.slots.get(label) else { return };
        if slot.socket.send(message, secrets) == Err(Clogged) {
            let cause = Cause::Broken("the platform takes no more frames".to_owned());
            self.gone(label, cause, queue);
        }
    }

    /// Closes a socket as the connector asked, and tells it so.
    pub(super) fn close(&mut self, label: &str, code: Option<u16>, reason: String, queue: &mut Queue) {
        let ended = queue.forget_socket(label);
        let slot = self.slots.remove(label);
        if slot.is_none() && !ended {
            return;
        }
        self.facts.update(|known| known.sockets.remove(label));
        if let (Some(slot), Some(code)) = (slot, code) {
            self.closing.retain(|task| !task.is_finished());
            self.closing.push(slot.socket.close(code, reason, CLOSE_PATIENCE));
        }
        queue.push(Signal::Closed { label: label.to_owned(), cause: Cause::Ours });
    }

    /// Waits for something to happen on a socket.
    pub(super) async fn news(&mut self) -> News {
        match self.news.recv().await {
            Some(news) => news,
            // `self.tell` is a sender: the channel can't end.
            None => std::future::pending().await,
        }
    }

    /// How much every socket has received by now.
    pub(super) fn received(&self) -> Received {
        Received(self.slots.values().map(|slot| (slot.number, slot.socket.received())).collect())
    }

    /// Whether all of it was taken in. What a socket that is gone still had to say was taken back with it.
    pub(super) fn has_taken(&self, Received(counts): &Received) -> bool {
        let behind = |slot: &Slot| counts.iter().any(|(number, count)| *number == slot.number && slot.taken < *count);
        !self.slots.values().any(behind)
    }

    /// Takes in what happened. News of a socket that was replaced is nobody's.
    pub(super) fn take(&mut self, News { number, what }: News, queue: &mut Queue) -> Result<(), TooLarge> {
        let Some((label, slot)) = self.slots.iter_mut().find(|(_, slot)| slot.number == number) else { return Ok(()) };
        let label = label.clone();
        let now = self.clock.now();
        slot.taken += u64::from(!matches!(what, What::Alive));
        match what {
            What::Opened => {
                slot.open = true;
                self.facts.update(|known| {
                    known.counters.sockets_opened += 1;
                    if let Some(socket) = known.sockets.get_mut(&label) {
                        (socket.open, socket.since, socket.last_byte) = (true, now, Some(now));
                    }
                });
                queue.push(Signal::Opened(label));
            }
            What::Message(message, _permit) => {
                self.alive(&label);
                queue.push(Signal::Message { label, message });
            }
            What::Alive => self.alive(&label),
            What::Closed(cause) => self.gone(&label, cause, queue),
            What::TooLarge(limit) => return Err(TooLarge { limit }),
        }
        Ok(())
    }

    fn alive(&self, label: &str) {
        let now = self.clock.now();
        self.facts.update(|known| {
            if let Some(socket) = known.sockets.get_mut(label) {
                socket.last_byte = Some(now);
            }
        });
    }

    fn gone(&mut self, label: &str, cause: Cause, queue: &mut Queue) {
        self.slots.remove(label);
        self.facts.update(|known| known.sockets.remove(label));
        self.facts.trouble(format!("socket {label}: {}", why(&cause)));
        queue.push(Signal::Closed { label: label.to_owned(), cause });
    }

    /// The host stops reading, or reads again: open sockets are told once.
    pub(super) fn hold(&mut self, held: bool, queue: &mut Queue) {
        for (label, slot) in &mut self.slots {
            if slot.open && slot.held != held {
                slot.held = held;
                queue.push(if held { Signal::Held(label.clone()) } else { Signal::Flowing(label.clone()) });
                self.facts.update(|known| {
                    if let Some(socket) = known.sockets.get_mut(label) {
                        socket.held = held;
                    }
                });
            }
        }
    }

    /// What a call may see.
    pub(super) fn view(&self) -> BTreeMap<String, SocketView> {
        let view = |slot: &Slot| SocketView { request: slot.request.clone(), open: slot.open };
        self.slots.iter().map(|(label, slot)| (label.clone(), view(slot))).collect()
    }

    /// Labels, and whether each is open.
    pub(super) fn states(&self) -> Vec<(String, bool)> {
        self.slots.iter().map(|(label, slot)| (label.clone(), slot.open)).collect()
    }

    /// Lets what is queued be written and closing handshakes end, then drops the rest without a close frame.
    pub(super) async fn finish(mut self) {
        for (_, slot) in std::mem::take(&mut self.slots) {
            slot.socket.drop_when_written().await;
        }
        for task in self.closing.drain(..) {
            let _ = task.await;
        }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        self.facts.update(|known| known.sockets.clear());
    }
}

/// Why a socket is gone, for people.
fn why(cause: &Cause) -> String {
    match cause {
        Cause::Refused(response) => format!("the platform answered the upgrade with {}", response.status),
        Cause::Failed(fault) => format!("it did not open, {fault}"),
        Cause::Peer { code: Some(code), reason } if reason.is_empty() => format!("the platform closed it with {code}"),
        Cause::Peer { code: Some(code), reason } => format!("the platform closed it with {code} ({reason})"),
        Cause::Peer { code: None, .. } => "the platform closed it without a code".to_owned(),
        Cause::Broken(what) => format!("it broke, {what}"),
        Cause::Ours => "the connector closed it".to_owned(),
    }
}

/// Scheme, host and port of a URL, for status: paths and queries can carry secrets.
fn origin(url: &str) -> String {
    url::Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

#[cfg(test)]
#[path = "sockets_tests.rs"]
mod tests;
