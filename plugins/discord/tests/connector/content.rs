//! Guild messages without text: one notice, and its end.

use jackfield_discord::runtime::timer;

use crate::stage::{Stage, message};

pub(crate) const WITHHELD: &str = include_str!("../../fixtures/discord/05_message_create_no_content_intent.json");

#[test]
fn five_in_a_row_are_noticed_once_until_text_comes() {
    let mut stage = Stage::ready();
    for _ in 0..4 {
        stage.frame(WITHHELD).unwrap();
    }
    assert_eq!(stage.reported("message-content-withheld"), 0);
    for _ in 0..6 {
        stage.frame(WITHHELD).unwrap();
    }
    assert_eq!(stage.reported("message-content-withheld"), 1);
    stage.frame(&message(40, 1_000)).unwrap();
    stage.assert_reported("ready");
    for _ in 0..5 {
        stage.frame(WITHHELD).unwrap();
    }
    assert_eq!(stage.reported("message-content-withheld"), 2);
}

#[test]
fn the_notice_stands_after_a_resume_and_ends_with_the_session() {
    let mut stage = Stage::ready();
    for _ in 0..5 {
        stage.frame(WITHHELD).unwrap();
    }
    stage.restart().unwrap();
    stage.greet(41_250);
    stage.frame(r#"{"op":0,"t":"RESUMED","s":40,"d":{}}"#).unwrap();
    stage.assert_reported("message-content-withheld");
    stage.frame(&message(41, 1_000)).unwrap();
    stage.assert_reported("ready");

    for _ in 0..5 {
        stage.frame(WITHHELD).unwrap();
    }
    stage.restart().unwrap();
    stage.greet(41_250);
    stage.frame(r#"{"op":9,"d":false}"#).unwrap();
    stage.elapse(timer::RECONNECT).unwrap();
    stage.go_ready();
}

#[test]
fn what_may_be_empty_is_no_sign() {
    let replace = |from: &str, to: &str| {
        let compact: serde_json::Value = serde_json::from_str(WITHHELD).unwrap();
        let compact = compact.to_string();
        assert!(compact.contains(from), "{from}");
        compact.replace(from, to)
    };
    let me = "1213428388094649333";
    let harmless = [
        replace(r#""attachments":[]"#, r#""attachments":[{"id":"5","filename":"a.png"}]"#),
        replace(r#""tts":false"#, r#""sticker_items":[{"id":"5"}]"#),
        replace(r#""tts":false"#, r#""poll":{"question":{"text":"?"}}"#),
        replace(r#""tts":false"#, r#""message_snapshots":[{"message":{}}]"#),
        replace(r#""mentions":[]"#, &format!(r#""mentions":[{{"id":"{me}"}}]"#)),
        replace(r#""id":"764822921259706715""#, &format!(r#""id":"{me}""#)),
        replace(r#""type":0"#, r#""type":7"#),
        replace(r#""guild_id":"839760432494458817""#, r#""x":1"#),
    ];
    let mut stage = Stage::ready();
    for message in harmless.iter().cycle().take(40) {
        stage.frame(message).unwrap();
    }
    assert_eq!(stage.reported("message-content-withheld"), 0);
}
