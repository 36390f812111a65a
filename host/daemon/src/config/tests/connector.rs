//! A connector's schema and asks against a connection: what is refused, and what is said of it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use jackfield_model::Transport;
use jackfield_model::descriptor::{Ask, Descriptor, Exclusive, SecretAsk};
use jackfield_model::session::StartBudget;
use serde_json::{Value, json};

use super::super::schema::Schema;
use super::super::{File, Problems, Source, parse, rights};

const SCHEMA: &str = r##"{
    "type": "object", "additionalProperties": false, "required": ["server"],
    "properties": {
        "server": {"type": "string", "pattern": "^https://"},
        "channel_id": {"type": "string"},
        "channels": {"type": "array", "items": {"$ref": "#/$defs/id"}, "minItems": 1},
        "presence": {"enum": ["online", "idle", "dnd"]},
        "shard": {"type": "array", "items": {"type": "integer", "maximum": 3}},
        "filter": {"oneOf": [{"type": "object", "required": ["include"]}, {"type": "object", "required": ["exclude"]}]}
    },
    "$defs": {"id": {"type": "string"}}
}"##;

fn descriptor() -> Descriptor {
    let secret = |name: &str, required, to: &[&str]| {
        let to = to.iter().map(|&to| to.to_owned()).collect();
        Ask::Secret(SecretAsk { name: name.to_owned(), help: format!("where {name} is found"), required, to })
    };
    Descriptor {
        id: "double".to_owned(),
        version: "1.0.0".to_owned(),
        title: "Double".to_owned(),
        summary: "For this test.".to_owned(),
        transports: vec![Transport::Socket],
        config_schema: SCHEMA.to_owned(),
        asks: vec![
            Ask::Http("{{config:/server}}".to_owned()),
            Ask::Socket("wss://*.example.org".to_owned()),
            secret("bot-token", true, &["wss://*.example.org", "{{config:/server}}"]),
            secret("signing-key", false, &[]),
            Ask::State(64 * 1024),
            Ask::Lease,
            Ask::Contacts,
        ],
        exclusive: Exclusive::default(),
        start_budget: Some(StartBudget { starts: 1, window: Duration::from_secs(1) }),
        writes_checkpoint: 1,
        reads_checkpoints: vec![1],
        annotations: "{}".to_owned(),
    }
}

fn file(text: &str) -> File {
    parse(Path::new("/etc/jackfield.toml"), Source::new("jackfield.toml", text.to_owned())).unwrap().0
}

/// What is said of each file's one connection.
fn report(files: &[&str]) -> String {
    let mut out = String::new();
    for text in files {
        let file = file(text);
        let connection = &file.connections[0];
        let mut problems = Problems::default();
        let schema = Schema::new(serde_json::from_str(SCHEMA).unwrap()).unwrap();
        let findings = schema.findings(&Value::Object(connection.config.clone()), usize::MAX);
        problems.extend(findings.iter().map(|finding| file.in_config(connection, finding)));
        let (rights, found) = rights::effective(&descriptor(), connection);
        problems.extend(found.into_iter().map(|(part, problem)| file.at(connection, &part, problem)));
        let shown = |origins: &[super::super::grant::Origin]| {
            origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        write!(
            out,
            "{}asks: {}\ngrants: {}\nstate: {}\n",
            problems.render(false, 110),
            shown(&rights.asks),
            shown(&rights.grants),
            rights.state_bytes
        )
        .unwrap();
        out.push_str("--------\n");
    }
    out
}

#[test]
fn what_is_granted_in_full_is_not_talked_about() {
    insta::assert_snapshot!(report(&[r#"
[[connection]]
id = "whole"
connector = "a.wasm"
config = { server = "https://chat.example.net:8448" }
secrets.bot-token = { env = "TOKEN", to = ["wss://*.example.org", "https://chat.example.net:8448"] }
grants = ["https://chat.example.net:8448", "wss://*.example.org", "state:64KiB", "lease", "contacts"]
"#]));
}

#[test]
fn what_is_missing_is_listed_ready_to_paste() {
    insta::assert_snapshot!(report(&[
        r#"
[[connection]]
id = "bare"
connector = "a.wasm"
config = { server = "https://chat.example.net" }
"#,
        r#"
[[connection]]
id = "odd"
connector = "a.wasm"
config = { server = "https://chat.example.net" }
secrets.bot-tokn = { env = "TOKEN" }
secrets.bot-token = { env = "TOKEN", to = ["https://chat.example.net", "https://evil.example"] }
secrets.signing-key = { env = "TOKEN", to = ["https://chat.example.net"] }
grants = ["https://chat.example.net", "wss://eu.example.org", "state:1KiB", "lease", "contacts", "https://other.example"]
"#,
    ]));
}

#[test]
fn ids_as_numbers_are_refused_with_the_reason() {
    insta::assert_snapshot!(report(&[r#"
[[connection]]
id = "numbers"
connector = "a.wasm"
config = { server = "https://chat.example.net/path", channel_id = 1432011223344556677, channels = ["1", 1432011223344556677], presence = "onlin", shard = [0, 7], chanels = [], filter = {} }
secrets.bot-token = { env = "TOKEN", to = [] }
"#]));
}

#[test]
fn a_placeholder_without_a_value_is_told() {
    insta::assert_snapshot!(report(&["[[connection]]\nid = \"a\"\nconnector = \"a.wasm\"\n"]));
}

#[test]
fn schemas_of_strangers() {
    for bad in [
        json!({"type": "strin"}),
        json!({"$ref": "#"}),
        json!({"pattern": "(?=look)"}),
        json!({"$ref": "https://example.com"}),
    ] {
        assert!(Schema::new(bad.clone()).is_err(), "{bad}");
    }
    let slow = Schema::new(json!({"type": "string", "pattern": "^(a+)+$"})).unwrap();
    assert_eq!(slow.findings(&Value::String(format!("{}b", "a".repeat(50_000))), 2).len(), 1);
}
