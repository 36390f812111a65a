//! The loop of a session.

mod apply;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::CallFailure;
use jackfield_engine::runtime::View;
use jackfield_model::session::{SessionFault, Signal, StartContext, StartFault, StartReason, StopReason};
use jackfield_model::{Blob, Dispatch, Monotonic, Transport};
use jackfield_store::checkpoint::Checkpoint;
use jackfield_store::commit::{Death, Stage};
use tokio::sync::oneshot;

use super::fetches::Fetches;
use super::guest::{Call, Ended, Guest};
use super::queue::Queue;
use super::sockets::{Sockets, TooLarge};
use super::timers::Timers;
use super::{Beginning, End, Setup};
use crate::inbound::{self, Entry, Inbound};

/// How often one signal may fail before it is set aside.
const SIGNAL_ATTEMPTS_MAX: u32 = 3;
/// Instances that may be lost between two calls that went well, whatever the signals were: a connector that fails on everything
/// would otherwise be restarted for ever on a live socket.
const LOSSES_MAX: u32 = 16;
/// How long the last call of a session may wait for what is unsettled.
const FLUSH_PATIENCE: Duration = Duration::from_secs(2);
/// How long what was asked for in answer to `stopping` may take.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Where the session stands.
#[derive(Clone, Copy)]
enum Phase {
    /// As usual.
    Running,
    /// It is to stop: nothing is read any more, what was read is told and settled, until then at the longest.
    Flushing(StopReason, Monotonic),
    /// `stopping` was told.
    Stopping,
}

pub(super) struct Actor {
    setup: Setup,
    stop: Option<oneshot::Receiver<StopReason>>,
    phase: Phase,
    sockets: Sockets,
    fetches: Fetches,
    timers: Timers,
    queue: Queue,
    /// Signals of a call that failed: they come again one by one.
    again: VecDeque<Signal>,
    /// How often the first of them has failed alone.
    failures: u32,
    losses: u32,
    newest: Option<Blob>,
}

impl Actor {
    pub(super) fn new(setup: Setup, stop: oneshot::Receiver<StopReason>) -> Self {
        let (clock, facts, gate) = (setup.clock.clone(), setup.facts.clone(), setup.spec.gate.clone());
        Self {
            sockets: Sockets::new(gate.clone(), clock, facts.clone()),
            fetches: Fetches::new(gate, facts),
            timers: Timers::default(),
            queue: Queue::default(),
            again: VecDeque::new(),
            failures: 0,
            losses: 0,
            newest: None,
            stop: Some(stop),
            phase: Phase::Running,
            setup,
        }
    }

    pub(super) async fn run(mut self, guest: Guest, Beginning { reason, checkpoint }: Beginning) -> End {
        let context = StartContext {
            reason,
            checkpoint: checkpoint.clone(),
            sockets: Vec::new(),
            timers: Vec::new(),
            fetches: Vec::new(),
        };
        self.newest = checkpoint;
        let call = guest.start(context, self.view());
        let end = self.turn(call).await;
        if !matches!(end, End::Fenced | End::Broken(_)) {
            // What was asked for before the end is done within its time; what is open then is dropped.
            let all = async { tokio::join!(self.sockets.finish(), self.fetches.finish()) };
            let _ = tokio::time::timeout(STOP_PATIENCE, all).await;
        }
        end
    }

    async fn turn(&mut self, first: Call) -> End {
        let mut call: Option<Call> = Some(first);
        let mut idle: Option<Guest> = None;
        loop {
            let pressed = self.setup.inbound.pressure();
            self.sockets.hold(pressed, &mut self.queue);
            let running = matches!(self.phase, Phase::Running);
            if running {
                self.elapse(pressed);
            }
            if let Some(guest) = idle.take() {
                match self.next_call(guest) {
                    Ok(next) => call = Some(next),
                    Err(guest) => idle = Some(guest),
                }
            }
            let flushing = match self.phase {
                Phase::Flushing(reason, until) if idle.is_some() => Some((reason, until)),
                _ => None,
            };
            let inbound = self.setup.inbound.clone();
            tokio::select! {
                biased;
                reason = asked(&mut self.stop) => {
                    self.phase = Phase::Flushing(reason, self.setup.clock.monotonic() + FLUSH_PATIENCE);
                }
                news = inbound.news() => {
                    self.queue.marks(news.marks);
                    match news.ended {
                        Some(inbound::Ended::Fenced) => return End::Fenced,
                        Some(inbound::Ended::Broken(error)) => return End::Broken(error),
                        None => {}
                    }
                }
                signal = self.fetches.next(), if running && !pressed => self.queue.push(signal),
                news = self.sockets.news(), if running && !pressed && self.queue.has_room() => {
                    self.setup.failpoint.hit("frame-read");
                    if let Err(TooLarge { limit }) = self.sockets.take(news, &mut self.queue) {
                        return too_large(limit, self.setup.spec.limits.frame);
                    }
                }
                // What is due elapses above, whatever else keeps the loop awake.
                () = until(self.timers.next()), if running => {}
                reason = flushed(&inbound, flushing) => {
                    self.phase = Phase::Stopping;
                    // Their ends can't be told any more; what is asked for from here on is waited for.
                    self.fetches.abandon();
                    self.queue.push(Signal::Stopping(reason));
                }
                // Behind what happened meanwhile, which is bounded: a guest that is never idle is told of it all the same.
                ended = calling(&mut call) => {
                    call = None;
                    match self.returned(ended) {
                        Ok(Next::Idle(guest)) => idle = Some(guest),
                        Ok(Next::Call(next)) => call = Some(next),
                        Err(end) => return end,
                    }
                    // Its calls may never have to wait: whoever shares the thread has his turn between two of them.
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Timers elapse behind what was received before they came due, and before what is received later. What held sockets and
    /// requests still have counts as not received: the connector knows that it is held, and its heartbeats go on.
    fn elapse(&mut self, held: bool) {
        let now = self.setup.clock.monotonic();
        if self.timers.next().is_some_and(|due| due <= now) {
            if !held {
                while let Some(signal) = self.fetches.next_now() {
                    self.queue.push(signal);
                }
            }
            self.timers.come_due(now, self.sockets.received());
        }
        while let Some(label) = self.timers.elapse(|received| held || self.sockets.has_taken(received)) {
            self.queue.push(Signal::Elapsed(label));
        }
    }

    /// The next call, where there is something to tell; else the guest goes on waiting.
    fn next_call(&mut self, guest: Guest) -> Result<Call, Guest> {
        let signals: Arc<[Signal]> = match self.again.front() {
            Some(signal) => [signal.clone()].into(),
            None if self.queue.is_empty() || self.is_overloaded() => return Err(guest),
            None => self.queue.take().into(),
        };
        let now = self.setup.clock.now();
        self.setup.facts.update(|known| {
            known.last_signal = Some(now);
            known.counters.signals += signals.len() as u64;
        });
        Ok(guest.handle(signals, self.view()))
    }

    /// Whether what a call submits would not fit any more. The last call is made all the same: no other follows it.
    fn is_overloaded(&self) -> bool {
        self.setup.inbound.overload() && !matches!(self.phase, Phase::Stopping)
    }

    fn returned(&mut self, ended: Ended) -> Result<Next, End> {
        self.setup.failpoint.hit("call-returned");
        match ended {
            Ended::Missing(failure) => Err(End::Transient(format!("no instance: {failure}"))),
            // A start that traps, cold or warm, leaves nothing that could go on.
            Ended::Started(_, Err(failure)) => Err(End::Transient(format!("start failed: {failure}"))),
            Ended::Started(guest, Ok(done)) => match done.result {
                Ok(()) => {
                    self.apply(done.effects);
                    self.keep(done.checkpoint);
                    Ok(Next::Idle(guest))
                }
                Err(StartFault::NotConfigured(message)) => Err(End::NotConfigured(message)),
                Err(StartFault::Fatal(message)) => Err(fatal(message)),
                Err(StartFault::Transient(message)) => Err(End::Transient(message)),
            },
            Ended::Handled(mut guest, signals, Ok(done)) => {
                self.losses = 0;
                self.told(&signals);
                self.apply(done.effects);
                self.keep(done.checkpoint);
                match done.result {
                    Ok(()) if matches!(self.phase, Phase::Stopping) && told_to_stop(&signals) => Err(End::Stopped),
                    // It leaks handles: a successor goes on before it runs into its ceiling.
                    Ok(()) if guest.is_worn() => {
                        tracing::info!(connection = %self.setup.spec.id, "instance is worn out, replaced");
                        Ok(Next::Call(self.successor()))
                    }
                    Ok(()) => Ok(Next::Idle(guest)),
                    // It is going anyway: a fault in answer to `stopping` changes nothing.
                    Err(_) if matches!(self.phase, Phase::Stopping) => Err(End::Stopped),
                    Err(SessionFault::Fatal(message)) => Err(fatal(message)),
                    Err(SessionFault::Transient(message)) => Err(End::Transient(message)),
                }
            }
            Ended::Handled(_, signals, Err(failure)) => self.lost(&signals, &failure).map(Next::Call),
        }
    }

    /// A call went well: a signal that came again is done with.
    fn told(&mut self, signals: &[Signal]) {
        if self.again.front().is_some_and(|again| signals.first() == Some(again)) {
            self.again.pop_front();
        }
        self.failures = 0;
    }

    /// The instance is lost. A fresh one goes on from the newest checkpoint, on the live sockets.
    fn lost(&mut self, signals: &[Signal], failure: &CallFailure) -> Result<Call, End> {
        self.losses += 1;
        self.setup.facts.counters(|counters| counters.runtime_traps += 1);
        tracing::warn!(connection = %self.setup.spec.id, error = %failure, signals = signals.len(), "handle failed");
        if told_to_stop(signals) {
            return Err(End::Stopped);
        }
        if self.losses > LOSSES_MAX {
            return Err(End::Transient(format!("{} instances lost in a row; the last: {failure}", self.losses)));
        }
        if self.again.is_empty() {
            self.again.extend(signals.iter().cloned());
        }
        if let [signal] = signals {
            self.failures += 1;
            if self.failures >= SIGNAL_ATTEMPTS_MAX {
                self.set_aside(signal, failure)?;
            }
        }
        Ok(self.successor())
    }

    /// A fresh instance that goes on from the newest checkpoint, on the live sockets.
    fn successor(&self) -> Call {
        self.setup.facts.counters(|counters| counters.recoveries += 1);
        let now = self.setup.clock.monotonic();
        let context = StartContext {
            reason: StartReason::Recover,
            checkpoint: self.newest.clone(),
            sockets: self.sockets.states(),
            timers: self.timers.left(now),
            fetches: self.fetching().into_iter().collect(),
        };
        Guest::restart(&self.setup, context, self.view())
    }

    /// A message or a body that nobody can take is a dead letter; without any other signal the session can't go on.
    fn set_aside(&mut self, signal: &Signal, failure: &CallFailure) -> Result<(), End> {
        let (kind, label) = match signal {
            Signal::Message { label, .. } => ("message", label),
            Signal::Fetched { label, outcome: Ok(_) } => ("fetched", label),
            _ => return Err(End::Transient(format!("a signal can't be handled: {failure}"))),
        };
        let payload = signal.payload().cloned().unwrap_or_else(|| Blob::from(""));
        let context = serde_json::json!({ "label": label }).to_string();
        let dispatch = Dispatch { kind: kind.to_owned(), payload, lane: format!("runtime:{label}"), context };
        let death = Death {
            stage: Stage::Runtime,
            error: failure.to_string(),
            attempts: self.failures,
            digest: self.setup.spec.component.digest(),
        };
        self.setup.inbound.submit(vec![Entry::Dead { dispatch, via: self.via(), death }]);
        self.again.pop_front();
        self.failures = 0;
        Ok(())
    }

    fn via(&self) -> Transport {
        let transports = &self.setup.spec.component.descriptor().transports;
        if transports.contains(&Transport::Socket) { Transport::Socket } else { Transport::Poll }
    }

    fn keep(&mut self, checkpoint: Option<Blob>) {
        let Some(bytes) = checkpoint else { return };
        self.newest = Some(bytes.clone());
        self.setup.inbound.checkpoint(Checkpoint {
            bytes,
            format: self.setup.spec.component.descriptor().writes_checkpoint,
            generation: self.setup.spec.generation,
            stored_at: self.setup.clock.now(),
        });
    }

    fn view(&self) -> View {
        View { sockets: self.sockets.view(), fetches: self.fetching(), timers: self.timers.len() }
    }

    /// Requests whose end is not told yet.
    fn fetching(&self) -> BTreeSet<String> {
        let mut labels = self.fetches.labels();
        labels.extend(self.queue.fetched().cloned());
        labels.extend(self.again.iter().filter_map(|signal| match signal {
            Signal::Fetched { label, .. } => Some(label.clone()),
            _ => None,
        }));
        labels
    }
}

enum Next {
    Idle(Guest),
    Call(Call),
}

fn told_to_stop(signals: &[Signal]) -> bool {
    matches!(signals.last(), Some(Signal::Stopping(_)))
}

fn fatal(message: String) -> End {
    let todo = "mend what the message names; with another component, configuration or secret it starts again by itself at \
                the next start of the host, otherwise `jackfield unpark` lets it";
    End::Parked { code: "fatal", message, todo: todo.to_owned() }
}

fn too_large(limit: &str, bytes: usize) -> End {
    End::Parked {
        code: "frame-limit",
        message: format!("the platform sent a frame over the limit `{limit}` of {bytes} bytes"),
        todo: "raise `limits.frame` of this connection, or find out why the platform sends such frames".to_owned(),
    }
}

async fn asked(stop: &mut Option<oneshot::Receiver<StopReason>>) -> StopReason {
    let reason = match stop {
        Some(receiver) => receiver.await,
        None => std::future::pending().await,
    };
    *stop = None;
    match reason {
        Ok(reason) => reason,
        // Nobody can ask any more.
        Err(_) => std::future::pending().await,
    }
}

async fn calling(call: &mut Option<Call>) -> Ended {
    match call {
        Some(call) => call.await,
        None => std::future::pending().await,
    }
}

/// Waits until everything is settled, or until it is time.
async fn flushed(inbound: &Inbound, flushing: Option<(StopReason, Monotonic)>) -> StopReason {
    let Some((reason, until)) = flushing else { return std::future::pending().await };
    tokio::select! {
        _ = inbound.settled(FLUSH_PATIENCE) => {}
        () = tokio::time::sleep_until(until.into()) => {}
    }
    reason
}

async fn until(due: Option<Monotonic>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
