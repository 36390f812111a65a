//! Effects, phases and failures of a session's guest.

use super::*;
use crate::failure::FailureKind;
use crate::testing::{Fakes, limits, load};
use jackfield_model::session::StartReason;
use jackfield_model::wire::Method;

/// What every runtime has: fields first (imports among them), then the bodies of its three functions. All of the second page
/// is zero, and zeroes are `ok` and an empty text.
fn runtime(fields: &str, start: &str, handle: &str, checkpoint: &str) -> String {
    let params = "i32 ".repeat(13);
    format!(
        r#"{fields}
        (data (i32.const 700) "label")
        (func (export "jackfield:connector/runtime@0.1.0#start") (param {params}) (result i32) {start})
        (func (export "jackfield:connector/runtime@0.1.0#handle") (param i32 i32) (result i32) {handle})
        (func (export "jackfield:connector/runtime@0.1.0#checkpoint") (result i32) {checkpoint})"#
    )
}

const OK: &str = "(i32.const 65536)";

/// A fault: `result` err, first case, an empty text.
const FAULT: &str = "(i32.store8 (i32.const 520) (i32.const 1)) (i32.const 520)";

const TIMER: &str = r#"(import "jackfield:connector/session@0.1.0" "set-timer" (func $timer (param i32 i32 i32)))"#;
const SET_TIMER: &str = "(call $timer (i32.const 700) (i32.const 5) (i32.const 1000))";

const STATE: &str = r#"(import "jackfield:connector/state@0.1.0" "get" (func $get (param i32 i32 i32)))
    (import "jackfield:connector/state@0.1.0" "set" (func $set (param i32 i32 i32 i32 i32 i32)))"#;

async fn instance(wat: &str, fakes: &Fakes) -> Instance {
    Instance::new(&load(wat).await, fakes.host(), Arc::new(fakes.clone()), limits()).await.unwrap()
}

fn context() -> StartContext {
    StartContext {
        reason: StartReason::Fresh,
        checkpoint: None,
        sockets: Vec::new(),
        timers: Vec::new(),
        fetches: Vec::new(),
    }
}

fn message(text: &str) -> Signal {
    Signal::Message { label: "gateway".to_owned(), message: text.into() }
}

fn timer() -> Effect {
    Effect::SetTimer { label: "label".to_owned(), after: Duration::from_secs(1) }
}

#[tokio::test]
async fn effects_come_with_the_return() {
    let wat = runtime(TIMER, &format!("{SET_TIMER} {SET_TIMER} {OK}"), OK, OK);
    let mut instance = instance(&wat, &Fakes::default()).await;
    let done = instance.start(context(), View::default()).await.unwrap();
    assert_eq!(done, Done { result: Ok(()), effects: vec![timer(), timer()], checkpoint: Some("".into()) });
    let done = instance.handle(vec![message("x")], View::default()).await.unwrap();
    assert_eq!(done, Done { result: Ok(()), effects: Vec::new(), checkpoint: Some("".into()) });
}

#[tokio::test]
async fn a_fault_of_start_takes_everything_back_one_of_handle_does_not() {
    let wat = runtime(TIMER, &format!("{SET_TIMER} {FAULT}"), &format!("{SET_TIMER} {FAULT}"), OK);
    let mut first = instance(&wat, &Fakes::default()).await;
    let done = first.start(context(), View::default()).await.unwrap();
    assert_eq!(
        done,
        Done { result: Err(StartFault::NotConfigured(String::new())), effects: Vec::new(), checkpoint: None }
    );
    let refused = first.handle(Vec::new(), View::default()).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Refused);

    let mut second = instance(&wat, &Fakes::default()).await;
    let done = second.handle(Vec::new(), View::default()).await.unwrap();
    assert_eq!(
        done,
        Done { result: Err(SessionFault::Fatal(String::new())), effects: vec![timer()], checkpoint: None }
    );
    assert_eq!(second.handle(Vec::new(), View::default()).await.unwrap_err().kind, FailureKind::Refused);
}

#[tokio::test]
async fn a_trap_ends_the_instance() {
    let wat = runtime(TIMER, OK, &format!("{SET_TIMER} unreachable"), OK);
    let mut instance = instance(&wat, &Fakes::default()).await;
    let failure = instance.handle(Vec::new(), View::default()).await.unwrap_err();
    assert_eq!((failure.kind, failure.export), (FailureKind::Trap, HANDLE));
    assert_eq!(instance.start(context(), View::default()).await.unwrap_err().kind, FailureKind::Refused);
}

#[tokio::test]
async fn a_checkpoint_may_call_no_import_and_is_bounded() {
    let calls = runtime(TIMER, OK, OK, &format!("{SET_TIMER} {OK}"));
    let failure = instance(&calls, &Fakes::default()).await.start(context(), View::default()).await.unwrap_err();
    assert_eq!(failure.export, CHECKPOINT);
    assert!(failure.message.starts_with("`session.set-timer` can't be called in runtime.checkpoint"), "{failure}");

    let large = format!(
        "(drop (memory.grow (i32.const 8))) (i32.store (i32.const 524) (i32.const 131072)) (i32.store (i32.const 528) (i32.const {})) (i32.const 520)",
        CHECKPOINT_BYTES_MAX + 1
    );
    let wat = runtime("", OK, OK, &large);
    let failure = instance(&wat, &Fakes::default()).await.start(context(), View::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Budget { which: "checkpoint" });
}

#[tokio::test]
async fn initialisers_may_call_no_import() {
    // A function without texts: those are only there once the module is.
    let field = r#"(import "jackfield:connector/session@0.1.0" "starts-left" (func $left (param i32 i32)))"#;
    let wat = runtime(field, OK, OK, OK);
    let wat = format!("{wat}\n(func $init (call $left (i32.const 1) (i32.const 1)))\n(start $init)");
    let error = crate::testing::engine().load(crate::testing::component(&wat)).await.unwrap_err();
    assert!(error.to_string().contains("`session.starts-left` can't be called in initialisation"), "{error}");
}

#[tokio::test]
async fn what_only_actions_and_webhooks_may_call_is_a_trap() {
    for (import, params, call) in [
        (
            "contacts@0.1.0\" \"resolve",
            "i32 i32 i32 i32 i32 i32",
            "i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 0 i32.const 600 call $f",
        ),
        ("http@0.1.0\" \"reserve", "i32 i32 i32", "i32.const 700 i32.const 5 i32.const 600 call $f"),
        ("http@0.1.0\" \"left", "i32 i32 i32 i32", "i32.const 700 i32.const 5 i32.const 0 i32.const 0 call $f"),
        (
            "lease@0.1.0\" \"try-acquire",
            "i32 i32 i32 i32",
            "i32.const 700 i32.const 5 i32.const 1000 i32.const 600 call $f",
        ),
    ] {
        let field = format!("(import \"jackfield:connector/{import}\" (func $f (param {params})))");
        let wat = runtime(&field, OK, &format!("{call} {OK}"), OK);
        let failure = instance(&wat, &Fakes::default()).await.handle(Vec::new(), View::default()).await.unwrap_err();
        let name = import.split('@').next().unwrap();
        assert!(failure.message.starts_with(&format!("`{name}.")), "{failure}");
        assert!(failure.message.contains("can't be called in runtime"), "{failure}");
    }
}

#[tokio::test]
async fn a_signal_is_submitted_without_a_copy() {
    let field = r#"(import "jackfield:connector/ingest@0.1.0" "submit-signal" (func $submit (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
        (data (i32.const 720) "{}")"#;
    // Submits the signal with the number that the list is long minus one; reports the fault's tag by trapping.
    let handle = format!(
        "(call $submit (i32.sub (local.get 1) (i32.const 1)) (i32.const 700) (i32.const 5) (i32.const 700) (i32.const 5) (i32.const 720) (i32.const 2) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 600))
         (if (i32.load8_u (i32.const 600)) (then unreachable)) {OK}"
    );
    let wat = runtime(field, OK, &handle, OK);
    let mut first = instance(&wat, &Fakes::default()).await;
    let payload = Blob::from("a message that is shared");
    let signals =
        vec![Signal::Elapsed("t".to_owned()), Signal::Message { label: "g".to_owned(), message: payload.clone() }];
    let done = first.handle(signals, View::default()).await.unwrap();
    let [Effect::Submit { dispatch, mark: None }] = &done.effects[..] else { panic!("{:?}", done.effects) };
    assert_eq!((dispatch.kind.as_str(), dispatch.lane.as_str(), dispatch.context.as_str()), ("label", "label", "{}"));
    assert_eq!(dispatch.payload.bytes().as_ptr(), payload.bytes().as_ptr(), "the same allocation");
    // The last signal is no message: `invalid`, which this guest answers with a trap.
    assert!(first.handle(vec![Signal::Elapsed("t".to_owned())], View::default()).await.is_err());
}

#[tokio::test]
async fn a_dispatch_is_checked() {
    // submit(kind, payload, lane, context, mark): traps with the fault's tag unless all is well.
    let field = r#"(import "jackfield:connector/ingest@0.1.0" "submit" (func $submit (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
        (data (i32.const 720) "{}[]")"#;
    let submit = |kind_len: u32, payload_len: u32, context: u32| {
        format!(
            "(call $submit (i32.const 700) (i32.const {kind_len}) (i32.const 1) (i32.const 65536) (i32.const {payload_len}) (i32.const 700) (i32.const 5) (i32.const {context}) (i32.const 2) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 600))"
        )
    };
    let grow = "(drop (memory.grow (i32.const 20)))";
    let invalid = "(if (i32.or (i32.ne (i32.load8_u (i32.const 600)) (i32.const 1)) (i32.load8_u (i32.const 604))) (then unreachable))";
    // Five bytes each of kind and lane, two of context.
    let bytes = 1024 * 1024 + 12;
    let counted = Effect::TooLarge { kind: "label".to_owned(), lane: "label".to_owned(), bytes };
    for (what, call, effects) in [
        ("no kind", submit(0, 1, 720), vec![]),
        ("a context that is no object", submit(5, 1, 722), vec![]),
        ("too large", submit(5, 1024 * 1024, 720), vec![counted]),
    ] {
        let wat = runtime(field, OK, &format!("{grow} {call} {invalid} {OK}"), OK);
        let done = instance(&wat, &Fakes::default()).await.handle(Vec::new(), View::default()).await;
        assert_eq!(done.unwrap_or_else(|failure| panic!("{what}: {failure}")).effects, effects, "{what}");
    }
    let wat = runtime(field, OK, &format!("{} {OK}", submit(5, 40, 720)), OK);
    let done = instance(&wat, &Fakes::default()).await.handle(Vec::new(), View::default()).await.unwrap();
    assert!(matches!(&done.effects[..], [Effect::Submit { dispatch, mark: None }] if dispatch.payload.len() == 40));
}

#[tokio::test]
async fn state_sees_its_own_writes_and_keeps_to_the_grant() {
    // Sets `label` to 40 bytes, reads it back, and traps unless it is there; then sets it to 200 bytes and traps unless the
    // fault is `exhausted` (4).
    let handle = format!(
        "(call $set (i32.const 700) (i32.const 5) (i32.const 1) (i32.const 65536) (i32.const 40) (i32.const 600))
         (if (i32.load8_u (i32.const 600)) (then unreachable))
         (call $get (i32.const 700) (i32.const 5) (i32.const 600))
         (if (i32.or (i32.load8_u (i32.const 600)) (i32.eqz (i32.load8_u (i32.const 604)))) (then unreachable))
         (if (i32.ne (i32.load (i32.const 616)) (i32.const 40)) (then unreachable))
         (call $set (i32.const 700) (i32.const 5) (i32.const 1) (i32.const 65536) (i32.const 200) (i32.const 600))
         (if (i32.or (i32.ne (i32.load8_u (i32.const 600)) (i32.const 1)) (i32.ne (i32.load8_u (i32.const 604)) (i32.const 4))) (then unreachable))
         {OK}"
    );
    let wat = runtime(STATE, OK, &handle, OK);
    let fakes = Fakes::default();
    fakes.map.lock().unwrap().insert("label".to_owned(), "x".repeat(90).as_str().into());
    let mut instance = instance(&wat, &fakes).await;
    let done = instance.handle(Vec::new(), View::default()).await.unwrap();
    assert_eq!(done.effects.len(), 1, "{:?}", done.effects);
    assert!(matches!(&done.effects[0], Effect::StateSet { key, value } if key == "label" && value.len() == 40));
    assert_eq!(fakes.map.lock().unwrap()["label"].len(), 90, "nothing is written by the engine");
}

const GET: &str = "(call $get (i32.const 700) (i32.const 5) (i32.const 600))";

#[tokio::test]
async fn case_20_a_panic_of_the_host_is_caught() {
    let wat = runtime(STATE, OK, &format!("{GET} {OK}"), OK);
    let broken = Fakes { panics: true, ..Fakes::default() };
    let mut first = instance(&wat, &broken).await;
    let failure = first.handle(Vec::new(), View::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Host);
    assert!(failure.message.contains("the store of label is on fire"), "{failure}");
    assert_eq!(first.handle(Vec::new(), View::default()).await.unwrap_err().kind, FailureKind::Refused);
    instance(&wat, &Fakes::default()).await.handle(Vec::new(), View::default()).await.unwrap();
}

#[tokio::test]
async fn case_18_and_19_a_store_that_never_answers() {
    let wat = runtime(STATE, OK, &format!("{GET} {OK}"), OK);
    let silent = Fakes { hangs: true, ..Fakes::default() };
    let failure = instance(&wat, &silent).await.handle(Vec::new(), View::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Deadline);
    let mut dropped = instance(&wat, &silent).await;
    let call = dropped.handle(Vec::new(), View::default());
    assert!(tokio::time::timeout(Duration::from_millis(5), call).await.is_err());
    assert_eq!(dropped.handle(Vec::new(), View::default()).await.unwrap_err().kind, FailureKind::Refused);
}

#[tokio::test]
async fn a_start_is_spent_at_once_and_for_good() {
    let field = r#"(import "jackfield:connector/session@0.1.0" "spend-start" (func $spend (param i32)))"#;
    let wat = runtime(field, OK, "(call $spend (i32.const 600)) unreachable", OK);
    let fakes = Fakes::default();
    instance(&wat, &fakes).await.handle(Vec::new(), View::default()).await.unwrap_err();
    assert_eq!(*fakes.spent.lock().unwrap(), 1);
    let refused =
        "(call $spend (i32.const 600)) (if (i32.ne (i32.load8_u (i32.const 604)) (i32.const 2)) (then unreachable))";
    let wat = runtime(field, OK, &format!("{refused} {OK}"), OK);
    instance(&wat, &fakes).await.handle(Vec::new(), View::default()).await.expect("the second start is `unavailable`");
}

#[tokio::test]
async fn effects_are_bounded() {
    let wat = runtime(TIMER, OK, &format!("(loop $for_ever {SET_TIMER} (br $for_ever)) unreachable"), OK);
    let failure = instance(&wat, &Fakes::default()).await.handle(Vec::new(), View::default()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Budget { which: "effects" });
}

#[tokio::test]
async fn a_request_is_checked_at_once() {
    // fetch(label, {get, url, headers [], body text "", secrets [], timeout 1000}): traps unless the fault's tag is as given.
    let field = r#"(import "jackfield:connector/session@0.1.0" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
        (data (i32.const 720) "https://granted.example/x") (data (i32.const 760) "https://other.example/xxx")"#;
    let fetch = |url: u32, tag: &str| {
        format!(
            "(call $fetch (i32.const 700) (i32.const 5) (i32.const 0) (i32.const {url}) (i32.const 25) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000) (i32.const 600))
             (if (i32.ne (i32.add (i32.load8_u (i32.const 600)) (i32.mul (i32.const 16) (i32.load8_u (i32.const 604)))) (i32.const {tag})) (then unreachable))"
        )
    };
    let (done, denied, under_way) = (fetch(720, "0"), fetch(760, "17"), fetch(720, "1"));
    // A result of before would show through in the fault's tag.
    let clear = "(i64.store (i32.const 600) (i64.const 0))";
    let wat = runtime(field, OK, &format!("{denied} {clear} {done} {clear} {under_way} {OK}"), OK);
    let done = instance(&wat, &Fakes::default()).await.handle(Vec::new(), View::default()).await.unwrap();
    let [Effect::Fetch { label, request }] = &done.effects[..] else { panic!("{:?}", done.effects) };
    assert_eq!(
        (label.as_str(), request.method, request.url.as_str()),
        ("label", Method::Get, "https://granted.example/x")
    );
}

#[tokio::test]
async fn lines_of_the_guest_survive_a_trap() {
    let field = r#"(import "jackfield:connector/log@0.1.0" "write" (func $log (param i32 i32 i32 i32 i32)))"#;
    let wat = runtime(
        field,
        OK,
        "(call $log (i32.const 3) (i32.const 700) (i32.const 5) (i32.const 0) (i32.const 0)) unreachable",
        OK,
    );
    let fakes = Fakes::default();
    instance(&wat, &fakes).await.handle(Vec::new(), View::default()).await.unwrap_err();
    assert_eq!(fakes.lines.lock().unwrap()[0].message, "label");
}
