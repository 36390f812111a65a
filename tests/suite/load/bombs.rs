//! Components that are small to ship and endless to compile or instantiate.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use jackfield_engine::{CompileLimits, Compiler, LoadError, LoadErrorKind};
use jackfield_tests::guest::handmade;
use jackfield_tests::{processes, sandbox};

use super::refused;

/// What a compilation may take in these tests: a fraction of the real ceilings, so that nobody waits for two minutes.
const LIMITS: CompileLimits = CompileLimits { cpu_seconds: 2, address_space: 1 << 30, wall: Duration::from_secs(8) };

/// The rest of a guest that would be good.
const GOOD: &str = include_str!("../../guests/wat/sandbox_returns_a_giant_string.wat");

fn compiler(limits: CompileLimits) -> Compiler {
    Compiler::Child { program: processes::jackfield(), args: vec!["compile-component".into()], limits }
}

/// The host is told in time, and goes on: it compiles something good with the next breath.
async fn is_contained(what: &str, fields: &str) {
    let engine = sandbox::engine_with(compiler(LIMITS), None);
    let bytes = handmade(&format!("{fields}\n{GOOD}"), "0.1.0");
    let (began, before) = (Instant::now(), sandbox::resident());
    let loaded = engine.load(bytes).await;
    let outcome = loaded.as_ref().map(|component| component.artifact_size()).map_err(ToString::to_string);
    match loaded {
        Err(LoadError::Compile(problem)) => assert!(problem.len() > 20, "{what}: {problem}"),
        // Refused earlier is as good; quick to compile is no bomb.
        Err(LoadError::Invalid(_)) | Ok(_) => {}
        Err(other) => panic!("{what}: {other}"),
    }
    assert!(began.elapsed() < LIMITS.wall + Duration::from_secs(5), "{what}: {:?}", began.elapsed());
    let grown = sandbox::resident().saturating_sub(before);
    assert!(grown < 256 << 20, "{what}: the host grew by {} MiB: {outcome:?}", grown >> 20);
    let engine = sandbox::engine_with(compiler(CompileLimits::default()), None);
    assert!(engine.load(handmade(GOOD, "0.1.0")).await.is_ok());
}

fn repeated(times: usize, mut one: impl FnMut(&mut String, usize)) -> String {
    let mut text = String::new();
    (0..times).for_each(|number| one(&mut text, number));
    text
}

#[tokio::test]
async fn case_3_fifty_thousand_functions() {
    let body = "(i32.mul (local.get 0) (i32.const 7))";
    let nested = (0..40).fold(body.to_owned(), |inner, _| format!("(i32.add {inner} {body})"));
    let text = repeated(50_000, |text, _| write!(text, "(func (param i32) (result i32) {nested})").unwrap());
    is_contained("50,000 functions", &text).await;
}

#[tokio::test]
async fn case_3_a_huge_branch_table() {
    let labels = repeated(200_000, |text, _| text.push_str("0 "));
    let tables =
        repeated(20, |text, _| write!(text, "(func (param i32) (block (br_table {labels} (local.get 0))))").unwrap());
    is_contained("branch tables", &tables).await;
}

#[tokio::test]
async fn case_3_a_million_locals() {
    let locals = "i32 ".repeat(1_000_000);
    let bytes = std::panic::catch_unwind(|| handmade(&format!("(func (local {locals}))\n{GOOD}"), "0.1.0"));
    // The tools refuse to make it; the host refuses what the tools would not.
    if let Ok(bytes) = bytes {
        refused("a million locals", bytes, LoadErrorKind::File).await;
    }
    let many = "i64 ".repeat(49_000);
    let sums = repeated(49_000, |text, number| {
        write!(text, "(local.set {number} (i64.add (local.get {number}) (local.get {})))", (number * 7919) % 49_000)
            .unwrap()
    });
    is_contained("49,000 locals", &format!("(func (local {many}) (loop {sums} (br 0)))")).await;
}

#[tokio::test]
async fn case_3_deep_nesting() {
    let text = format!("(func {}{})", "(block ".repeat(20_000), ")".repeat(20_000));
    is_contained("nested blocks", &text).await;
}

#[tokio::test]
async fn case_3_many_data_segments() {
    let text = repeated(90_000, |text, _| text.push_str("(data \"x\")"));
    is_contained("data segments", &text).await;
}

/// A child that can't be started at all is the host's fault, and says so.
#[tokio::test]
async fn a_missing_compiler_is_the_hosts_fault() {
    let missing = Compiler::Child { program: "/nowhere/jackfield".into(), args: Vec::new(), limits: LIMITS };
    let error = sandbox::engine_with(missing, None).load(handmade(GOOD, "0.1.0")).await.unwrap_err();
    assert_eq!(error.kind(), LoadErrorKind::Host, "{error}");
}

/// Each of these validates as WebAssembly, or nearly; none may be instantiated, and none may end the host.
#[tokio::test]
async fn case_8_more_than_there_may_be() {
    let memories = repeated(1_001, |text, _| text.push_str("(memory 1)"));
    let tables = repeated(1_001, |text, _| text.push_str("(table 1 funcref)"));
    // The tools that make connectors refuse these already.
    for (what, fields) in [("1,001 memories", memories), ("1,001 tables", tables)] {
        let bytes = wat::parse_str(format!("(component (core module {fields}))")).unwrap();
        refused(what, bytes, LoadErrorKind::File).await;
    }
    let cases = [
        ("99 memories", repeated(99, |text, _| text.push_str("(memory 1)"))),
        ("a memory of 4 GiB", "(memory 65536)".to_owned()),
        ("a table of 4 billion", "(table 4294967295 funcref)".to_owned()),
        ("a table of ten million", "(table 10000000 funcref)".to_owned()),
    ];
    for (what, fields) in cases {
        let bytes = handmade(&format!("{GOOD}\n{fields}"), "0.1.0");
        let Err(error) = sandbox::engine().load(bytes).await else { panic!("{what}: it was loaded") };
        assert_ne!(error.kind(), LoadErrorKind::Contract, "{what}: {error}");
    }
}

#[tokio::test]
async fn case_8_many_nested_instances() {
    let instances =
        repeated(1_001, |text, number| write!(text, "(core instance $i{number} (instantiate $m))").unwrap());
    let text = format!("(component (core module $m (memory 1)) {instances})");
    let bytes = wat::parse_str(text).unwrap();
    let engine = sandbox::engine();
    // Without an export it is refused by the contract already; what counts is that it is refused.
    assert!(engine.load(bytes).await.is_err());
}
