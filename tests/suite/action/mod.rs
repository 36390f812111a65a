//! Actions, end to end: a real host and a real web server, a connector that does what its arguments say.

mod attacks;
mod effects;
mod endings;
mod keys;
mod leases;
mod limits;

use jackfield_tests::has_test;

jackfield_tests::foreach_action!(has_test);

#[test]
fn action_steps() {
    // Every file here runs it; this one says that it is there.
    assert!(!jackfield_tests::guest::ACTION_STEPS.bytes().is_empty());
}
