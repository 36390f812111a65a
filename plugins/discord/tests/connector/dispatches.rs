//! Dispatches: each goes out once, as it came, into its lane, with its context.

use jackfield_sdk::Fault;
use jackfield_sdk::runtime::SessionFault;
use jackfield_sdk::transform::Answer;

use crate::stage::{CHANNEL, GUILD_ID, READY, Stage, message};

#[test]
fn bytes_are_the_bytes_that_came() {
    let mut stage = Stage::ready();
    let odd = r#" { "t" : "MESSAGE_CREATE" , "s":3,"op":0, "d":{ "id":"5", "channel_id":"6","big":1e400 } } "#;
    stage.frame(odd).unwrap();
    assert_eq!(stage.submitted().last().unwrap().payload.as_text(), Some(odd));
}

#[test]
fn ready_resumed_and_control_frames_are_not_dispatches() {
    let mut stage = Stage::fresh("{}");
    stage.go_ready();
    stage.frame(r#"{"op":0,"t":"RESUMED","s":2,"d":{}}"#).unwrap();
    stage.frame(READY).unwrap();
    stage.frame(r#"{"op":11}"#).unwrap();
    stage.frame(r#"{"op":99,"d":1}"#).unwrap();
    assert_eq!(stage.submitted(), []);
}

#[test]
fn lanes_follow_the_conversation() {
    let mut stage = Stage::ready();
    for (kind, payload, lane) in [
        ("MESSAGE_CREATE", r#"{"id":"9","channel_id":"7","guild_id":"8"}"#, "channel:7"),
        ("MESSAGE_REACTION_ADD", r#"{"message_id":"9","channel_id":"7","user_id":"3"}"#, "channel:7"),
        ("THREAD_CREATE", r#"{"id":"11","guild_id":"8","parent_id":"7"}"#, "channel:11"),
        ("CHANNEL_DELETE", r#"{"id":"7","guild_id":"8"}"#, "channel:7"),
        ("GUILD_MEMBER_ADD", r#"{"guild_id":"8","user":{"id":"3"}}"#, "guild:8"),
        ("GUILD_DELETE", r#"{"id":"8"}"#, "guild:8"),
        ("INTERACTION_CREATE", r#"{"id":"9","user":{"id":"3"}}"#, "user:3"),
        ("SOMETHING_ELSE", r#"{"id":"9"}"#, "session"),
        ("SOMETHING_ELSE", "[1,2]", "session"),
        ("SOMETHING_ELSE", "null", "session"),
        ("MESSAGE_CREATE", r#"{"id":9,"channel_id":7}"#, "session"),
    ] {
        stage.frame(&format!(r#"{{"op":0,"s":3,"t":"{kind}","d":{payload}}}"#)).unwrap();
        assert_eq!(stage.submitted().last().unwrap().lane, lane, "{kind} {payload}");
    }
}

#[test]
fn the_context_says_who_we_are_and_which_dispatch_it_was() {
    let mut stage = Stage::ready();
    let guild: serde_json::Value = serde_json::from_str(&stage.submitted()[0].context).unwrap();
    assert_eq!(
        guild,
        serde_json::json!({
            "self": "1213428388094649333",
            "app": "1213428388094649333",
            "session": "b1946ac92492d2347c6235b4d2611184",
            "seq": 2,
            "startup": true,
        })
    );
    // The same guild again is a new one: the bot was removed and added meanwhile.
    stage.frame(&format!(r#"{{"op":0,"s":3,"t":"GUILD_DELETE","d":{{"id":"{GUILD_ID}"}}}}"#)).unwrap();
    stage.frame(&format!(r#"{{"op":0,"s":4,"t":"GUILD_CREATE","d":{{"id":"{GUILD_ID}","name":"x"}}}}"#)).unwrap();
    assert!(!stage.submitted().last().unwrap().context.contains("startup"));
    // One that was merely unavailable is not.
    let gone = format!(r#"{{"op":0,"s":5,"t":"GUILD_DELETE","d":{{"id":"{GUILD_ID}","unavailable":true}}}}"#);
    stage.frame(&gone).unwrap();
    stage.frame(&format!(r#"{{"op":0,"s":6,"t":"GUILD_CREATE","d":{{"id":"{GUILD_ID}","name":"x"}}}}"#)).unwrap();
    let last = stage.submitted().pop().unwrap();
    assert!(last.context.contains(r#""startup":true"#));
    assert_eq!(last.answer(), Answer::Ignored("guild-state".to_owned()));
}

#[test]
fn a_frame_that_nobody_can_read_ends_in_the_dead_letters() {
    for text in ["", "{", "[1]", "not json", r#"{"op":0,"d":{}}"#, r#"{"op":"0"}"#] {
        let mut stage = Stage::ready();
        stage.frame(text).unwrap();
        let submitted = stage.submitted().pop().unwrap();
        assert_eq!((submitted.kind.as_str(), submitted.payload.as_text()), ("unreadable", Some(text)));
        assert!(matches!(submitted.answer(), Answer::Malformed(_)));
    }
}

#[test]
fn a_dispatch_that_the_host_can_never_take_is_passed_over_and_any_other_fault_ends_the_session() {
    let mut stage = Stage::ready();
    stage.give(vec![jackfield_sdk::runtime::Signal::Committed(vec!["1:2".to_owned()])]).unwrap();
    stage.desk.refuse_submit = Some(Fault::Invalid("over the dispatch limit".to_owned()));
    stage.frame(&message(3, 50)).unwrap();
    stage.elapse("beat").unwrap();
    assert_eq!(stage.last_sent(), r#"{"op":1,"d":3}"#, "it holds nothing back");
    stage.desk.refuse_submit = Some(Fault::Unavailable(None));
    assert!(matches!(stage.frame(&message(4, 51)), Err(SessionFault::Transient(_))));
}

#[test]
fn many_signals_of_one_call_are_told_apart() {
    let mut stage = Stage::ready();
    stage.clear();
    let frames: Vec<String> = (3..35).map(|seq| message(seq, 1_000 + seq)).collect();
    stage.give(frames.iter().map(|text| crate::stage::frame(text)).collect()).unwrap();
    let submitted = stage.submitted();
    assert_eq!(submitted.len(), frames.len());
    for (dispatch, text) in submitted.iter().zip(&frames) {
        assert_eq!(dispatch.payload.as_text(), Some(text.as_str()));
        assert_eq!(dispatch.lane, format!("channel:{CHANNEL}"));
    }
}
