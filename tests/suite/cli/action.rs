//! `action`: what can be done, doing it, and the exit code that says whether it was done.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Output, Stdio};

use jackfield_tests::desk::{CANARY, config};
use jackfield_tests::guest::ACTION_STEPS;
use jackfield_tests::processes::{Home, PATIENCE, until};
use jackfield_tests::web::Web;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{DONE, FAILED, INVALID, REFUSED, document, ended};

/// A folder whose connection `echo` does what arguments say, with this web server as its platform.
pub fn home(web: &Web, more: &str) -> Home {
    Home::new(&config(&ACTION_STEPS.file(&jackfield_tests::scratch()), web, more)).with("CANARY", CANARY)
}

/// `action run echo ACTION` with these arguments, as a document.
pub fn run(home: &Home, action: &str, args: &Value, more: &[&str]) -> Output {
    let args = args.to_string();
    home.run(&[&["action", "run", "echo", action, "--args", &args, "--output", "json"][..], more].concat())
}

const SEND: &str =
    r#"{"send": {"url": "https://echo.test/ok", "method": "post", "body": "hello", "secret": "header"}}"#;

fn send() -> Value {
    serde_json::from_str(SEND).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_done_is_listed_and_shown() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    let (stdout, _) = ended(&home.run(&["action", "list"]), DONE);
    let wipe = stdout.lines().find(|line| line.contains(" wipe ")).unwrap_or_else(|| panic!("{stdout}"));
    assert!(wipe.contains("hard-delete") && wipe.contains("needed") && wipe.contains("not-idempotent"), "{stdout}");
    let listed = home.json(&["action", "list", "--connection", "echo"]);
    let names: Vec<&str> =
        listed["actions"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!(names, ["brief", "keyed", "look", "steps", "wipe"]);
    assert_eq!(listed["actions"][0]["input_schema"]["properties"]["ids"]["type"], "array", "{listed:#}");

    let (stdout, _) = ended(&home.run(&["action", "show", "echo", "look"]), DONE);
    for part in ["nothing is changed", "safe-retry", "not needed", "20s", "ids", "array of string", "said"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let (_, stderr) = ended(&home.run(&["action", "show", "echo", "loko"]), INVALID);
    assert!(stderr.contains("did you mean `look`"), "{stderr}");
    let (_, stderr) = ended(&home.run(&["action", "list", "--connection", "ehco"]), INVALID);
    assert!(stderr.contains("did you mean `echo`"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_says_whether_it_was_done() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    for (end, outcome, code) in [
        (json!("done"), "done", DONE),
        (json!({"partial": true}), "partial", FAILED),
        (json!({"rejected": "no such room"}), "rejected", FAILED),
        (json!({"retry": {"after": 1500}}), "retry", FAILED),
        (json!({"unauthorized": "token revoked"}), "unauthorized", FAILED),
        (json!({"unknown": "no answer"}), "unknown", FAILED),
    ] {
        let args = json!({"steps": [send()], "ids": ["m-1"], "end": end});
        let (stdout, stderr) = ended(&run(&home, "steps", &args, &[]), code);
        let told = document(&stdout);
        assert_eq!(told["outcome"], outcome, "{told:#}");
        assert_eq!((&told["attempt"], &told["recorded"]), (&json!(1), &json!(false)), "{told:#}");
        let did = ["done", "partial"].contains(&outcome);
        assert_eq!(told["output"]["said"].is_array(), did, "{told:#}");
        assert_eq!(told["provider_ids"], if did { json!(["m-1"]) } else { json!([]) }, "{told:#}");
        assert_eq!(told["reason"].is_string(), !did, "{told:#}");
        assert_eq!(told["after_ms"], if outcome == "retry" { json!(1500) } else { Value::Null }, "{told:#}");
        let keys: BTreeSet<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
        let all = [
            "after_ms",
            "attempt",
            "effects",
            "id",
            "notes",
            "outcome",
            "output",
            "provider_ids",
            "reason",
            "recorded",
        ];
        assert_eq!(keys, BTreeSet::from(all), "one stable document");
        assert!(stderr.is_empty() && !stdout.contains(CANARY), "{stdout}{stderr}");
        // The same for people.
        let args = args.to_string();
        let (stdout, _) = ended(&home.run(&["action", "run", "echo", "steps", "--args", &args]), code);
        assert!(stdout.starts_with(&format!("{outcome}\n")) && stdout.contains("execution"), "{stdout}");
    }
    let status = home.connection();
    assert_eq!(status["last_action"]["outcome"], "unknown", "{status:#}");
    assert_eq!((&status["actions"]["done"], &status["actions"]["retry"]), (&json!(2), &json!(2)), "{status:#}");
    let (stdout, _) = ended(&home.run(&["status"]), DONE);
    assert!(stdout.contains("steps ended") && stdout.contains("unknown"), "{stdout}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_says_which_case_it_is_and_sends_nothing() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    let send = json!({"steps": [send()]});
    let refused = |output: &Output, code: i32, case: &str| {
        let (stdout, stderr) = ended(output, code);
        let refusal = document(&stderr);
        assert!(stdout.is_empty() && refusal["error"].is_string(), "{stdout}{refusal:#}");
        assert_eq!(refusal["code"], case, "{refusal:#}");
        refusal
    };
    let misfit = json!({"steps": "all", "ids": [7], "what": 1});
    let told = refused(&run(&home, "steps", &misfit, &[]), INVALID, "arguments");
    let pointers: Vec<&str> =
        told["problems"].as_array().unwrap().iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    assert!(pointers.contains(&"/steps") && pointers.contains(&"/ids/0"), "{told:#}");
    let text = told.to_string();
    assert!(text.contains("array") && text.contains("string"), "what was expected: {text}");
    refused(&run(&home, "stesp", &send, &[]), INVALID, "no-action");
    let nowhere = home.run(&["action", "run", "nowhere", "steps", "-o", "json"]);
    refused(&nowhere, INVALID, "no-connection");
    refused(&run(&home, "wipe", &send, &[]), REFUSED, "needs-approval");
    refused(&run(&home, "steps", &send, &["--attempt", "2"]), REFUSED, "repeat");
    // Keys are kept and shown.
    let (_, stderr) = ended(&run(&home, "steps", &send, &["--key", CANARY]), INVALID);
    assert!(stderr.contains("secret") && !stderr.contains(CANARY), "{stderr}");
    for args in ["{", "@nowhere.json", "nonsense"] {
        let (_, stderr) = ended(&home.run(&["action", "run", "echo", "steps", "--args", args]), INVALID);
        assert!(stderr.contains("the arguments"), "{args}: {stderr}");
    }
    ended(&home.run(&["action", "run", "echo", "steps", "--timeout", "soon"]), INVALID);
    ended(&home.run(&["action", "run", "echo"]), INVALID);
    assert_eq!(web.asked().len(), 0);
    assert_eq!(home.json(&["executions", "list"])["executions"], json!([]));

    let (stdout, _) = ended(&run(&home, "wipe", &send, &["--approve"]), DONE);
    let id = document(&stdout)["id"].as_str().unwrap().to_owned();
    let row = home.json(&["executions", "show", &id]);
    assert!(row["approved"].as_str().unwrap().starts_with("uid:"), "{row:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn under_a_key_it_is_done_once() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    let args = json!({"steps": [send()], "ids": ["m-1"]});
    let (first, _) = ended(&run(&home, "steps", &args, &["--key", "order-17"]), DONE);
    let (again, _) = ended(&run(&home, "steps", &args, &["--key", "order-17"]), DONE);
    let (first, again) = (document(&first), document(&again));
    assert_eq!((&again["recorded"], &again["id"]), (&json!(true), &first["id"]), "{again:#}");
    assert_eq!(again["output"], first["output"]);
    let other = run(&home, "steps", &json!({"steps": []}), &["--key", "order-17"]);
    let (_, stderr) = ended(&other, REFUSED);
    let refusal = document(&stderr);
    assert_eq!((&refusal["code"], &refusal["execution"]), (&json!("key-conflict"), &first["id"]), "{refusal:#}");
    assert_eq!(web.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_come_from_a_file_and_from_stdin() {
    let web = Web::start().await;
    let home = home(&web, "");
    let _host = home.serve();
    let args = json!({"ids": ["m-1"]}).to_string();
    fs::write(home.path().join("args.json"), &args).unwrap();
    let command = ["action", "run", "echo", "look", "-o", "json", "--args"];
    let from_file = home.run(&[&command[..], &["@args.json"]].concat());
    let stdin = fs::File::open(home.path().join("args.json")).unwrap();
    let from_stdin = home.command(&[&command[..], &["-"]].concat()).stdin(stdin).output().unwrap();
    for output in [from_file, from_stdin] {
        let (stdout, _) = ended(&output, DONE);
        assert_eq!(document(&stdout)["provider_ids"], json!(["m-1"]));
    }
    // None at all are an empty object.
    ended(&home.run(&["action", "run", "echo", "look"]), DONE);
}

/// A run that waits, far longer than this test does, for a place that the platform does not give.
fn waiting(home: &Home) -> Child {
    let args = json!({"end": {"retry": {"after": 300_000, "bucket": "rooms"}}}).to_string();
    let mut command = home.command(&["action", "run", "echo", "steps", "--args", &args]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("it waits", || {
        let bucket = &home.connection()["buckets"][0];
        (bucket["bucket"] == "rooms" && bucket["waiting"] == 1).then_some(())
    });
    child
}

/// The newest execution, once it has ended.
fn cancelled(home: &Home) {
    let row = until("the execution ends", || {
        let row = home.json(&["executions", "list", "--limit", "1"])["executions"][0].clone();
        (!row["outcome"].is_null()).then_some(row)
    });
    assert_eq!(row["outcome"], "retry", "nothing was sent: {row:#}");
    assert!(row["reason"].as_str().unwrap().contains("left"), "{row:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_cancels_however_he_leaves() {
    assert!(PATIENCE.as_millis() < 300_000, "it would end by itself");
    let web = Web::start().await;
    let home = home(&web, "limits = { action = \"10min\" }");
    let _host = home.serve();
    let child = waiting(&home);
    let (stdout, _) = ended(&home.run(&["status"]), DONE);
    assert!(stdout.contains("HELD BACK") && stdout.contains("rooms"), "{stdout}");
    kill(&child, Signal::INT);
    let (_, stderr) = ended(&child.wait_with_output().unwrap(), 130);
    assert!(stderr.contains("executions list --connection echo --action steps"), "{stderr}");
    cancelled(&home);
    let child = waiting(&home);
    kill(&child, Signal::KILL);
    child.wait_with_output().unwrap();
    cancelled(&home);
}

/// The time that a caller gives covers the wait too.
#[tokio::test(flavor = "multi_thread")]
async fn a_caller_waits_no_longer_than_he_says() {
    let web = Web::start().await;
    let home = home(&web, "limits = { action = \"10min\" }");
    let _host = home.serve();
    let args = json!({"end": {"retry": {"after": 300_000, "bucket": "rooms"}}});
    let (stdout, _) = ended(&run(&home, "steps", &args, &["--timeout", "500ms"]), FAILED);
    let told = document(&stdout);
    assert_eq!(told["outcome"], "retry", "{told:#}");
    assert!(told["reason"].as_str().unwrap().contains("rooms"), "{told:#}");
}

fn kill(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), signal).unwrap();
}
