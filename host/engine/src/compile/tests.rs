//! The compiling child, as a real process: `examples/compile_child.rs`, which Cargo builds beside the tests.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::load::LoadErrorKind;
use crate::testing::{component, engine_with};

fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/compile_child")
}

fn compiler(limits: CompileLimits) -> Compiler {
    Compiler::Child { program: program(), args: Vec::new(), limits }
}

async fn fails(compiler: Compiler, fields: &str) -> LoadError {
    engine_with(None, compiler).load(component(fields)).await.unwrap_err()
}

/// Small as a file, slow to compile: one function with this many calls, each with a table jump.
fn bomb() -> String {
    let arm =
        "(block (block (block (br_table 0 1 2 (local.get 0)))) (local.set 0 (i32.add (local.get 0) (i32.const 1))))\n";
    (0..200).map(|_| format!("(func (param i32)\n{})\n", arm.repeat(400))).collect()
}

#[tokio::test]
async fn a_child_compiles_what_this_engine_runs() {
    let component = engine_with(None, compiler(CompileLimits::default())).load(component("")).await.unwrap();
    assert_eq!(component.descriptor().id, "test");
}

#[tokio::test]
async fn case_3_time_by_the_wall() {
    let limits = CompileLimits { wall: Duration::from_millis(20), ..CompileLimits::default() };
    let error = fails(compiler(limits), &bomb()).await;
    assert_eq!(error.kind(), LoadErrorKind::Compile, "{error}");
    assert!(error.to_string().contains("not done after"), "{error}");
}

#[tokio::test]
async fn case_3_processor_time() {
    let limits = CompileLimits { cpu_seconds: 1, ..CompileLimits::default() };
    let error = fails(compiler(limits), &bomb()).await;
    assert_eq!(error.kind(), LoadErrorKind::Compile, "{error}");
    assert!(error.to_string().contains("1 s of processor time"), "{error}");
}

#[tokio::test]
async fn case_3_memory() {
    let limits = CompileLimits { address_space: 32 << 20, ..CompileLimits::default() };
    let error = fails(compiler(limits), &bomb()).await;
    assert_eq!(error.kind(), LoadErrorKind::Compile, "{error}");
}

#[tokio::test]
async fn a_program_that_is_not_there() {
    let missing =
        Compiler::Child { program: "/nonexistent".into(), args: Vec::new(), limits: CompileLimits::default() };
    assert_eq!(fails(missing, "").await.kind(), LoadErrorKind::Host);
}

#[tokio::test]
async fn a_program_that_says_something_else() {
    let echo = Compiler::Child {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), "cat >/dev/null; echo not an artifact".into()],
        limits: CompileLimits::default(),
    };
    assert_eq!(fails(echo, "").await.kind(), LoadErrorKind::Compile);
    let fails_early =
        Compiler::Child { program: "/bin/false".into(), args: Vec::new(), limits: CompileLimits::default() };
    assert_eq!(fails(fails_early, "").await.kind(), LoadErrorKind::Compile);
}

#[test]
fn the_child_tells_its_problem() {
    let order = br#"{"cpu_seconds":"#;
    let mut output = Vec::new();
    // Fails before it limits anything: this is the test's own process.
    compile_child(&order[..], &mut output);
    assert!(String::from_utf8(output).unwrap().contains("read order"));
}
