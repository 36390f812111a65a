//! Scripts at work.

use jackfield_testkit::discord::{Double, Options, Script, StartError};
use serde_json::{Value, json};

use super::client::{Client, Heard, INTENTS, PATIENCE, start};

async fn scripted(script: Value) -> Double {
    start(Script::from_json(&script.to_string()).unwrap()).await
}

#[tokio::test]
async fn messages_begin_with_the_first_ready_and_end_with_their_number() {
    let double = scripted(json!({ "rate": "burst", "messages": 100, "seed": 3 })).await;
    let (mut client, _) = Client::ready(&double, INTENTS).await;
    for number in 0..100 {
        let message = client.dispatch("MESSAGE_CREATE").await;
        assert!(message["content"].as_str().unwrap().starts_with(&format!("#{number}")));
    }
    client.heartbeat(None).await;
    assert_eq!(double.log().counts().messages, 100);
}

#[tokio::test]
async fn a_pace_is_kept() {
    let double = scripted(json!({ "rate": 200, "messages": 60, "start": "now" })).await;
    double.log().wait_for(|record| record.counts().messages == 60, PATIENCE).await.unwrap();
    let taken = double.log().snapshot().last().unwrap().at_ms;
    assert!(taken >= 290, "60 messages at 200 a second within {taken} ms");
}

#[tokio::test]
async fn steps_fall_between_two_messages() {
    let steps = json!([{ "after_messages": 10, "do": "forget-session" }, { "every_messages": 20, "do": "withhold-acks", "count": 1 }]);
    let double = scripted(json!({ "rate": "burst", "messages": 50, "start": "now", "steps": steps })).await;
    double.log().wait_for(|record| record.counts().messages == 50, PATIENCE).await.unwrap();
    let mut messages = 0;
    let mut done = Vec::new();
    for entry in double.log().snapshot() {
        let entry = serde_json::to_value(&entry).unwrap();
        match entry["event"].as_str().unwrap() {
            "created" => messages += 1,
            "step" => done.push((messages, entry["action"].as_str().unwrap().to_owned())),
            _ => {}
        }
    }
    let expected = [(10, "forget-session"), (20, "withhold-acks"), (40, "withhold-acks")];
    assert_eq!(done.len(), expected.len());
    for ((at, action), (expected_at, expected_action)) in done.iter().zip(expected) {
        assert_eq!(*at, expected_at);
        assert!(action.contains(expected_action), "{action}");
    }
}

#[tokio::test]
async fn steps_by_the_clock_are_done() {
    let steps = json!([{ "after_ms": 30, "do": "flood", "messages": 40 }, { "after_ms": 1, "do": "flood", "messages": 2, "per_second": 100 }]);
    let double = scripted(json!({ "messages": 0, "start": "now", "steps": steps })).await;
    double.log().wait_for(|record| record.counts().messages == 42, PATIENCE).await.unwrap();
    assert_eq!(double.log().counts().steps, 2);
}

#[tokio::test]
async fn an_identify_can_be_answered_by_the_script() {
    let steps = json!([
        { "on": "identify", "do": "close", "code": 4003 },
        { "on": "identify", "do": "invalid-session", "resumable": false },
        { "on": "identify", "times": 2, "do": "close", "code": 4014 },
    ]);
    let double = scripted(json!({ "messages": 0, "steps": steps })).await;
    let mut heard = Vec::new();
    for _ in 0..4 {
        let mut client = Client::connect(&double).await;
        client.identify(INTENTS).await;
        heard.push(match client.next().await {
            Heard::Closed(code) => json!(code),
            Heard::Frame(frame) => frame["op"].clone(),
            Heard::Gone => Value::Null,
        });
    }
    assert_eq!(heard, [json!(4003), json!(9), json!(4014), json!(4014)]);
    Client::ready(&double, INTENTS).await;
    let counts = double.log().counts();
    assert_eq!((counts.identifies, counts.readies), (5, 1));
}

#[tokio::test]
async fn a_session_can_die_after_ready_every_time() {
    let steps = json!([{ "on": "ready", "times": "always", "do": "close", "code": 4002 }]);
    let double = scripted(json!({ "messages": 0, "steps": steps })).await;
    for _ in 0..3 {
        let (mut client, _) = Client::ready(&double, INTENTS).await;
        assert_eq!(client.end().await, Heard::Closed(4002));
    }
}

#[tokio::test]
async fn a_moment_concerns_its_own_connection() {
    let steps = json!([{ "on": "resumed", "do": "drop" }]);
    let double = scripted(json!({ "messages": 0, "steps": steps })).await;
    let (first, ready) = Client::ready(&double, INTENTS).await;
    let (mut other, _) = Client::ready(&double, INTENTS).await;
    let seq = first.seq;
    drop(first);
    let mut again = Client::resume(&double, &ready["session_id"], seq).await;
    again.dispatch("RESUMED").await;
    assert_eq!(again.end().await, Heard::Gone);
    other.heartbeat(None).await;
}

#[tokio::test]
async fn a_script_that_makes_no_sense_does_not_start() {
    let script = Script { guilds: 0, ..Script::default() };
    let refused = Double::start(Options { script, ..Options::default() }).await.unwrap_err();
    assert!(matches!(refused, StartError::Script(_)));
    assert!(refused.to_string().contains("`guilds` is 0: use 1 to 200"));
}

#[test]
fn the_readme_shows_scripts_that_can_be_used() {
    let readme = include_str!("../../README.md");
    let blocks: Vec<&str> = readme.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        Script::from_json(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
    }
}
