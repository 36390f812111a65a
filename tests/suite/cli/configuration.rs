//! Configurations that are wrong: everything at once, with places, and nothing runs.

use std::fs;

use jackfield_tests::guest;
use jackfield_tests::platform::Platform;
use jackfield_tests::processes::Home;

use super::{DONE, INVALID, REFUSED, document, ended};

fn good(platform: &Platform) -> String {
    platform.config(&guest::SESSION_ECHO.file(&jackfield_tests::scratch()), "", "")
}

#[test]
fn a_valid_configuration() {
    let platform = Platform::start();
    let home = Home::new(&good(&platform));
    let (stdout, _) = ended(&home.run(&["validate", "--output", "json"]), DONE);
    let valid = document(&stdout);
    assert_eq!((&valid["valid"], &valid["connections"][0]["id"]), (&true.into(), &"echo".into()), "{valid:#}");
    assert!(platform.another().is_none(), "nothing runs");
}

#[test]
fn all_problems_are_told_at_once_with_their_places() {
    let platform = Platform::start();
    let text = good(&platform)
        .replace("contacts = \"people\"", "contact = \"people\"")
        .replace("state:64KiB", "state:lots")
        .replace("id = \"echo\"", "id = \"Echo!\"")
        + "limits = { memory = \"64 furlongs\", cal = \"5s\" }\n";
    let home = Home::new(&text);
    let (stdout, _) = ended(&home.run(&["validate", "--output", "json"]), INVALID);
    let told = document(&stdout);
    let problems = told["problems"].as_array().unwrap();
    assert!(problems.len() >= 5, "{told:#}");
    assert!(problems.iter().all(|problem| problem["line"].is_u64()), "each has a place: {told:#}");
    let text = told.to_string();
    for word in ["contacts", "lots", "Echo!", "furlongs", "call"] {
        assert!(text.contains(word), "{word}: {told:#}");
    }
    // The same when it is to run: it does not, and the text for people names file and line.
    let (_, stderr) = ended(&home.run(&["serve"]), INVALID);
    assert!(stderr.contains("jackfield.toml") && stderr.contains("furlongs"), "{stderr}");
}

#[test]
fn what_is_not_granted_is_refused_and_says_what() {
    let platform = Platform::start();
    let home = Home::new(&good(&platform).replace(", \"state:64KiB\"]", "]"));
    let (stdout, stderr) = ended(&home.run(&["validate"]), REFUSED);
    assert!((stdout + &stderr).contains("state:64KiB"));
}

/// A configuration that holds in part gives out no number: the next component is not the second.
#[test]
fn a_configuration_that_does_not_hold_numbers_nothing() {
    let platform = Platform::start();
    let echo = good(&platform);
    let home = Home::new(&(echo + "[[connection]]\nid = \"other\"\nconnector = \"nowhere.wasm\"\n"));
    let (_, stderr) = ended(&home.run(&["serve"]), INVALID);
    assert!(stderr.contains("nowhere.wasm"), "{stderr}");
    home.write_config(&platform.config(&guest::SESSION_ECHO_FIXED.file(&jackfield_tests::scratch()), "", ""));
    let _host = home.serve();
    assert_eq!(home.wait_state("ready")["connector"]["generation"], 1);
}

#[test]
fn case_4_case_5_a_digest_that_differs_is_refused() {
    let platform = Platform::start();
    let text = good(&platform);
    let home = Home::new(&text);
    let component = guest::SESSION_ECHO.bytes();
    let digest = jackfield_model::Digest::of(&component);
    home.write_config(&(text.clone() + &format!("digest = \"{digest}\"\n")));
    ended(&home.run(&["validate"]), DONE);
    // The same code with junk behind it: every runtime would run it, and the pin refuses it.
    let appended = [component.as_slice(), &[0, 3, 1, b'x', 0xaa]].concat();
    fs::write(home.path().join("other.wasm"), &appended).unwrap();
    let original = guest::SESSION_ECHO.file(home.path());
    let text = text.replace(original.to_str().unwrap(), "other.wasm");
    home.write_config(&text);
    ended(&home.run(&["validate"]), DONE);
    home.write_config(&(text + &format!("digest = \"{digest}\"\n")));
    let (stdout, stderr) = ended(&home.run(&["validate"]), REFUSED);
    assert!((stdout + &stderr).contains(&jackfield_model::Digest::of(&appended).to_string()), "both digests are told");
}

#[test]
fn secrets_that_are_missing_short_or_in_no_environment() {
    let platform = Platform::start();
    let text = good(&platform) + "secrets.canary = { env = \"CANARY\", to = [\"https://echo.test\"] }\n";
    let home = Home::new(&text);
    let (_, stderr) = ended(&home.run(&["validate"]), INVALID);
    assert!(stderr.contains("CANARY"), "{stderr}");
    let home = Home::new(&text).with("CANARY", "short");
    let (stdout, stderr) = ended(&home.run(&["validate"]), INVALID);
    let said = stdout + &stderr;
    assert!(said.contains("canary") && !said.contains("short\""), "{said}");
}

#[test]
fn a_configuration_that_is_not_valid_for_the_connector_is_told_by_key() {
    let platform = Platform::start();
    let component = guest::SESSION_ECHO.file(&jackfield_tests::scratch());
    let home = Home::new(&platform.config(&component, "start = \"sideways\", speed = 3", ""));
    let (stdout, stderr) = ended(&home.run(&["validate"]), INVALID);
    let said = stdout + &stderr;
    assert!(said.contains("sideways") || said.contains("start"), "{said}");
    assert!(said.contains("speed"), "{said}");
}

#[test]
fn the_schema_is_a_schema() {
    let home = Home::new("");
    let (stdout, _) = ended(&home.run(&["validate", "--schema"]), DONE);
    assert!(document(&stdout)["properties"]["connection"].is_object());
}

#[test]
fn report_d7_an_id_without_quotes_is_refused() {
    let home =
        Home::new("[host]\ndata = \"./data\"\n[[connection]]\nid = 1432011223344556677\nconnector = \"x.wasm\"\n");
    let (stdout, _) = ended(&home.run(&["validate", "--output", "json"]), INVALID);
    assert!(document(&stdout)["problems"].to_string().contains("id"), "{stdout}");
}
