//! The way in, in this process: the real inbound on a real store under a test's hand, with the `transform` of a guest.

use std::sync::Arc;
use std::time::Duration;

use jackfield::connection::facts::Facts;
use jackfield::failpoint::Failpoint;
use jackfield::inbound::{Entry, Inbound, Setup};
use jackfield_engine::transform::Pool;
use jackfield_engine::{GuestLimits, LogSink};
use jackfield_model::{Blob, ConnectionId, Dispatch, Fence, Generation, Token, Transport, clock};
use jackfield_store::lease::Acquire;
use jackfield_store::sqlite::{Options, Sqlite};
use jackfield_store::{Leases as _, Stores};
use tempfile::TempDir;

use crate::faults::Faulty;
use crate::guest::Guest;
use crate::processes::PATIENCE;
use crate::sandbox;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// A store in a folder of its own, and the hand on it.
pub struct Ground {
    /// The hand.
    pub faults: Arc<Faulty>,
    /// The stores, as the host has them.
    pub stores: Stores,
    store: Arc<Sqlite>,
    _folder: TempDir,
}

/// An inbound on that store.
pub struct WayIn {
    /// The inbound.
    pub inbound: Inbound,
    /// What status would show.
    pub facts: Arc<Facts>,
}

impl Ground {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let store = Sqlite::open(folder.path(), Options::default()).expect("open the store");
        let faults = Faulty::new(store.clone());
        Self { stores: faults.stores(), faults, store, _folder: folder }
    }

    /// The connection that everything is of.
    #[must_use]
    pub fn connection() -> ConnectionId {
        "echo".parse().expect("a name")
    }

    /// A term, and its inbound with this guest.
    pub async fn start(&self, guest: Guest) -> WayIn {
        const TTL: Duration = Duration::from_secs(3_600);
        let token = Token(1);
        let granted = self.store.acquire(&Self::connection(), token, TTL).await.expect("ask for the lease");
        let Acquire::Granted { epoch } = granted else { panic!("nobody else asks: {granted:?}") };
        let engine = sandbox::engine();
        let component = engine.load(guest.bytes()).await.expect("the guest loads");
        let log = LogSink::new(clock::system(), str::to_owned, drop);
        let transforms = 2;
        let facts = Arc::new(Facts::new(clock::system()));
        let inbound = Inbound::start(Setup {
            connection: Self::connection(),
            space: "people".parse().expect("a name"),
            namespace: "echo".to_owned(),
            stores: self.stores.clone(),
            pool: Arc::new(Pool::new(&component, GuestLimits::default(), transforms, log)),
            transforms,
            generation: Generation(1),
            digest: component.digest(),
            fence: Fence { epoch, token },
            inbox_bytes_max: 256 << 20,
            clock: clock::system(),
            facts: facts.clone(),
            failpoint: Failpoint::default(),
        });
        inbound.listen();
        WayIn { inbound, facts }
    }
}

impl Default for Ground {
    fn default() -> Self {
        Self::new()
    }
}

impl WayIn {
    /// Submits this line as the helpful guest's session does.
    pub fn say(&self, lane: &str, id: usize, text: &str) {
        let dispatch = line(lane, id, text);
        self.inbound.submit(vec![Entry::Dispatch { dispatch, mark: None, via: Transport::Socket }]);
    }

    /// Waits until all of it is settled.
    pub async fn settled(&self) {
        assert!(self.inbound.settled(PATIENCE).await, "not settled in time");
    }
}

/// The dispatch that the helpful guest makes of `say LANE ID TEXT`.
#[must_use]
pub fn line(lane: &str, id: usize, text: &str) -> Dispatch {
    let payload = Blob::from(format!("say {lane} {id} {text}").as_str());
    Dispatch { kind: "line".to_owned(), payload, lane: lane.to_owned(), context: "{}".to_owned() }
}

/// Looks until it is so.
pub async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let wait = async {
        while !so() {
            tokio::time::sleep(PAUSE).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "waited in vain: {what}");
}
