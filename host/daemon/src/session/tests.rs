//! What the tests of sockets and requests share: a way to a server on loopback.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jackfield_engine::egress::{Ceilings, Gate, GateConfig, Origin, Policy, SystemResolver, Trust};
use jackfield_engine::secret::Secrets;
use jackfield_model::clock;

/// Longest wait for something that has to happen. Far longer than it takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A gate through which `https://platform.test` and `wss://platform.test` lead there.
pub(super) fn gate(to: SocketAddr) -> Gate {
    let routes = [("https://platform.test", format!("http://{to}")), ("wss://platform.test", format!("ws://{to}"))];
    let connect = routes.map(|(from, to)| (from.parse::<Origin>().unwrap(), to.parse().unwrap()));
    let origins: Vec<Origin> = connect.iter().map(|(from, _)| from.clone()).collect();
    Gate::new(GateConfig {
        connection: "test".parse().unwrap(),
        policy: Policy::new(&origins, &origins, connect.into()).unwrap(),
        secrets: Arc::new(Secrets::new(Vec::new()).unwrap()),
        ceilings: Ceilings::default(),
        resolver: Arc::new(SystemResolver::new().unwrap()),
        trust: Trust::new(Vec::new()).unwrap(),
        clock: clock::system(),
    })
}
