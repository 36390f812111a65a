//! The real Discord connector, as it ships, in a real host against the double.

mod actions;
mod closes;
mod gaps;
mod payloads;
mod sockets;
mod stack;

use jackfield_tests::discord::Scene;
use serde_json::Value;

/// The events with this name.
fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["name"] == name).collect()
}

/// A host that is ready.
fn ready(scene: &Scene) -> jackfield_tests::processes::Serve<'_> {
    let host = scene.home.serve();
    scene.home.wait_state("ready");
    host
}
