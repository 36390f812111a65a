//! Payloads made to hurt.

use jackfield_sdk::transform::{Answer, Received};
use jackfield_sdk::{Blob, Dispatch, Transport};

use crate::stage::{Stage, message};

fn answer(kind: &str, payload: Blob) -> Answer {
    let dispatch =
        Dispatch { kind: kind.to_owned(), payload, lane: "session".to_owned(), context: r#"{"self":null}"#.to_owned() };
    jackfield_discord::transform::answer(&Received { dispatch, via: Transport::Socket, received_at: 0 })
}

fn nested(depth: usize) -> [String; 4] {
    let list = "[".repeat(depth);
    let record = r#"{"a":"#.repeat(depth);
    [
        format!(r#"{{"op":0,"t":"MESSAGE_CREATE","s":3,"d":{list}"#),
        format!(r#"{{"op":0,"t":"MESSAGE_CREATE","s":3,"d":{{"x":{record}1{}}}}}"#, "}".repeat(depth)),
        format!(r#"{{"op":0,"t":"INTERACTION_CREATE","s":3,"d":{{"id":"1","type":2,"data":{{"options":{list}"#),
        list,
    ]
}

/// On a thread with a small stack: four times the component's, since frames are larger here.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn depth_overflows_no_stack() {
    on_a_small_stack(|| {
        for depth in [129, 5_000, 100_000] {
            for text in nested(depth) {
                let mut stage = Stage::ready();
                stage.frame(&text).unwrap();
                let submitted = stage.submitted().pop().unwrap();
                assert!(matches!(submitted.answer(), Answer::Malformed(_)), "{depth}");
                assert!(matches!(answer("INTERACTION_CREATE", Blob::Text(text)), Answer::Malformed(_)));
            }
        }
    });
}

#[test]
fn options_as_deep_as_allowed_are_read_on_a_small_stack() {
    on_a_small_stack(|| {
        let depth = 55;
        let open = r#"{"name":"a","options":["#.repeat(depth);
        let text = format!(
            r#"{{"op":0,"t":"INTERACTION_CREATE","d":{{"id":"1","type":2,"data":{{"name":"c","options":[{open}{}]}}}}}}"#,
            "]}".repeat(depth)
        );
        assert!(matches!(answer("INTERACTION_CREATE", Blob::Text(text)), Answer::Events(_)));
    });
}

#[test]
fn a_million_keys_and_bytes_that_are_no_text_get_an_answer() {
    let keys: String = (0..100_000).map(|key| format!(r#""k{key}":1e400,"#)).collect();
    let text = format!(r#"{{"op":0,"t":"MESSAGE_CREATE","s":3,"d":{{{keys}"id":"5"}}}}"#);
    assert!(matches!(answer("MESSAGE_CREATE", Blob::Text(text)), Answer::Events(_)));
    assert!(matches!(answer("MESSAGE_CREATE", Blob::Binary(vec![0xff, 0xfe])), Answer::Malformed(_)));
}

#[test]
fn reasons_are_short() {
    let text = format!(r#"{{"d":{{"id":"5","timestamp":{{"{}":1}}}}}}"#, "ö".repeat(2_000));
    let Answer::Malformed(reason) = answer("MESSAGE_CREATE", Blob::Text(text)) else { panic!() };
    assert!(reason.len() <= 240, "{}", reason.len());
}

#[test]
fn a_placeholder_in_what_people_write_is_text() {
    let mut stage = Stage::ready();
    let text = message(3, 50).replace("number 50", "{{secret:bot-token}}");
    stage.frame(&text).unwrap();
    let event = stage.submitted().last().unwrap().event();
    assert!(event.properties.contains("{{secret:bot-token}}"));
}

#[test]
fn a_session_id_that_could_break_out_of_a_frame_is_not_used() {
    for id in [r#"a\",\"x\":\""#, "{{secret:bot-token}}", ""] {
        let mut stage = Stage::fresh("{}");
        stage.gateway_answers(900);
        stage.greet(41_250);
        stage.frame(&crate::stage::READY.replace("b1946ac92492d2347c6235b4d2611184", id)).unwrap();
        stage.assert_reported("ready");
        stage.closes(None).unwrap();
        stage.elapse("reconnect").unwrap();
        assert_eq!(stage.resumes(), 0);
        stage.go_ready();
    }
}
