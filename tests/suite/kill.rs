//! Kill -9 at every named point, three times each: nothing lost, nothing doubled, nothing reordered. `tests/run kill` does
//! more of it.

use jackfield_tests::kill::{self, Program};

/// Kills at each point.
const TIMES: u64 = 3;

/// The points that have a test here.
const TRIED: [&str; 8] = [
    "frame-read",
    "call-returned",
    "submitted",
    "transformed",
    "before-commit",
    "in-transaction",
    "after-commit-before-answer",
    "settled",
];

fn nothing_is_lost(point: &str) {
    let outcome = kill::at(point, TIMES, Program::Host);
    assert!(outcome.is_whole() && outcome.account.made >= kill::LOAD_MIN, "{outcome:#?}");
}

#[test]
fn every_point_has_a_test() {
    assert_eq!(TRIED, kill::POINTS);
}

#[test]
fn case_49_kill_frame_read() {
    nothing_is_lost("frame-read");
}

#[test]
fn case_49_kill_call_returned() {
    nothing_is_lost("call-returned");
}

#[test]
fn case_49_kill_submitted() {
    nothing_is_lost("submitted");
}

#[test]
fn case_49_kill_transformed() {
    nothing_is_lost("transformed");
}

#[test]
fn case_49_kill_before_commit() {
    nothing_is_lost("before-commit");
}

#[test]
fn case_49_kill_in_transaction() {
    nothing_is_lost("in-transaction");
}

#[test]
fn case_49_kill_after_commit_before_answer() {
    nothing_is_lost("after-commit-before-answer");
}

#[test]
fn case_49_kill_settled() {
    nothing_is_lost("settled");
}

/// The harness notices a store that answers before it has written.
#[test]
fn kill_notices_what_is_lost() {
    let outcome = kill::at("settled", 2, Program::Sabotaged("early"));
    assert!(outcome.account.lost > 0, "{outcome:#?}");
}

/// The harness notices a store that does not know what it knows.
#[test]
fn kill_notices_what_is_doubled() {
    let outcome = kill::at("after-commit-before-answer", TIMES, Program::Sabotaged("doubles"));
    assert!(outcome.account.doubled > 0, "{outcome:#?}");
}
