//! What a session may ask for, and the component that asks the real host.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};

use jackfield_sdk::log::Level;
use jackfield_sdk::runtime::{Condition, Guest, SessionFault, Signal, SocketRequest, StartContext, StartFault};
use jackfield_sdk::{Blob, Dispatch, Fault, HttpRequest, connection, ingest, log, session};

use super::{Machine, SOCKET};
use crate::{Discord, clock, config::Config};

/// Longest time without a byte before the host calls the socket broken, in milliseconds. Discord beats every 41 s or
/// so and the acknowledgement watch is quicker; this catches what it can't see, such as a socket before its Hello.
const SILENCE_MS: u32 = 150_000;

/// Effects of one call, in order. The contract's words; see `wit/v0/session.wit`.
#[expect(missing_docs, reason = "each is the function of the contract with this name")]
pub trait Host {
    fn open(&mut self, url: &str) -> Result<(), Fault>;
    fn send(&mut self, frame: String, secrets: &[&str]) -> Result<(), Fault>;
    fn close(&mut self, code: Option<u16>);
    fn set_timer(&mut self, label: &str, after_ms: u32);
    fn cancel_timer(&mut self, label: &str);
    fn fetch(&mut self, label: &str, request: HttpRequest) -> Result<(), Fault>;
    fn submit(&mut self, dispatch: Dispatch, mark: Option<&str>) -> Result<(), Fault>;
    /// Submits the text of the running call's signal number `index`, without a copy.
    fn submit_signal(
        &mut self,
        index: u32,
        kind: &str,
        lane: &str,
        context: &str,
        mark: Option<&str>,
    ) -> Result<(), Fault>;
    fn report(&mut self, condition: Condition);
    fn spend_start(&mut self) -> Result<(), Fault>;
    fn starts_left(&mut self, remaining: u32, resets_in_ms: u32);
    fn metadata(&mut self, patch: &str);
    fn log(&mut self, level: Level, message: &str, fields: &[(&str, &str)]);
    /// Even over all 32 bits.
    fn random(&mut self) -> u32;
    /// Milliseconds since the Unix epoch.
    fn now_ms(&mut self) -> u64;
}

/// The host of a component.
struct Imports;

impl Host for Imports {
    fn open(&mut self, url: &str) -> Result<(), Fault> {
        session::open(SOCKET, &SocketRequest::new(url).silence_ms(SILENCE_MS))
    }

    fn send(&mut self, frame: String, secrets: &[&str]) -> Result<(), Fault> {
        let secrets: Vec<String> = secrets.iter().map(|name| (*name).to_owned()).collect();
        session::send(SOCKET, &Blob::Text(frame), &secrets)
    }

    fn close(&mut self, code: Option<u16>) {
        session::close(SOCKET, code, "");
    }

    fn set_timer(&mut self, label: &str, after_ms: u32) {
        session::set_timer(label, after_ms);
    }

    fn cancel_timer(&mut self, label: &str) {
        session::cancel_timer(label);
    }

    fn fetch(&mut self, label: &str, request: HttpRequest) -> Result<(), Fault> {
        session::fetch(label, &request)
    }

    fn submit(&mut self, dispatch: Dispatch, mark: Option<&str>) -> Result<(), Fault> {
        ingest::submit(&dispatch, mark)
    }

    fn submit_signal(
        &mut self,
        index: u32,
        kind: &str,
        lane: &str,
        context: &str,
        mark: Option<&str>,
    ) -> Result<(), Fault> {
        ingest::submit_signal(index, kind, lane, context, mark)
    }

    fn report(&mut self, condition: Condition) {
        session::report(&condition);
    }

    fn spend_start(&mut self) -> Result<(), Fault> {
        session::spend_start()
    }

    fn starts_left(&mut self, remaining: u32, resets_in_ms: u32) {
        session::starts_left(remaining, resets_in_ms);
    }

    fn metadata(&mut self, patch: &str) {
        session::metadata(patch);
    }

    fn log(&mut self, level: Level, message: &str, fields: &[(&str, &str)]) {
        log::line(level, message, fields);
    }

    fn random(&mut self) -> u32 {
        // Keyed anew each time, from the host's randomness: the one source of it that the standard library offers.
        let word = RandomState::new().hash_one(());
        u32::try_from(word >> 32).unwrap_or_default()
    }

    fn now_ms(&mut self) -> u64 {
        clock::now_ms()
    }
}

thread_local! {
    /// The session of this instance: an instance serves one, from `start` to its end.
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

impl Guest for Discord {
    fn start(context: StartContext) -> Result<(), StartFault> {
        let config = Config::parse(&connection::config()).map_err(StartFault::Fatal)?;
        let machine = Machine::start(config, context, &mut Imports)?;
        MACHINE.with_borrow_mut(|slot| *slot = Some(machine));
        Ok(())
    }

    fn handle(signals: Vec<Signal>) -> Result<(), SessionFault> {
        MACHINE.with_borrow_mut(|slot| match slot {
            Some(machine) => machine.handle(&signals, &mut Imports),
            None => Err(not_started()),
        })
    }

    fn checkpoint() -> Blob {
        MACHINE.with_borrow(|slot| match slot {
            Some(machine) => machine.checkpoint(),
            None => Blob::empty(),
        })
    }
}

/// The host calls `start` first; one that doesn't gets a session that ends, not a trap.
fn not_started() -> SessionFault {
    SessionFault::Transient("handle before start".to_owned())
}
