//! A host in this process, for tests that call actions through the library: many at once, and dropped half way.

use std::path::Path;
use std::time::Duration;

use jackfield::config::Environment;
use jackfield::failpoint::Failpoint;
use jackfield::host::{Host, Options};
use jackfield::outbound::{Refused, Report, Request};
use jackfield_engine::{Compiler, Engine};
use jackfield_model::clock;
use jackfield_store::Stores;
use jackfield_store::execution::Surface;
use jackfield_store::retention::Policy;
use serde_json::Value;

use crate::embedded::Embedded;
use crate::guest::Guest;
use crate::processes::Home;
use crate::web::Web;

/// The canary that guests of the suite may use and never see.
pub const CANARY: &str = "canary-secret-of-the-suite";

/// A host, and where it keeps its data.
pub struct Desk {
    /// The host.
    pub host: Host,
    home: Home,
}

/// The configuration of one connection `echo` of this component, whose origins lead to this web server. `plain.test`
/// leads to a port where nobody listens.
#[must_use]
pub fn config(component: &Path, web: &Web, more: &str) -> String {
    format!(
        r#"
[host]
data = "./data"

[[connection]]
id = "echo"
connector = {component:?}
contacts = "people"
secrets.canary = {{ env = "CANARY", to = ["https://echo.test"] }}
grants = ["https://echo.test", "https://plain.test", "contacts", "lease", "state:64KiB"]
connect = {{ "https://echo.test" = "http://{}", "https://plain.test" = "http://127.0.0.1:1" }}
{more}
"#,
        web.address()
    )
}

impl Desk {
    /// A host that serves this guest with this web server as its platform.
    pub async fn open(guest: Guest, web: &Web, more: &str) -> Self {
        Self::at(Home::new(&config(&guest.file(&crate::scratch()), web, more))).await
    }

    /// A host on what lies in this folder.
    pub async fn at(mut home: Home) -> Self {
        home.guard(CANARY);
        let canary = ("CANARY".to_owned(), CANARY.to_owned());
        let environment = Environment::fixed(home.variables().iter().cloned().chain([canary]));
        let failpoint = Failpoint::default();
        let Embedded { file, specs, store, engine } =
            Embedded::new(&home.config(), &environment, engine, &failpoint).await;
        let week = Duration::from_secs(7 * 24 * 3_600);
        let retention = Policy { events: week, dead_letters: week, executions: week, dedupe_entries: 500_000 };
        let options = Options {
            stores: Stores::of(store),
            engine,
            clock: clock::system(),
            data: file.data.clone(),
            retention,
            failpoint,
        };
        Self { host: Host::start(options, specs).await.expect("the ledger can be opened"), home }
    }

    /// Runs an action with these arguments and nothing else.
    pub async fn run(&self, action: &str, args: &Value) -> Result<Report, Refused> {
        self.host.run(request(action, args)).await
    }

    /// Ends the host in order and gives back its folder.
    pub async fn close(self) -> Home {
        self.host.stop(Duration::from_secs(10)).await;
        self.home
    }
}

/// Compiles in a process of its own, and keeps what it compiled.
fn engine(data: &Path) -> Engine {
    let compiler = Compiler::Child {
        program: crate::processes::jackfield(),
        args: vec!["compile-component".into()],
        limits: jackfield_engine::CompileLimits::default(),
    };
    let (cache, ceilings) = (Some(data.join("compiled")), jackfield_engine::Ceilings::default());
    Engine::new(jackfield_engine::Options { cache, compiler, ceilings, clock: clock::system() })
        .expect("there is address space for the pool")
}

/// A request for an action of `echo`.
#[must_use]
pub fn request(action: &str, args: &Value) -> Request {
    Request {
        connection: "echo".parse().expect("it is a name"),
        action: action.to_owned(),
        args: args.to_string(),
        key: None,
        attempt: 1,
        approve: false,
        timeout: None,
        surface: Surface::Library,
        caller: "the suite".to_owned(),
    }
}

/// What the steps of an action said, in order.
#[must_use]
pub fn said(report: &Report) -> Vec<String> {
    let outcome = report.ending.outcome().unwrap_or_else(|| panic!("{report:?}"));
    let output: Value = serde_json::from_str(&outcome.output).expect("JSON");
    output["said"].as_array().expect("a list").iter().map(|said| said.as_str().expect("text").to_owned()).collect()
}
