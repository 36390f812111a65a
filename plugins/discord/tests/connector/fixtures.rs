//! Recorded payloads and what is right about each. A test a fixture, named after it; a fixture without a test fails.
//!
//! A payload goes the way that it goes in a real session: through the machine, which submits it, and then through
//! `transform`. Every word of an `.expected.json` is checked or named in [`NOT_HERE`]; one that is neither fails.

use std::path::Path;

use jackfield_sdk::transform::Answer;
use jackfield_sdk::{Event, Sender};
use serde_json::Value;

use crate::action::recorded;
use crate::stage::{Effect, READY, Stage, Submitted, message};

/// What an expectation may say that is checked elsewhere or is about others.
const NOT_HERE: [(&str, &str); 2] = [
    ("order_of_work", "said of the code; `wire::Text` has a test of its own"),
    ("must_not", "said of every implementation; where it can be checked, the check is here by the fixture's name"),
];

macro_rules! fixture_tests {
    ($($name:ident),+ $(,)?) => {
        /// Names of the tests, each `<folder>_<fixture>`.
        const TESTED: &[&str] = &[$(stringify!($name)),+];

        $(#[test]
        fn $name() {
            let (folder, fixture) = stringify!($name).split_once('_').unwrap();
            check(folder, fixture);
        })+
    };
}

fixture_tests! {
    common_deep_200,
    common_nul_and_surrogates,
    common_numbers_and_keys,
    discord_01_frames_control,
    discord_02_ready,
    discord_03_message_create_guild,
    discord_05_message_create_no_content_intent,
    discord_07_message_create_webhook,
    discord_09_message_update_embed_only,
    discord_11_message_update_edit,
    discord_13_guild_create_backfill,
    discord_18_interaction_button_guild,
    discord_21_unknown_dispatch,
    discord_30_rest_429_route,
    discord_32_rest_429_global,
    discord_34_close_codes,
    discord_35_rest_400_too_long,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"))
}

#[test]
fn every_fixture_has_a_test() {
    for folder in ["common", "discord"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let fixture = name.trim_end_matches(".json").trim_end_matches(".expected");
            assert!(TESTED.contains(&format!("{folder}_{fixture}").as_str()), "{name}");
        }
    }
}

fn check(folder: &str, fixture: &str) {
    let read = |name: String| std::fs::read_to_string(root().join(folder).join(name)).unwrap();
    let payload = read(format!("{fixture}.json"));
    let expected: Value = serde_json::from_str(&read(format!("{fixture}.expected.json"))).unwrap();
    let outcome = expected["outcome"].as_str().unwrap();
    let expect = &expected["expect"];
    match (fixture, outcome) {
        ("01_frames_control", "control") => control_frames(&payload, expect),
        ("02_ready", "control") => ready(expect),
        ("34_close_codes", "control") => crate::closes::check_table(&serde_json::from_str(&payload).unwrap()),
        (_, "retry") => rest_wait(&serde_json::from_str(&payload).unwrap(), expect),
        ("35_rest_400_too_long", "permanent_failure") => {
            recorded::check_too_long(&serde_json::from_str(&payload).unwrap(), expect);
        }
        (_, outcome) => dispatch(fixture, &as_frame(folder, &payload), outcome, expect),
    }
}

/// `{"__t": T, "d": D}` stands for a dispatch; spliced as text, since what is odd about it is the text.
fn as_frame(folder: &str, payload: &str) -> String {
    if folder != "common" {
        return payload.to_owned();
    }
    payload.trim().replacen(r#"{"__t":"#, r#"{"op":0,"s":3,"t":"#, 1)
}

fn dispatch(fixture: &str, frame: &str, outcome: &str, expect: &Value) {
    let mut stage = Stage::fresh("{}");
    stage.go_ready();
    stage.frame(frame).unwrap();
    let submitted = stage.submitted().pop().expect("every dispatch is submitted");
    let answer = submitted.answer();
    let event = match (outcome, &answer) {
        ("event" | "event_or_ignore" | "event_or_quarantine", Answer::Events(events)) if events.len() == 1 => {
            &events[0]
        }
        ("ignore" | "event_or_ignore", Answer::Ignored(reason)) => {
            return ignored(&mut stage, reason, expect);
        }
        ("quarantine" | "quarantine_or_exact", Answer::Malformed(reason)) => return quarantined(&submitted, reason),
        (outcome, answer) => panic!("{fixture}: {outcome} wanted, and it is {answer:?}"),
    };
    for (word, want) in expect.as_object().unwrap() {
        assert!(says(&mut stage, frame, event, word, want), "{fixture}: {word} is {want} in {event:#?}");
    }
    forbidden(fixture, &submitted, event);
}

/// Whether an event is what one word of an expectation wants.
fn says(stage: &mut Stage, frame: &str, event: &Event, word: &str, want: &Value) -> bool {
    let properties: Value = serde_json::from_str(&event.properties).unwrap();
    let bare = |key: &Value| key.as_str().map(|key| key.trim_start_matches("discord:").to_owned());
    let text = || properties["text"].as_str().unwrap();
    match word {
        "kind" => want.as_str().unwrap().split(" or ").any(|kind| kind == event.name),
        "dedupe_key" => bare(want).as_deref() == Some(&event.key),
        "refers_to" => bare(want) == event.refers_to,
        "occurred_at" => jackfield_discord::wire::when::millis(want.as_str().unwrap()) == Some(event.occurred_at),
        "conversation" => is_there(event, want),
        "sender" => is_from(event, want),
        "contact_resolution" => *want == "skip" && !event.subject.as_ref().unwrap().may_create,
        "text_contains" => text().contains(want.as_str().unwrap()),
        "text" => want.as_str().unwrap().split(" (").next() == Some(text()) && properties["sanitized"] == true,
        "text_change" => *want == false && properties.get("text").is_none() && event.subject.is_none(),
        "content_withheld" => {
            want.as_str().unwrap().split('|').any(|value| value == "true")
                && properties["content_withheld"] == true
                && properties.get("text").is_none()
        }
        "operator_signal" => {
            (0..4).for_each(|_| stage.frame(frame).unwrap());
            stage.reported("message-content-withheld") == 1
        }
        _ if NOT_HERE.iter().any(|(known, _)| *known == word) => true,
        property => properties[property] == *want,
    }
}

fn is_there(event: &Event, want: &Value) -> bool {
    let location = event.location.as_ref().unwrap();
    let (here, nowhere) = match want["type"].as_str().unwrap() {
        "dm" => (&location.peer, &location.room),
        _ => (&location.room, &location.peer),
    };
    here.as_deref() == want["id"].as_str() && nowhere.is_none() && location.account.as_deref() == want["guild"].as_str()
}

fn is_from(event: &Event, want: &Value) -> bool {
    let subject = event.subject.as_ref().unwrap();
    want.as_object().unwrap().iter().all(|(word, want)| match word.as_str() {
        "id" => subject.ids == [want.as_str().unwrap()],
        "display" => subject.display_name.as_deref() == want.as_str(),
        "is_bot" => (subject.sender == Sender::Bot) == *want,
        "is_self" => subject.is_self == *want,
        "platform_kind" => subject.sender == Sender::Webhook && *want == "webhook",
        other => panic!("{other}"),
    })
}

fn ignored(stage: &mut Stage, reason: &str, expect: &Value) {
    for (word, want) in expect.as_object().unwrap() {
        match word.as_str() {
            "kind" => assert_eq!((reason, want.as_str().unwrap()), ("guild-state", "state backfill")),
            "count_metric" => assert_eq!(reason, "unknown-kind"),
            "seq_after" => {
                stage.closes(None).unwrap();
                stage.elapse("reconnect").unwrap();
                stage.greet(41_250);
                assert!(stage.last_sent().contains(&format!(r#""seq":{want}}}"#)), "{}", stage.last_sent());
            }
            other => panic!("{other}"),
        }
    }
}

/// The raw bytes are what is kept, and the reason names no number that lost digits.
fn quarantined(submitted: &Submitted, reason: &str) {
    assert!(!submitted.payload.is_empty());
    assert!(!reason.is_empty());
    for rounded in ["1432011223344556700", "1432011223344556678", "e19", "e+19"] {
        assert!(!reason.contains(rounded), "{reason}");
    }
}

fn forbidden(fixture: &str, submitted: &Submitted, event: &Event) {
    let whole = format!("{event:?}{}", submitted.context);
    match fixture {
        "18_interaction_button_guild" => assert!(!whole.contains("aW50ZXJhY3Rpb24"), "the token is in the event"),
        "03_message_create_guild" => assert!(!event.key.contains("8d5c1f"), "the nonce is the sender's choice"),
        "11_message_update_edit" => assert_ne!(event.key, "839760899035176311:1468248479167064563"),
        _ => {}
    }
}

fn control_frames(payload: &str, expect: &Value) {
    let frames: Vec<Value> = serde_json::from_str(payload).unwrap();
    assert_eq!(frames.len(), expect.as_object().unwrap().len());
    for (index, frame) in frames.iter().enumerate() {
        let mut stage = Stage::ready();
        stage.clear();
        if frame["op"] == 10 {
            stage.closes(None).unwrap();
            stage.elapse("reconnect").unwrap();
            stage.opened();
            stage.clear();
        }
        stage.frame(&frame.to_string()).unwrap();
        assert_eq!(stage.submitted(), [], "frame {index} is no dispatch");
        let sent = |op: u8| stage.last_sent().starts_with(&format!(r#"{{"op":{op},"#));
        match (frame["op"].as_u64().unwrap(), &frame["d"]) {
            (10, _) => assert!(sent(6) && stage.desk.timers.contains_key("beat")),
            (11, _) => assert_eq!(stage.desk.effects, []),
            (1, _) => assert!(sent(1)),
            (7, _) | (9, Value::Bool(true)) => {
                assert!(stage.desk.effects.contains(&Effect::Close(None)));
                stage.elapse("reconnect").unwrap();
                stage.greet(41_250);
                assert!(stage.last_sent().starts_with(r#"{"op":6,"#));
            }
            (9, Value::Bool(false)) => {
                stage.elapse("reconnect").unwrap();
                stage.go_ready();
                assert_eq!(stage.resumes(), 0);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn ready(expect: &Value) {
    let mut stage = Stage::fresh("{}");
    stage.go_ready();
    assert_eq!(stage.submitted(), []);
    let checkpoint = stage.machine.checkpoint();
    let header = checkpoint.to_text_lossy().lines().next().unwrap().to_owned();
    let ready: Value = serde_json::from_str(READY).unwrap();
    for (word, want) in expect.as_object().unwrap() {
        match word.as_str() {
            "self_user_id" => assert!(header.contains(want.as_str().unwrap())),
            "store" => {
                for stored in ["session_id", "resume_gateway_url"] {
                    assert!(header.contains(ready["d"][stored].as_str().unwrap()), "{stored}");
                }
            }
            other => panic!("{other}"),
        }
    }
    // What is stored is what a resume after a restart uses, and the guild was there at the start.
    stage.restart().unwrap();
    stage.greet(41_250);
    assert!(stage.last_sent().contains(r#""session_id":"b1946ac92492d2347c6235b4d2611184","seq":1"#));
    stage.frame(crate::stage::GUILD).unwrap();
    assert!(stage.submitted()[0].context.contains(r#""startup":true"#));
}

/// A 429 of the REST API, given to the requests that this connector makes: an action's, and those of a session.
fn rest_wait(payload: &Value, expect: &Value) {
    recorded::check_wait(payload, expect);
    let mut stage = Stage::ready();
    stage.frame(&message(3, 1_468_248_479_167_064_563)).unwrap();
    stage.closes(Some(4009)).unwrap();
    stage.elapse("reconnect").unwrap();
    stage.go_ready();
    let label = "backfill:839760899035176311";
    stage.answer(label, Ok(recorded::response(payload))).unwrap();
    let all = expect["scope"].as_str().unwrap().starts_with("every request");
    let waited = stage.elapse(if all { "backfill" } else { label }).unwrap();
    assert!(waited >= expect["wait_ms_min"].as_u64().unwrap(), "{waited}");
    assert!(waited <= expect["wait_ms_max"].as_u64().unwrap_or(u64::MAX), "{waited}");
    assert!(stage.desk.fetches.contains_key(label));
}
