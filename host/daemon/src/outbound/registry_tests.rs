use std::time::Duration;

use jackfield_model::semantics::{
    DestructiveClass, EffectClass, IdempotencyKind, MutationScope, RetrySafety, Semantics,
};

use super::*;

const INPUT: &str = r#"{
    "type": "object", "additionalProperties": false, "required": ["channel_id", "text"],
    "properties": {
        "channel_id": { "type": "string", "pattern": "^[0-9]{17,20}$" },
        "text": { "type": "string", "minLength": 1 },
        "token": { "type": "string" }
    }
}"#;

fn spec() -> ActionSpec {
    ActionSpec {
        name: "send-message".to_owned(),
        summary: String::new(),
        input_schema: INPUT.to_owned(),
        output_schema: r#"{"type": "object", "required": ["ids"]}"#.to_owned(),
        semantics: Semantics {
            effect: EffectClass::Send,
            scope: MutationScope::ExternalDelivery,
            destructive: DestructiveClass::IrreversibleSend,
            idempotency: IdempotencyKind::NotIdempotent,
            retry: RetrySafety::NoAutomaticRetry,
        },
        timeout: Duration::from_secs(1),
        implements: Vec::new(),
        required_scopes: Vec::new(),
        annotations: String::new(),
    }
}

fn problems(args: &str) -> Vec<ArgumentProblem> {
    Registry::new(&[spec()]).unwrap().find("send-message").ok().unwrap().arguments(args).unwrap_err()
}

fn arguments(args: &str) -> Arguments {
    Registry::new(&[spec()]).unwrap().find("send-message").ok().unwrap().arguments(args).unwrap()
}

#[test]
fn d7_a_number_is_never_taken_for_an_id() {
    let found = problems(r#"{"channel_id": 1432011223344556677, "text": "a"}"#);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].pointer, "/channel_id");
    assert!(found[0].problem.contains("expected string"), "{found:?}");
    assert!(found[0].problem.contains("\"1432011223344556677\""), "every digit: {found:?}");
    let exact = arguments(r#"{"channel_id": "1432011223344556677", "text": "a"}"#);
    assert!(exact.text.contains("\"1432011223344556677\""));
}

#[test]
fn how_long_a_key_is_known_is_read_once() {
    let repeats = |idempotency, annotations: &str| {
        let retry = RetrySafety::RetryWithIdempotencyKey;
        let semantics = Semantics { idempotency, retry, ..spec().semantics };
        let spec = ActionSpec { semantics, annotations: annotations.to_owned(), ..spec() };
        let registry = Registry::new(&[spec])?;
        Ok(registry.find("send-message").ok().unwrap().repeats())
    };
    let window = r#"{"idempotency-window-ms": 120000, "other": "unknown"}"#;
    let keyed = IdempotencyKind::ProviderIdempotencyKey;
    assert_eq!(repeats(keyed, window), Ok(Repeats::Within(Duration::from_secs(120))));
    assert_eq!(repeats(keyed, ""), Ok(Repeats::Always));
    assert_eq!(repeats(IdempotencyKind::NaturallyIdempotent, window), Ok(Repeats::Always));
    assert_eq!(repeats(IdempotencyKind::LedgerOnly, window), Ok(Repeats::Never));
    for odd in [r#"{"idempotency-window-ms": 0}"#, r#"{"idempotency-window-ms": "2min"}"#, "[]", "{"] {
        let problems: Vec<String> = repeats(keyed, odd).unwrap_err();
        assert!(problems.len() == 1 && problems[0].contains("annotation"), "{odd}: {problems:?}");
    }
}

#[test]
fn every_problem_is_told_with_its_place() {
    let found = problems(r#"{"channel_id": "12", "txet": "a"}"#);
    let pointers: Vec<&str> = found.iter().map(|found| found.pointer.as_str()).collect();
    assert!(pointers.contains(&"/channel_id") && pointers.contains(&"/txet") && pointers.contains(&""), "{found:?}");
    for bad in ["", "{", "[]", "1", "\"text\"", "null", &"[".repeat(100_000), r#"{"a": 1e400}"#] {
        let found = problems(bad);
        assert_eq!((found.len(), found[0].pointer.as_str()), (1, ""), "{bad:.40}: {found:?}");
    }
    assert_eq!(problems(&format!(r#"{{"text": "{}"}}"#, "x".repeat(ARGUMENTS_BYTES_MAX))).len(), 1);
}

#[test]
fn equal_arguments_have_equal_digests() {
    let one = arguments(r#"{"channel_id":"143201122334455667","text":"a\u0062"}"#);
    let other = arguments(" {\"text\" : \"ab\",\n \"channel_id\": \"143201122334455667\"}");
    assert_eq!(one.digest, other.digest);
    // The last of doubled keys is what was checked, and what the guest gets.
    let doubled = arguments(r#"{"text": 1, "channel_id":"143201122334455667", "text": "ab"}"#);
    assert_eq!(doubled.text, one.text);
    assert_ne!(one.digest, arguments(r#"{"channel_id":"143201122334455667","text":"abc"}"#).digest);
}

#[test]
fn the_ledger_gets_no_credential() {
    let given = arguments(r#"{"channel_id":"143201122334455667","text":"a","token":"hush"}"#);
    assert!(given.text.contains("hush") && !given.redacted.contains("hush"), "{}", given.redacted);
}

#[test]
fn what_can_not_be_used_is_told_with_its_action() {
    let contradiction = Semantics { retry: RetrySafety::SafeRetry, ..spec().semantics };
    let specs = [
        ActionSpec { name: "a".to_owned(), input_schema: "{".to_owned(), ..spec() },
        ActionSpec { name: "b".to_owned(), output_schema: r##"{"$ref": "#"}"##.to_owned(), ..spec() },
        ActionSpec { name: "c".to_owned(), semantics: contradiction, ..spec() },
        spec(),
        spec(),
    ];
    let problems = Registry::new(&specs).err().unwrap();
    assert_eq!(problems.len(), 4, "{problems:?}");
    for (problem, name) in problems.iter().zip(["`a`", "`b`", "`c`", "`send-message`"]) {
        assert!(problem.contains(name), "{problems:?}");
    }
}

#[test]
fn the_nearest_name_is_said() {
    let registry = Registry::new(&[spec()]).unwrap();
    assert_eq!(registry.find("send-mesage").err().unwrap().as_deref(), Some("send-message"));
    assert_eq!(registry.find("x").err().unwrap(), None);
}
