//! A host whose store breaks its promise, so that the kill harness can be seen to notice. The rest is the real host, embedded.
//!
//! `JACKFIELD_SABOTAGE=early`: a batch counts as committed before it is. `doubles`: nothing is known already.

use std::process::ExitCode;

fn main() -> ExitCode {
    jackfield_tests::sabotage::main()
}
