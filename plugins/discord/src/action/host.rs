//! What a run of an action may ask the host, and the component that asks the real one.

use jackfield_sdk::action::{ActionFault, ActionSpec, Call, Guest, Outcome};
use jackfield_sdk::contacts::{Reference, Resolution};
use jackfield_sdk::log::Level;
use jackfield_sdk::{Fault, HttpRequest, HttpResponse, contacts, egress, log};

use crate::{Discord, clock};

/// The imports that actions use, in the contract's words; see `wit/v0/http.wit` and `wit/v0/contacts.wit`.
#[expect(missing_docs, reason = "each is the function of the contract with this name")]
pub trait Host {
    fn reserve(&mut self, bucket: &str) -> Result<(), Fault>;
    fn send(&mut self, request: &HttpRequest) -> Result<HttpResponse, Fault>;
    fn left(&mut self, bucket: &str, remaining: u32, resets_in_ms: u32);
    fn resolve(&mut self, reference: &Reference) -> Result<Resolution, Fault>;
    fn log(&mut self, level: Level, message: &str, fields: &[(&str, &str)]);
    /// Milliseconds since the Unix epoch.
    fn now_ms(&mut self) -> u64;
}

/// The host of a component.
struct Imports;

impl Host for Imports {
    fn reserve(&mut self, bucket: &str) -> Result<(), Fault> {
        egress::reserve(bucket)
    }

    fn send(&mut self, request: &HttpRequest) -> Result<HttpResponse, Fault> {
        egress::send(request)
    }

    fn left(&mut self, bucket: &str, remaining: u32, resets_in_ms: u32) {
        egress::left(bucket, remaining, resets_in_ms);
    }

    fn resolve(&mut self, reference: &Reference) -> Result<Resolution, Fault> {
        contacts::resolve(reference)
    }

    fn log(&mut self, level: Level, message: &str, fields: &[(&str, &str)]) {
        log::line(level, message, fields);
    }

    fn now_ms(&mut self) -> u64 {
        clock::now_ms()
    }
}

impl Guest for Discord {
    fn describe() -> Vec<ActionSpec> {
        super::describe()
    }

    fn run(call: Call) -> Result<Outcome, ActionFault> {
        super::run(&call, &mut Imports)
    }
}
