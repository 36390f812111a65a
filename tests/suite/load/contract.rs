//! Components of another world or another version: everything that does not fit is named.

use jackfield_engine::LoadErrorKind;
use jackfield_tests::guest::{self, handmade};
use jackfield_tests::sandbox;

use super::refused;

/// A good hand-made guest, as text.
const GOOD: &str = include_str!("../../guests/wat/sandbox_returns_a_giant_string.wat");

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"))
}

async fn names(text: &str, named: &[&str]) {
    let error = refused(text, component(text), LoadErrorKind::Contract).await.to_string();
    for name in named {
        assert!(error.contains(name), "{name} is not in: {error}");
    }
}

#[tokio::test]
async fn case_2_missing_and_extra_items_are_named() {
    names("(component)", &["jackfield:connector/connector"]).await;
    names(
        r#"(component (import "acme:connector-host/storage@9.9.0" (instance (export "open" (func)))))"#,
        &["acme:connector-host/storage@9.9.0", "jackfield:connector/connector"],
    )
    .await;
    names(r#"(component (import "wasi:sockets/tcp@0.2.0" (instance)))"#, &["wasi:sockets/tcp@0.2.0"]).await;
    names(
        r#"(component (import "jackfield:connector/sesion@0.1.0" (instance)))"#,
        &["jackfield:connector/sesion@0.1.0", "`session`"],
    )
    .await;
    names(
        r#"(component
            (core module $m (func (export "run") (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            (func $run (result (result)) (canon lift (core func $i "run")))
            (instance $run (export "run" (func $run)))
            (export "wasi:cli/run@0.2.0" (instance $run)))"#,
        &["wasi:cli/run@0.2.0", "jackfield:connector/connector"],
    )
    .await;
}

#[tokio::test]
async fn case_2_versions_of_the_contract() {
    let engine = sandbox::engine();
    for fits in ["0.1.0", "0.1.7"] {
        let loaded = engine.load(handmade(GOOD, fits)).await;
        assert!(loaded.is_ok(), "{fits}: {loaded:?}");
    }
    for other in ["0.2.0", "1.0.0", "0.1.0-rc.1"] {
        let error = refused(other, handmade(GOOD, other), LoadErrorKind::Contract).await.to_string();
        assert!(error.contains(other) && error.contains("0.1.0"), "both versions are told: {error}");
    }
}

/// The import that is not there is named with its version, and nothing is compiled or kept.
#[tokio::test]
async fn report_w1_an_import_of_a_newer_host_is_named() {
    let text = r#"(component (import "acme:connector-host/storage@9.9.0" (instance (export "bucket" (type (sub resource))))))"#;
    names(text, &["acme:connector-host/storage@9.9.0"]).await;
}

/// Functions of an interface that this host's version does not have.
#[tokio::test]
async fn case_2_a_newer_function_is_named() {
    names(
        r#"(component (import "jackfield:connector/log@0.1.0" (instance (export "write-many" (func)))))"#,
        &["write-many", "jackfield:connector/log@0.1.0"],
    )
    .await;
}

#[tokio::test]
async fn case_2_what_fits_is_loaded_and_described() {
    let loaded = sandbox::engine().load(guest::DISCORD.bytes()).await.unwrap();
    assert_eq!(loaded.descriptor().id, "discord");
    assert!(loaded.exports().transform && loaded.exports().runtime && !loaded.exports().webhook);
}
