//! `check`: what a component is, or exactly why it is refused.

use std::fs;

use jackfield_tests::guest;
use jackfield_tests::processes::Home;

use super::{DONE, FAILED, INVALID, REFUSED, document, ended};

#[test]
fn a_good_component_is_described() {
    let home = Home::new("");
    let discord = guest::DISCORD.file(home.path());
    let (stdout, _) = ended(&home.run(&["check", discord.to_str().unwrap(), "--output", "json"]), DONE);
    let described = document(&stdout);
    assert_eq!((&described["accepted"], &described["id"]), (&true.into(), &"discord".into()), "{described:#}");
    assert!(described["digest"].as_str().unwrap().starts_with("sha256:"));
    assert!(described["asks"].to_string().contains("wss://gateway.discord.gg"), "{described:#}");
    let (stdout, _) = ended(&home.run(&["check", discord.to_str().unwrap()]), DONE);
    assert!(stdout.contains("is accepted") && stdout.contains("bot-token"), "{stdout}");
}

/// Every bad file is a clean refusal with a reason, and nothing is kept of it.
#[test]
fn report_w2_bad_files_are_refused_one_by_one() {
    let home = Home::new("");
    let good = guest::SESSION_ECHO.bytes();
    let files: [(&str, Vec<u8>); 8] = [
        ("cut.wasm", good[..good.len() * 6 / 10].to_vec()),
        ("empty.wasm", Vec::new()),
        ("module.wasm", b"\0asm\x01\0\0\0".to_vec()),
        ("magic.wasm", b"\0asm".to_vec()),
        ("picture.wasm", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
        ("text.wasm", b"(component)".to_vec()),
        ("nothing-in-it.wasm", wat::parse_str("(component)").unwrap()),
        ("trap.wasm", guest::SANDBOX_TRAPS_IN_START_FUNCTION.bytes()),
    ];
    for (name, bytes) in files {
        fs::write(home.path().join(name), bytes).unwrap();
        let (stdout, _) = ended(&home.run(&["check", name, "--output", "json"]), REFUSED);
        let refusal = document(&stdout);
        assert_eq!(refusal["accepted"], false, "{name}: {refusal:#}");
        assert!(refusal["reason"].as_str().unwrap().len() > 20, "{name}: {refusal:#}");
    }
}

#[test]
fn report_w1_what_is_missing_is_named_with_versions() {
    let home = Home::new("");
    let text = r#"(component (import "acme:connector-host/storage@9.9.0" (instance (export "open" (func)))))"#;
    fs::write(home.path().join("newer.wasm"), wat::parse_str(text).unwrap()).unwrap();
    let (stdout, _) = ended(&home.run(&["check", "newer.wasm"]), REFUSED);
    assert!(
        stdout.contains("acme:connector-host/storage@9.9.0") && stdout.contains("jackfield:connector/connector"),
        "{stdout}"
    );
}

#[test]
fn a_file_that_is_not_there_is_a_failure_and_no_file_is_usage() {
    let home = Home::new("");
    let (_, stderr) = ended(&home.run(&["check", "nowhere.wasm"]), FAILED);
    assert!(stderr.contains("nowhere.wasm"), "{stderr}");
    ended(&home.run(&["check"]), INVALID);
}
