//! The host as a process: from a configuration file to a running host, and back to nothing.
//!
//! The order is the promise. The file is read before anything is touched; the data folder is locked before anything in it
//! is; the whole configuration holds before anything runs; the admin socket is there before the first session starts.

#[cfg(feature = "failpoints")]
mod failpoint;
pub(crate) mod signal;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use jackfield_engine::egress::{SystemResolver, Trust};
use jackfield_engine::{Ceilings, CompileLimits, Compiler, Engine, Options as EngineOptions};
use jackfield_model::clock::{self, SharedClock};
use jackfield_model::limits;
use jackfield_store::Stores;
use jackfield_store::retention::Policy;
use jackfield_store::sqlite::{self, Sqlite};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::admin::{self, Admin, Bind};
use crate::cli::{Failure, Progress};
use crate::config::build::{self as building, Means};
use crate::config::generation::Numbering;
use crate::config::{self, Environment, File, Problems};
use crate::failpoint::Failpoint;
use crate::host::{Host, Options};
use crate::spec::Spec;

/// Time for an end in order: what is under way is settled, sockets are left so that they can be resumed. With what the
/// administration and the store need besides, the process is gone within ten seconds, the least that supervisors wait.
pub const GRACE: Duration = Duration::from_secs(8);

/// Dead letters carry raw payloads, so they end; a month is long enough to notice and mend.
const DEAD_LETTER_RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Executions are what somebody looks up when a customer asks, and for so long the same key is the same request. A month, as
/// long as what went wrong is kept.
const EXECUTION_RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Folder of compiled components in the data folder.
const CACHE: &str = "compiled";

/// A host that runs in this process.
pub struct Running {
    /// The host.
    pub host: Host,
    specs: Vec<Spec>,
    numbering: Numbering,
    engine: Engine,
    ending: CancellationToken,
    admin: JoinHandle<()>,
}

impl Running {
    /// Runs what this configuration file says.
    ///
    /// # Errors
    /// Everything that is wrong with the configuration, or what can't be had. Nothing runs then.
    pub async fn start(
        path: &Path,
        environment: &Environment,
        progress: &Progress,
        complain: &dyn Fn(&Problems),
    ) -> Result<Self, Failure> {
        let (file, warnings) = config::read(path)?;
        complain(&warnings);
        let clock = clock::system();
        let failpoint = failpoint(environment)?;
        let data = file.data.clone();
        progress.say(format!("open {}", data.display()));
        let store = open(&data, &clock, &failpoint).await?;
        let engine = engine(Some(&data), clock.clone())?;
        let numbering = Numbering::of(store.clone()).await.context("read the numbering of generations")?;
        let (specs, warnings) = build(&file, &engine, environment, &numbering, progress).await??;
        complain(&warnings);
        let bind = Bind::new(&data).context("administration")?;
        let options = Options {
            stores: Stores::of(store),
            engine: engine.clone(),
            clock,
            data,
            retention: retention(),
            failpoint,
        };
        let host = Host::start(options, specs.clone()).await.map_err(|error| Failure::failed(error.to_string()))?;
        let ending = CancellationToken::new();
        let admin = Admin::new(host.clone(), &specs, ending.clone());
        let admin = tokio::spawn(admin::serve(bind, admin));
        Ok(Self { host, specs, numbering, engine, ending, admin })
    }

    /// What runs.
    #[must_use]
    pub fn specs(&self) -> &[Spec] {
        &self.specs
    }

    /// Looks at a configuration as a reload would, with the same names for the same secrets. Changes nothing.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub async fn consider(&self, path: &Path, environment: &Environment) -> Result<(Vec<Spec>, Problems), Failure> {
        let (file, mut warnings) = config::read(path)?;
        let numbering = self.numbering.guessing().await.context("read the numbering of generations")?;
        let (specs, more) = build(&file, &self.engine, environment, &numbering, &Progress::hidden()).await??;
        warnings.extend(more.iter().cloned());
        Ok((specs, warnings))
    }

    /// Ends in order, within `grace`.
    pub async fn stop(self, grace: Duration) {
        self.host.stop(grace).await;
        self.ending.cancel();
        if let Err(error) = self.admin.await {
            tracing::warn!(%error, "the admin server ended badly");
        }
    }
}

async fn open(data: &Path, clock: &SharedClock, failpoint: &Failpoint) -> Result<Arc<Sqlite>, Failure> {
    let options = sqlite::Options { clock: clock.clone(), failpoint: failpoint.hook(), ..sqlite::Options::default() };
    let folder = data.to_owned();
    let opened = tokio::task::spawn_blocking(move || Sqlite::open(&folder, options)).await;
    let opened = opened.map_err(|error| Failure::failed(format!("open the store: {error}")))?;
    opened.map_err(|error| Failure::failed(error.to_string()))
}

/// This program, even after its file was replaced by an upgrade: the kernel keeps what a process was started from.
const PROGRAM: &str = "/proc/self/exe";

/// An engine that compiles in a process of its own: this very program. Without a data folder nothing compiled is kept.
///
/// # Errors
/// No address space, no thread, or a cache folder that others may write to.
pub fn engine(data: Option<&Path>, clock: SharedClock) -> Result<Engine, Failure> {
    let options = EngineOptions {
        cache: data.map(|data| data.join(CACHE)),
        compiler: Compiler::Child {
            program: PROGRAM.into(),
            args: vec!["compile-component".into()],
            limits: CompileLimits::default(),
        },
        ceilings: Ceilings::default(),
        clock,
    };
    Ok(Engine::new(options).context("set up the engine")?)
}

/// Brings a configuration together, with the machine's resolver and the public certificates.
///
/// # Errors
/// What the machine lacks, or a store that fails; inside, everything that is wrong with the configuration.
pub async fn build(
    file: &File,
    engine: &Engine,
    environment: &Environment,
    numbering: &Numbering,
    progress: &Progress,
) -> Result<Result<(Vec<Spec>, Problems), Problems>, Failure> {
    let means = Means {
        engine,
        environment,
        numbering,
        resolver: Arc::new(SystemResolver::new().context("set up the resolver")?),
        trust: Trust::new(Vec::new()).context("set up certificates")?,
        clock: clock::system(),
        progress: &|what| progress.say(what),
    };
    Ok(building::build(file, means).await.context("number generations")?)
}

fn retention() -> Policy {
    Policy {
        events: limits::EVENT_RETENTION,
        dead_letters: DEAD_LETTER_RETENTION,
        executions: EXECUTION_RETENTION,
        dedupe_entries: limits::DEDUPE_ENTRIES_MAX,
    }
}

#[cfg(feature = "failpoints")]
fn failpoint(environment: &Environment) -> Result<Failpoint, Failure> {
    failpoint::from(environment)
}

#[cfg(not(feature = "failpoints"))]
fn failpoint(environment: &Environment) -> Result<Failpoint, Failure> {
    match environment.failpoint() {
        None => Ok(Failpoint::default()),
        // Whoever sets it counts on being killed; going on as if nothing were would be a test that tests nothing.
        Some(_) => Err(Failure::failed(
            "JACKFIELD_FAILPOINT is set, and this program was built without the feature `failpoints`",
        )),
    }
}
