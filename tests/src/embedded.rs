//! The host as a library: what a configuration file says, on stores of one's own.

use std::path::Path;
use std::sync::Arc;

use jackfield::config::build::{Means, build};
use jackfield::config::generation::Numbering;
use jackfield::config::{self, Environment, File};
use jackfield::failpoint::Failpoint;
use jackfield::spec::Spec;
use jackfield_engine::Engine;
use jackfield_engine::egress::{SystemResolver, Trust};
use jackfield_model::clock;
use jackfield_store::Kind;
use jackfield_store::sqlite::{self, Sqlite};

use crate::processes::PATIENCE;

/// Everything that a host is started with.
pub struct Embedded {
    /// The configuration.
    pub file: File,
    /// Its connections.
    pub specs: Vec<Spec>,
    /// Its store.
    pub store: Arc<Sqlite>,
    /// Its engine.
    pub engine: Engine,
}

impl Embedded {
    /// Brings together what this file says. `engine` is given the data folder.
    ///
    /// # Panics
    /// When something is wrong with it.
    pub async fn new(
        config: &Path,
        environment: &Environment,
        engine: impl FnOnce(&Path) -> Engine,
        failpoint: &Failpoint,
    ) -> Self {
        let (file, _) = config::read(config).expect("the configuration is right");
        let options = sqlite::Options { failpoint: failpoint.hook(), ..sqlite::Options::default() };
        let store = opened(&file.data, options).await;
        let engine = engine(&file.data);
        let numbering = Numbering::of(store.clone()).await.expect("read the numbering");
        let means = Means {
            engine: &engine,
            environment,
            numbering: &numbering,
            resolver: Arc::new(SystemResolver::new().expect("a resolver")),
            trust: Trust::new(Vec::new()).expect("roots"),
            clock: clock::system(),
            progress: &|_| {},
        };
        let built = build(&file, means).await.expect("number generations");
        let (specs, _) = built.unwrap_or_else(|problems| panic!("{problems:?}"));
        Self { file, specs, store, engine }
    }
}

/// Opens the store, once the host before has let go of it: its last tasks end a moment after it.
async fn opened(data: &Path, options: sqlite::Options) -> Arc<Sqlite> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        match Sqlite::open(data, options.clone()) {
            Ok(store) => return store,
            Err(error) if error.kind() == Kind::Locked && tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            Err(error) => panic!("open the store: {error}"),
        }
    }
}
