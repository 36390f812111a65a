//! Connectors in other languages than Rust: the same one in JavaScript and in Python, which have to do the same.

mod building;
mod calls;
mod loading;
mod outbound;

use jackfield_engine::{CompileLimits, Compiler, GuestLimits};
use jackfield_tests::guest::{self, Guest};
use jackfield_tests::sandbox::{self, Bench};
use jackfield_tests::{has_test, processes};

use self::calls::*;

jackfield_tests::foreach_language!(has_test);

/// A guest, what it calls itself, and what its toolchain exports besides the contract.
const BOTH: [(Guest, &str, &str); 2] =
    [(guest::LANGUAGE_JAVASCRIPT, "say-js", "init"), (guest::LANGUAGE_PYTHON, "say-py", "exports")];

/// Loads one as a host does: compiled in a child process with the ceilings of a host, once for all tests, and called with the
/// limits that a connection has where nothing else is configured.
async fn bench(guest: Guest) -> Bench {
    let compiler = Compiler::Child {
        program: processes::jackfield(),
        args: vec!["compile-component".into()],
        limits: CompileLimits::default(),
    };
    let engine = sandbox::engine_with(compiler, Some(jackfield_tests::scratch().join("compiled")));
    let mut bench = Bench::on(engine, guest).await;
    bench.limits = GuestLimits::default();
    bench
}
