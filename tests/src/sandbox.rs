//! An engine without a host around it: guests are loaded, pooled and called as the host does, and what they log is kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jackfield_engine::capability::session::Starts;
use jackfield_engine::capability::state::Map;
use jackfield_engine::egress::{Ceilings, Gate, GateConfig, Policy, SystemResolver, Trust};
use jackfield_engine::log::{Line, LogSink};
use jackfield_engine::runtime::{Host, Instance, Rights, View};
use jackfield_engine::secret::Secrets;
use jackfield_engine::transform::{Pool, Received};
use jackfield_engine::{CallFailure, Compiler, Component, Engine, GuestLimits, LoadError, Options, action};
use jackfield_model::session::{Signal, Spend, StartContext, StartReason};
use jackfield_model::{Blob, Dispatch, Fault, Generation, Timestamp, Transport, clock};

use crate::guest::Guest;

/// The time of a call in these tests: long enough for a busy machine, short enough to wait for.
pub const CALL: Duration = Duration::from_millis(500);

/// What a deadline may be late by: two ticks of 10 ms, and what a machine with two processors needs besides under load.
pub const LATE: Duration = Duration::from_millis(400);

/// An engine that compiles in this process, with compiled guests kept between tests.
#[must_use]
pub fn engine() -> Engine {
    engine_with(Compiler::Inline, Some(crate::scratch().join("compiled")))
}

/// An engine that compiles like this.
#[must_use]
pub fn engine_with(compiler: Compiler, cache: Option<PathBuf>) -> Engine {
    Engine::new(Options { cache, compiler, ceilings: jackfield_engine::Ceilings::default(), clock: clock::system() })
        .expect("there is address space for the pool")
}

/// Loads a guest. Of several tests that want the same one at once, one compiles it, and the others take what that one kept.
///
/// # Errors
/// As `Engine::load`.
pub async fn load(engine: &Engine, guest: Guest) -> Result<Component, LoadError> {
    let scratch = crate::scratch();
    fs::create_dir_all(&scratch).expect("make the shared folder");
    let turn = fs::File::create(scratch.join(guest.name).with_extension("lock")).expect("make the lock");
    let turn = tokio::task::spawn_blocking(move || turn.lock().map(|()| turn)).await.expect("nobody panics");
    let _turn = turn.expect("wait for the lock");
    engine.load(guest.bytes()).await
}

/// A guest, loaded, and what it says.
pub struct Bench {
    /// The engine.
    pub engine: Engine,
    /// The component.
    pub component: Component,
    /// What an instance may use.
    pub limits: GuestLimits,
    lines: Arc<Mutex<Vec<Line>>>,
    log: LogSink,
}

impl Bench {
    /// Loads a guest that loads.
    pub async fn new(guest: Guest) -> Self {
        Self::on(engine(), guest).await
    }

    /// Loads it on this engine.
    pub async fn on(engine: Engine, guest: Guest) -> Self {
        let component = load(&engine, guest).await.unwrap_or_else(|error| panic!("{}: {error}", guest.name));
        let lines: Arc<Mutex<Vec<Line>>> = Arc::default();
        let kept = lines.clone();
        let log = LogSink::new(clock::system(), str::to_owned, move |line| kept.lock().unwrap().push(line));
        let limits = GuestLimits { call: CALL, ..GuestLimits::default() };
        Self { engine, component, limits, lines, log }
    }

    /// A pool of one.
    #[must_use]
    pub fn pool(&self) -> Pool {
        Pool::new(&self.component, self.limits, 1, self.log.clone())
    }

    /// A session's instance with nothing but `state`, started; and the effects of that.
    pub async fn session(&self) -> Result<Instance, CallFailure> {
        let mut instance = self.instance(Arc::new(MemoryMap::default())).await?;
        instance.start(fresh(), View::default()).await.map(|_| instance)
    }

    /// A session's instance that has not been started.
    pub async fn instance(&self, state: Arc<dyn Map>) -> Result<Instance, CallFailure> {
        let host = self.host(r#"{"start":"wait"}"#, state);
        Instance::new(&self.component, host, Arc::new(Unlimited), self.limits).await
    }

    /// A pool of one, for actions.
    #[must_use]
    pub fn actions(&self) -> action::Pool {
        action::Pool::new(&self.component, self.limits, 1, self.log.clone())
    }

    /// A connection with this configuration, `state` and nothing else.
    #[must_use]
    pub fn host(&self, config: &str, state: Arc<dyn Map>) -> Host {
        let gate = Gate::new(GateConfig {
            connection: "tested".parse().expect("it is a name"),
            policy: Policy::default(),
            secrets: Arc::new(Secrets::default()),
            ceilings: Ceilings::default(),
            resolver: Arc::new(SystemResolver::new().expect("there is a resolv.conf")),
            trust: Trust::new(Vec::new()).expect("the public roots are roots"),
            clock: clock::system(),
        });
        Host {
            connection: "tested".parse().expect("it is a name"),
            config: config.into(),
            gate,
            state,
            rights: Rights { state_bytes: 64 * 1024 },
            log: self.log.clone(),
            generation: Generation(1),
        }
    }

    /// What was logged so far.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap().clone()
    }

    /// Lines that were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.log.dropped()
    }
}

/// A dispatch with this payload.
#[must_use]
pub fn received(text: &str) -> Received {
    let dispatch = Dispatch {
        kind: "line".to_owned(),
        payload: Blob::from(text),
        lane: "lane".to_owned(),
        context: "{}".to_owned(),
    };
    Received { dispatch: Arc::new(dispatch), via: Transport::Socket, received_at: Timestamp(1_700_000_000_000) }
}

/// The context of a first start.
#[must_use]
pub fn fresh() -> StartContext {
    StartContext {
        reason: StartReason::Fresh,
        checkpoint: None,
        sockets: Vec::new(),
        timers: Vec::new(),
        fetches: Vec::new(),
    }
}

/// A timer that is due.
#[must_use]
pub fn elapsed(label: &str) -> Vec<Signal> {
    vec![Signal::Elapsed(label.to_owned())]
}

/// A map in memory.
#[derive(Default)]
pub struct MemoryMap(Mutex<BTreeMap<String, Blob>>);

impl MemoryMap {
    /// With this in it.
    #[must_use]
    pub fn of(key: &str, value: &str) -> Self {
        Self(Mutex::new([(key.to_owned(), Blob::from(value))].into()))
    }
}

#[async_trait]
impl Map for MemoryMap {
    async fn get(&self, key: &str) -> Result<Option<Blob>, Fault> {
        Ok(self.0.lock().unwrap().get(key).cloned())
    }

    async fn size(&self) -> Result<u64, Fault> {
        Ok(self.0.lock().unwrap().iter().map(|(key, value)| (key.len() + value.len()) as u64).sum())
    }
}

/// As many starts as anybody wants.
pub struct Unlimited;

#[async_trait]
impl Starts for Unlimited {
    async fn spend(&self) -> Result<Spend, Fault> {
        Ok(Spend::Spent)
    }
}

/// Resident memory of this process, in bytes.
#[must_use]
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is there");
    line.trim().trim_end_matches(" kB").trim().parse::<usize>().expect("it is a number") * 1024
}
