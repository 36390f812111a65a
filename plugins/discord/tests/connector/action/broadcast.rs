//! `broadcast`: several channels, each with its own fate.

use jackfield_sdk::action::ActionFault;
use jackfield_sdk::{Fault, HttpResponse};
use serde_json::{Value, json};

use super::desk::{Desk, ids, output, partial, refusal, retry, too_many};

const CHANNELS: [&str; 3] = ["1432011223344556677", "1432011223344556678", "1432011223344556679"];

type Answer = Result<HttpResponse, Fault>;

fn args() -> Value {
    json!({ "channel_ids": CHANNELS, "text": "hello" })
}

fn bucket(channel: &str) -> String {
    format!("POST /channels/{channel}/messages")
}

/// What is known of each channel.
fn states(output: &Value) -> Vec<&str> {
    output["results"].as_array().unwrap().iter().map(|result| result["state"].as_str().unwrap()).collect()
}

fn refused() -> Answer {
    refusal(403, 50_013, "Missing Permissions")
}

#[test]
fn every_channel_gets_it_under_a_nonce_of_its_own() {
    let mut desk = Desk::new();
    let outcome = desk.run("broadcast", &args()).unwrap();
    assert_eq!(outcome.provider_ids, ids(3));
    assert_eq!(states(&output(&outcome)), ["sent", "sent", "sent"]);
    assert_eq!(desk.lines(), CHANNELS.map(bucket));
    let nonces: Vec<&Value> = desk.sent().iter().map(|sent| &sent.body["nonce"]).collect();
    assert!(nonces[0] != nonces[1] && nonces[1] != nonces[2], "Discord knows a nonce whatever the channel: {nonces:?}");
}

#[test]
fn what_one_channel_says_stops_no_other() {
    let lost = Err(Fault::Unknown("the answer was lost".into()));
    for (odd, state) in [(refused(), "not-sent"), (lost, "unknown"), (Err(Fault::Unavailable(None)), "not-sent")] {
        let mut desk = Desk::new();
        let first = desk.message();
        desk.answers.extend([Ok(first), odd]);
        let outcome = partial(desk.run("broadcast", &args()));
        assert_eq!(outcome.provider_ids, ids(2));
        let output = output(&outcome);
        assert_eq!(states(&output), ["sent", state, "sent"]);
        assert_eq!(output["results"][1]["message_ids"], json!([]));
        assert_ne!(output["results"][1]["stopped"]["why"], "");
    }
}

#[test]
fn a_channel_can_be_done_in_part() {
    let mut desk = Desk::new();
    let (first, second) = (desk.message(), desk.message());
    desk.answers.extend([refused(), Ok(first), refused(), Ok(second)]);
    let args = json!({ "channel_ids": CHANNELS, "text": "word ".repeat(500) });
    let outcome = partial(desk.run("broadcast", &args));
    let output = output(&outcome);
    assert_eq!(states(&output), ["not-sent", "partial", "sent"]);
    assert_eq!(output["results"][1]["stopped"]["part"], 2);
    assert_eq!(outcome.provider_ids, ids(3));
}

#[test]
fn when_none_is_done_the_fault_that_says_most_is_told() {
    let check = |answers: [Answer; 3], want: ActionFault, sent: usize| {
        let mut desk = Desk::answering(answers);
        assert_eq!(desk.run("broadcast", &args()), Err(want));
        assert_eq!(desk.sent().len(), sent);
    };
    let missing = || ActionFault::Rejected("Discord refused (50013): Missing Permissions".to_owned());
    check([refused(), refused(), refused()], missing(), 3);
    // Something may have been done, and that comes first.
    let lost = || Err(Fault::Unknown("lost".into()));
    check([refused(), lost(), refused()], ActionFault::Unknown("lost".to_owned()), 3);
    check([lost(), Err(Fault::Unavailable(None)), refused()], ActionFault::Unknown("lost".to_owned()), 3);
    // No credential, no grant: nothing else is tried.
    let token = ActionFault::Unauthorized("Discord does not accept the bot token (401)".to_owned());
    check([refused(), refusal(401, 0, "401: Unauthorized"), refused()], token, 2);
    check([Err(Fault::Denied("a grant".into())), refused(), refused()], ActionFault::Rejected("a grant".into()), 1);
    // Nothing is done yet: all of it can wait.
    check([refused(), too_many(1.5, false), refused()], retry(Some(1_500), Some(&bucket(CHANNELS[1]))), 2);
    check([too_many(3.0, true), refused(), refused()], retry(Some(3_000), Some("*")), 1);
}

#[test]
fn what_ends_all_of_it_leaves_the_rest_undone() {
    let token = refusal(401, 0, "401: Unauthorized");
    for (end, sent) in [(token, 2), (Err(Fault::Denied("a grant".into())), 2), (Err(Fault::Cancelled), 2)] {
        let cancelled = end == Err(Fault::Cancelled);
        let mut desk = Desk::new();
        let first = desk.message();
        desk.answers.extend([Ok(first), end]);
        let outcome = partial(desk.run("broadcast", &args()));
        let second = if cancelled { "unknown" } else { "not-sent" };
        assert_eq!(states(&output(&outcome)), ["sent", second, "not-sent"]);
        assert_eq!(desk.sent().len(), sent, "no request follows");
    }
}

#[test]
fn time_that_runs_out_leaves_the_rest_undone() {
    let mut desk = Desk::new();
    desk.slow_ms = 59_500;
    let outcome = partial(desk.run("broadcast", &args()));
    let output = output(&outcome);
    assert_eq!(states(&output), ["sent", "not-sent", "not-sent"]);
    assert_eq!(output["results"][2]["stopped"]["why"], "no time is left");
}
