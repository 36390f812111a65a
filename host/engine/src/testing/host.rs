//! A connection made of fakes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jackfield_model::session::Spend;
use jackfield_model::{Blob, Fault, Generation, Timestamp, clock};

use crate::capability::session::Starts;
use crate::capability::state::Map;
use crate::egress::{self, Gate, GateConfig, Origin, Policy, Resolver, SystemResolver, Trust};
use crate::log::{Line, LogSink};
use crate::runtime::{Host, Rights};
use crate::secret::{SecretEntry, Secrets};

/// The one secret, `token`.
pub(crate) const CANARY: &str = "canary-canary";

pub(crate) type Lines = Arc<Mutex<Vec<Line>>>;

/// What a test can look at and turn.
#[derive(Clone, Default)]
pub(crate) struct Fakes {
    pub(crate) map: Arc<Mutex<BTreeMap<String, Blob>>>,
    pub(crate) lines: Lines,
    /// How often a start was spent.
    pub(crate) spent: Arc<Mutex<u32>>,
    /// `state.get` panics.
    pub(crate) panics: bool,
    /// `state.get` never answers.
    pub(crate) hangs: bool,
}

impl Fakes {
    pub(crate) fn log(&self) -> LogSink {
        let lines = Arc::clone(&self.lines);
        let mask = |text: &str| text.replace(CANARY, "[secret:token]");
        LogSink::new(clock::system(), mask, move |line| lines.lock().unwrap().push(line))
    }

    /// A connection that may reach `https://granted.example` and `wss://granted.example`, and keep 100 bytes.
    pub(crate) fn host(&self) -> Host {
        let origins: Vec<Origin> =
            ["https://granted.example", "wss://granted.example"].iter().map(|text| text.parse().unwrap()).collect();
        let to = origins.iter().map(ToString::to_string).collect();
        let entry = SecretEntry { name: "token".to_owned(), value: CANARY.as_bytes().to_vec(), to };
        let secrets = Arc::new(Secrets::new(vec![entry]).unwrap());
        let resolver: Arc<dyn Resolver> = Arc::new(SystemResolver::new().unwrap());
        let gate = Gate::new(GateConfig {
            connection: "test".parse().unwrap(),
            policy: Policy::new(&origins, &origins, Vec::new()).unwrap(),
            secrets,
            ceilings: egress::Ceilings::default(),
            resolver,
            trust: Trust::new(Vec::new()).unwrap(),
            clock: clock::system(),
        });
        Host {
            connection: "test".parse().unwrap(),
            config: Arc::from("{}"),
            gate,
            state: Arc::new(self.clone()),
            rights: Rights { state_bytes: 100 },
            log: self.log(),
            generation: Generation(1),
        }
    }
}

#[async_trait]
impl Map for Fakes {
    async fn get(&self, key: &str) -> Result<Option<Blob>, Fault> {
        assert!(!self.panics, "the store of {key} is on fire");
        if self.hangs {
            std::future::pending::<()>().await;
        }
        Ok(self.map.lock().unwrap().get(key).cloned())
    }

    async fn size(&self) -> Result<u64, Fault> {
        Ok(self.map.lock().unwrap().iter().map(|(key, value)| (key.len() + value.len()) as u64).sum())
    }
}

#[async_trait]
impl Starts for Fakes {
    async fn spend(&self) -> Result<Spend, Fault> {
        let mut spent = self.spent.lock().unwrap();
        *spent += 1;
        Ok(if *spent > 1 { Spend::Refused { until: Timestamp(u64::MAX) } } else { Spend::Spent })
    }
}
