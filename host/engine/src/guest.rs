//! The data of a store: one field for each part of the host that a guest can reach. Each part lends itself a view of its
//! own fields; nobody works on the whole.

use std::sync::Arc;

use jackfield_model::clock::SharedClock;
use jackfield_model::session::Signal;
use wasmtime::component::ResourceTable;

use crate::capability::{contacts, http, lease, session, state};
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
    pub(crate) outbound: Outbound,

    /// From here on: of the running call.
    pub(crate) call: Call,
    /// The tick at which it is over.
    pub(crate) deadline: u64,
    pub(crate) effects: Effects,
    pub(crate) seen: session::Seen,
    pub(crate) written: state::Written,
    pub(crate) signals: Arc<[Signal]>,
}

/// What only `webhook` and `action` may call. Empty until something serves them.
#[derive(Default)]
pub(crate) struct Outbound {
    pub(crate) directory: Option<Arc<dyn contacts::Directory>>,
    pub(crate) locks: Option<Arc<dyn lease::Locks>>,
    pub(crate) client: Option<Arc<dyn http::Client>>,
}

impl Guest {
    /// For `transform` and `describe`: no connection, constant clocks and randomness.
    pub(crate) fn pure(limits: GuestLimits, clock: SharedClock, log: LogSink, namespace: Arc<str>) -> Self {
        let wasi = Wasi::constant(Arc::clone(&clock), log.clone());
        Self::new(limits, clock, log, namespace, wasi, None)
    }

    /// For a session.
    pub(crate) fn session(limits: GuestLimits, clock: SharedClock, namespace: Arc<str>, host: Host) -> Self {
        let log = host.log.clone();
        let wasi = Wasi::live(Arc::clone(&clock), log.clone());
        Self::new(limits, clock, log, namespace, wasi, Some(host))
    }

    fn new(
        limits: GuestLimits,
        clock: SharedClock,
        log: LogSink,
        namespace: Arc<str>,
        wasi: Wasi,
        host: Option<Host>,
    ) -> Self {
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
            host,
            outbound: Outbound::default(),
            call: Call::new(Phase::Instantiate),
            deadline: 0,
            effects: Effects::default(),
            seen: session::Seen::default(),
            written: state::Written::default(),
            signals: Arc::default(),
        }
    }

    /// Forgets the call before, and begins one of this kind that may last until that tick.
    pub(crate) fn begin(&mut self, phase: Phase, deadline: u64) {
        self.call = Call::new(phase);
        self.deadline = deadline;
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
