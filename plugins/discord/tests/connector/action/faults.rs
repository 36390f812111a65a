//! Every way in which a request can end, before and after something was done.

use jackfield_sdk::action::ActionFault;
use jackfield_sdk::{Fault, HttpResponse};
use serde_json::json;

use super::desk::{Asked, BUCKET, CHANNEL, Desk, answer, ids, output, partial, refusal, retry, too_many};

type Answer = Result<HttpResponse, Fault>;

fn three_parts() -> serde_json::Value {
    json!({ "channel_id": CHANNEL, "text": "word ".repeat(1_100) })
}

fn rejected(why: &str) -> ActionFault {
    ActionFault::Rejected(why.to_owned())
}

/// How the first of three parts ends the call, and what the second says of it: whether it happened, and why.
#[track_caller]
fn check(of: &Answer, alone: &ActionFault, happened: &str, why: &str) {
    let mut desk = Desk::answering([of.clone()]);
    assert_eq!(desk.run("send-message", &three_parts()).as_ref(), Err(alone), "{of:?}");
    assert_eq!(desk.sent().len(), 1, "nothing follows {of:?}");

    let mut desk = Desk::new();
    let first = desk.message();
    desk.answers.extend([Ok(first), of.clone()]);
    let outcome = partial(desk.run("send-message", &three_parts()));
    assert_eq!(outcome.provider_ids, ids(1));
    let stopped = json!({ "part": 2, "of": 3, "happened": happened, "why": why });
    assert_eq!(output(&outcome), json!({ "channel_id": CHANNEL, "message_ids": ids(1), "stopped": stopped }));
    assert_eq!(desk.sent().len(), 2, "nothing follows {of:?}");
}

#[test]
fn a_status_is_what_happened() {
    let missing = "Discord refused (50013): Missing Permissions";
    check(&refusal(403, 50_013, "Missing Permissions"), &rejected(missing), "no", missing);
    let unknown = "Discord refused (10003): Unknown Channel";
    check(&refusal(404, 10_003, "Unknown Channel"), &rejected(unknown), "no", unknown);
    let bare = "Discord refused (status 405)";
    check(&Ok(HttpResponse::text(405, "")), &rejected(bare), "no", bare);
    let moved = "Discord refused (status 302)";
    check(&Ok(HttpResponse::text(302, "<html>")), &rejected(moved), "no", moved);
    let token = "Discord does not accept the bot token (401)";
    check(&refusal(401, 0, "401: Unauthorized"), &ActionFault::Unauthorized(token.to_owned()), "no", token);
    for status in [500, 502, 503, 504, 524] {
        let why = format!("Discord failed ({status})");
        check(&Ok(HttpResponse::text(status, "")), &ActionFault::Unknown(why.clone()), "maybe", &why);
    }
}

/// It says that it worked and not what it made. Whoever repeats it under the same key gets the id from Discord.
#[test]
fn a_success_without_an_id_may_have_happened() {
    let why = "Discord's answer has no id in it";
    for body in [json!(null), json!({}), json!({ "id": 1_468_248_479_167_064_563_u64 }), json!("<html>")] {
        check(&answer(200, &body), &ActionFault::Unknown(why.to_owned()), "maybe", why);
    }
}

#[test]
fn a_fault_is_what_happened() {
    let unavailable = Err(Fault::Unavailable(Some(250)));
    check(&unavailable, &retry(Some(250), None), "no", "unavailable for 250 ms");
    check(&Err(Fault::Unavailable(None)), &retry(None, None), "no", "unavailable");
    check(&Err(Fault::Exhausted("requests".into())), &retry(None, None), "no", "exhausted: requests");
    let lost = ActionFault::Unknown("the answer was lost".to_owned());
    check(&Err(Fault::Unknown("the answer was lost".into())), &lost, "maybe", "outcome unknown: the answer was lost");
    let grant = "`https://discord.com` is not granted";
    check(&Err(Fault::Denied(grant.into())), &rejected(grant), "no", &format!("denied: {grant}"));
    check(&Err(Fault::Invalid("url".into())), &rejected("url"), "no", "invalid: url");
    let cancelled = ActionFault::Unknown("cancelled while a request was under way".to_owned());
    check(&Err(Fault::Cancelled), &cancelled, "maybe", "cancelled");
}

#[test]
fn a_429_before_anything_is_done_lets_the_call_wait() {
    let mut desk = Desk::answering([too_many(1.337, false)]);
    assert_eq!(desk.run("send-message", &three_parts()), Err(retry(Some(1_337), Some(BUCKET))));
    let mut desk = Desk::answering([too_many(64.57, true)]);
    assert_eq!(desk.run("send-message", &three_parts()), Err(retry(Some(64_570), Some("*"))));
}

#[test]
fn a_429_after_something_was_done_is_waited_for() {
    for (global, bucket) in [(false, BUCKET), (true, "*")] {
        let mut desk = Desk::new();
        let first = desk.message();
        desk.answers.extend([Ok(first), too_many(1.337, global), too_many(0.5, global)]);
        let outcome = desk.run("send-message", &three_parts()).unwrap();
        assert_eq!(outcome.provider_ids, ids(3));
        assert_eq!(desk.slowed(), [(bucket, 1_337), (bucket, 500)], "the next reserve is what waits");
        let contents: Vec<_> = desk.sent().iter().map(|sent| sent.body.clone()).collect();
        assert_eq!(contents.len(), 5);
        assert!(contents[1] == contents[2] && contents[2] == contents[3], "the same part again, nonce and all");
    }
}

#[test]
fn a_429_without_end_is_given_up() {
    let mut desk = Desk::new();
    let first = desk.message();
    desk.answers.push_back(Ok(first));
    desk.answers.extend((0..50).map(|_| too_many(1.0, false)));
    let outcome = partial(desk.run("send-message", &three_parts()));
    assert_eq!(outcome.provider_ids, ids(1));
    assert_eq!(output(&outcome)["stopped"]["happened"], "no");
    assert_eq!(desk.sent().len(), 1 + 4);
}

#[test]
fn without_a_place_nothing_is_sent() {
    let mut desk = Desk::new();
    desk.places.push_back(Err(Fault::Unavailable(Some(800))));
    assert_eq!(desk.run("send-message", &three_parts()), Err(retry(Some(800), Some(BUCKET))));
    assert_eq!(desk.asked, [Asked::Reserve(BUCKET.to_owned())]);

    let mut desk = Desk::new();
    desk.places.extend([Ok(()), Err(Fault::Unavailable(Some(90_000)))]);
    let outcome = partial(desk.run("send-message", &three_parts()));
    assert_eq!(outcome.provider_ids, ids(1));
    let stopped = json!({ "part": 2, "of": 3, "happened": "no", "why": "no place in the rate limit" });
    assert_eq!(output(&outcome)["stopped"], stopped);
    assert_eq!(desk.sent().len(), 1);
}

/// A reservation sends nothing, so nothing that it says is "maybe".
#[test]
fn a_reservation_that_fails_is_no() {
    let cases = [
        (Fault::Cancelled, retry(None, None)),
        (Fault::Unknown("?".into()), retry(None, None)),
        (Fault::Exhausted("buckets".into()), retry(None, None)),
        (Fault::Denied("http".into()), rejected("http")),
        (Fault::Invalid("bucket".into()), rejected("bucket")),
    ];
    for (fault, want) in cases {
        let mut desk = Desk::new();
        desk.places.push_back(Err(fault));
        assert_eq!(desk.run("send-message", &three_parts()), Err(want));
        assert_eq!(desk.sent().len(), 0);
    }
}
