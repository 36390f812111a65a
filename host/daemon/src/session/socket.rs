//! One socket: a task that dials, reads and watches for silence, and one that writes. The session's loop waits for neither.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use jackfield_engine::egress::{Gate, Incoming, SocketReader, SocketWriter};
use jackfield_model::Blob;
use jackfield_model::session::Cause;
use jackfield_model::wire::SocketRequest;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

/// Frames that may wait to be written: many full calls of acknowledgements, so that only a platform that does not read fills
/// it, never a writer that was not scheduled for a moment.
const OUTGOING_FRAMES_MAX: usize = 4_096;
/// Bytes that may wait to be written, likewise.
const OUTGOING_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes read and not told yet, over the frames of one socket. A single larger frame still gets through alone.
const INCOMING_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A ping is sent after this share of the allowed silence: two can be lost before the socket counts as broken.
const PINGS_PER_SILENCE: u32 = 3;

/// What a socket has to say.
pub(super) struct News {
    /// Which socket: labels are reused, numbers are not.
    pub number: u64,
    /// What.
    pub what: What,
}

/// What happened on a socket.
pub(super) enum What {
    /// It opened.
    Opened,
    /// A message. The permit is given back when the message is told.
    Message(Blob, OwnedSemaphorePermit),
    /// A sign of life without a message.
    Alive,
    /// It is gone.
    Closed(Cause),
    /// A frame was over the limit of this name.
    TooLarge(&'static str),
}

enum Out {
    Frame { message: Blob, secrets: Vec<String> },
    Ping,
    Close { code: Option<u16>, reason: String },
}

/// The session's end of a socket. Dropping it drops the connection without a close frame.
pub(super) struct Socket {
    outgoing: mpsc::Sender<Out>,
    waiting: Arc<AtomicUsize>,
    received: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

/// A socket whose frames could not be taken: the platform does not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clogged;

impl Socket {
    /// Dials. Everything that follows comes through `news`.
    pub(super) fn dial(gate: Gate, request: SocketRequest, number: u64, news: mpsc::Sender<News>) -> Self {
        let (outgoing, written) = mpsc::channel(OUTGOING_FRAMES_MAX);
        let waiting = Arc::new(AtomicUsize::new(0));
        let pings = outgoing.clone();
        let written = (written, waiting.clone());
        let received = Arc::new(AtomicU64::new(0));
        let tell = Tell::new(number, news, received.clone());
        let task = tokio::spawn(live(gate, request, tell, pings, written));
        Self { outgoing, waiting, received, task }
    }

    /// How much it has had to say so far, signs of life left out: what was handed over, and what waits for that.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Queues a frame; secrets are filled in when it is written.
    pub(super) fn send(&self, message: Blob, secrets: Vec<String>) -> Result<(), Clogged> {
        let bytes = message.len();
        if self.waiting.fetch_add(bytes, Ordering::Relaxed) + bytes > OUTGOING_BYTES_MAX.max(bytes) {
            return Err(Clogged);
        }
        match self.outgoing.try_send(Out::Frame { message, secrets }) {
            // It has ended, and says why behind what it still had to say.
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(Clogged),
        }
    }

    /// Closes with this code after what is queued, in the background and not for longer than `patience`.
    pub(super) fn close(mut self, code: u16, reason: String, patience: Duration) -> JoinHandle<()> {
        let asked = self.outgoing.try_send(Out::Close { code: Some(code), reason }).is_ok();
        let task = std::mem::replace(&mut self.task, tokio::spawn(async {}));
        tokio::spawn(async move {
            let abort = task.abort_handle();
            if !asked || tokio::time::timeout(patience, task).await.is_err() {
                abort.abort();
            }
        })
    }

    /// Waits until what is queued is written, then drops the connection without a close frame.
    pub(super) async fn drop_when_written(self) {
        while self.waiting.load(Ordering::Relaxed) > 0 && !self.task.is_finished() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[cfg(test)]
impl Socket {
    /// Nothing is written any more. Its last word may still wait to be taken in.
    pub(super) fn has_ended(&self) -> bool {
        self.outgoing.is_closed()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A socket from its dial to its end. Says exactly one last thing, unless nobody listens any more.
async fn live(gate: Gate, request: SocketRequest, tell: Tell, pings: mpsc::Sender<Out>, outgoing: Outgoing) {
    let silence = request.silence;
    let last = match gate.open(request).await {
        Err(cause) => What::Closed(cause),
        Ok(socket) => {
            let (writer, reader) = socket.split();
            if !tell.say(What::Opened).await {
                return;
            }
            tokio::select! {
                last = read(reader, &tell, &pings, silence) => last,
                cause = write(writer, outgoing) => What::Closed(cause),
            }
        }
    };
    tell.say(last).await;
}

/// Frames to write, and the count of their bytes.
type Outgoing = (mpsc::Receiver<Out>, Arc<AtomicUsize>);

struct Tell {
    number: u64,
    news: mpsc::Sender<News>,
    received: Arc<AtomicU64>,
    budget: Arc<Semaphore>,
}

impl Tell {
    fn new(number: u64, news: mpsc::Sender<News>, received: Arc<AtomicU64>) -> Self {
        Self { number, news, received, budget: Arc::new(Semaphore::new(INCOMING_BYTES_MAX)) }
    }

    /// `false` when nobody listens any more.
    async fn say(&self, what: What) -> bool {
        self.count();
        self.send(what).await
    }

    async fn message(&self, message: Blob) -> bool {
        self.count();
        let bytes = u32::try_from(message.len().min(INCOMING_BYTES_MAX)).unwrap_or(u32::MAX);
        match self.budget.clone().acquire_many_owned(bytes).await {
            Ok(permit) => self.send(What::Message(message, permit)).await,
            Err(_) => false,
        }
    }

    /// Counted before it is handed over: it was received, however long it then waits for room.
    fn count(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    async fn send(&self, what: What) -> bool {
        self.news.send(News { number: self.number, what }).await.is_ok()
    }
}

/// Reads until it is over, and says why. The clock of silence stands still while a message waits to be taken.
async fn read(mut reader: SocketReader, tell: &Tell, pings: &mpsc::Sender<Out>, silence: Duration) -> What {
    let pause = (silence / PINGS_PER_SILENCE).max(Duration::from_millis(1));
    let mut silent = 0;
    loop {
        match tokio::time::timeout(pause, reader.next()).await {
            Err(_) => {
                silent += 1;
                if silent >= PINGS_PER_SILENCE {
                    return What::Closed(Cause::Broken(format!("not a byte for {} ms", silence.as_millis())));
                }
                // Where the queue is full there is traffic enough.
                let _ = pings.try_send(Out::Ping);
            }
            Ok(Incoming::Message(message)) => {
                silent = 0;
                if !tell.message(message).await {
                    return What::Closed(Cause::Ours);
                }
            }
            Ok(Incoming::Activity) => {
                silent = 0;
                // A full channel shows life by itself.
                let _ = tell.news.try_send(News { number: tell.number, what: What::Alive });
            }
            Ok(Incoming::Closed(cause)) => return What::Closed(cause),
            Ok(Incoming::TooLarge { limit }) => return What::TooLarge(limit),
        }
    }
}

/// Writes until that fails or the connector closes the socket.
async fn write(mut writer: SocketWriter, (mut frames, waiting): Outgoing) -> Cause {
    while let Some(out) = frames.recv().await {
        let written = match out {
            Out::Frame { message, secrets } => {
                let bytes = message.len();
                let written = writer.send(message, &secrets).await;
                waiting.fetch_sub(bytes, Ordering::Relaxed);
                written
            }
            Out::Ping => writer.ping().await,
            Out::Close { code, reason } => {
                // The peer may be gone already: it is closed either way.
                let _ = writer.close(code, &reason).await;
                return Cause::Ours;
            }
        };
        if let Err(fault) = written {
            return Cause::Broken(fault.to_string());
        }
    }
    Cause::Ours
}
