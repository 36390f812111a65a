//! The data of a store: one field for each part of the host that a guest can reach. Each part lends itself a view of its
//! own fields; nobody works on the whole.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::clock::SharedClock;
use jackfield_model::session::Signal;
use wasmtime::component::ResourceTable;

use crate::action::Outbound;
use crate::capability::{session, state};
use crate::effects::Effects;
use crate::limiter::Limiter;
use crate::limits::GuestLimits;
use crate::log::LogSink;
use crate::phase::{Call, Phase};
use crate::runtime::Host;
use crate::wasi::Wasi;

/// What belongs to one instance, and to its running call.
pub(crate) struct Guest {
    pub(crate) limits: GuestLimits,
    pub(crate) limiter: Limiter,
    pub(crate) table: ResourceTable,
    pub(crate) wasi: Wasi,
    pub(crate) log: LogSink,
    pub(crate) clock: SharedClock,
    /// The connector's id, which is the namespace of its platform ids.
    pub(crate) namespace: Arc<str>,
    /// The connection behind it. `None` where no capability may be called.
    pub(crate) host: Option<Host>,
    /// Of a session alone.
    pub(crate) starts: Option<Arc<dyn session::Starts>>,

    /// From here on: of the running call.
    pub(crate) call: Call,
    /// How long it may take.
    pub(crate) limit: Duration,
    /// The tick at which it is over.
    pub(crate) deadline: u64,
    /// Ticks at which it was found computing rather than waiting.
    pub(crate) busy: u64,
    /// Of an action alone.
    pub(crate) outbound: Option<Outbound>,
    pub(crate) effects: Effects,
    pub(crate) seen: session::Seen,
    pub(crate) written: state::Written,
    pub(crate) signals: Arc<[Signal]>,
}

impl Guest {
    /// For `transform` and `describe`: no connection, constant clocks and randomness.
    pub(crate) fn pure(limits: GuestLimits, clock: SharedClock, log: LogSink, namespace: Arc<str>) -> Self {
        let wasi = Wasi::constant(Arc::clone(&clock), log.clone());
        Self::new(limits, clock, log, namespace, wasi)
    }

    /// For a session.
    pub(crate) fn session(
        limits: GuestLimits,
        clock: SharedClock,
        namespace: Arc<str>,
        host: Host,
        starts: Arc<dyn session::Starts>,
    ) -> Self {
        let guest = Self::action(limits, clock, host.log.clone(), namespace);
        Self { host: Some(host), starts: Some(starts), ..guest }
    }

    /// For actions: the connection comes with each call.
    pub(crate) fn action(limits: GuestLimits, clock: SharedClock, log: LogSink, namespace: Arc<str>) -> Self {
        let wasi = Wasi::live(Arc::clone(&clock), log.clone());
        Self::new(limits, clock, log, namespace, wasi)
    }

    fn new(limits: GuestLimits, clock: SharedClock, log: LogSink, namespace: Arc<str>, wasi: Wasi) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles as usize);
        Self {
            limits,
            limiter: Limiter::new(limits.memory),
            table,
            wasi,
            log,
            clock,
            namespace,
            host: None,
            starts: None,
            call: Call::new(Phase::Instantiate),
            limit: limits.call,
            deadline: 0,
            busy: 0,
            outbound: None,
            effects: Effects::default(),
            seen: session::Seen::default(),
            written: state::Written::default(),
            signals: Arc::default(),
        }
    }

    /// Forgets the call before, and begins one of this kind that may last so long, until that tick.
    pub(crate) fn begin(&mut self, phase: Phase, limit: Duration, deadline: u64) {
        self.call = Call::new(phase);
        self.limit = limit;
        self.deadline = deadline;
        self.busy = 0;
        self.outbound = None;
        self.effects = Effects::default();
        self.seen = session::Seen::default();
        self.written = state::Written::default();
        self.signals = Arc::default();
        self.limiter.refused = false;
        self.wasi.begin();
    }

    /// Resources alive in the host's table.
    pub(crate) fn handles(&mut self) -> usize {
        self.table.iter_mut().count()
    }
}
