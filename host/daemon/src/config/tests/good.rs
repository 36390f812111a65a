//! Files that are right, and what they mean.

use std::path::Path;
use std::time::Duration;

use super::super::{File, Problems, SecretSource, Source, parse, schema};

fn read(text: &str) -> Result<(File, Problems), Problems> {
    parse(Path::new("/etc/jackfield/jackfield.toml"), Source::new("jackfield.toml", text.to_owned()))
}

#[test]
fn everything_that_can_be_written() {
    let (file, warnings) = read(
        r#"
        [host]
        data = "./data"
        sessions = true

        [[connection]]
        id = "acme-discord"
        connector = "./connectors/discord.wasm"
        digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
        config = { intents = 37377 }
        contacts = "acme"
        secrets.bot-token = { env = "DISCORD_BOT_TOKEN", to = ["https://discord.com", "wss://*.discord.gg"] }
        secrets.other = { file = "other.key", decode = "base64" }
        grants = ["https://Discord.com:443", "wss://*.discord.gg", "contacts", "lease", "state:64KiB"]
        connect = { "https://discord.com" = "http://127.0.0.1:4801", "wss://*.discord.gg" = "ws://[::1]:4802" }
        limits = { memory = "32MiB", call = "2s", frame = "1MiB", inbox = "64MiB", transforms = 1 }
        "#,
    )
    .unwrap();
    assert!(warnings.is_empty());
    assert_eq!(file.data, Path::new("/etc/jackfield/data"));
    let connection = &file.connections[0];
    assert_eq!(connection.id.as_str(), "acme-discord");
    assert_eq!(connection.space.as_str(), "acme");
    assert_eq!(connection.connector, Path::new("/etc/jackfield/connectors/discord.wasm"));
    let grants: Vec<String> = connection.grants.iter().map(ToString::to_string).collect();
    assert_eq!(grants, ["https://discord.com", "wss://*.discord.gg", "contacts", "lease", "state:64KiB"]);
    assert_eq!(connection.connect.len(), 2);
    assert!(
        matches!(&connection.secrets["other"].source, SecretSource::File(path) if path.ends_with("jackfield/other.key"))
    );
    assert!(connection.secrets["other"].base64);
    assert_eq!(connection.limits.call, Some(Duration::from_secs(2)));
    assert_eq!(connection.limits.frame, Some(1 << 20));
}

#[test]
fn little_is_enough() {
    let (file, _) = read("[[connection]]\nid = \"a\"\nconnector = \"a.wasm\"\n").unwrap();
    assert_eq!(file.connections[0].space.as_str(), "a", "a connection's contacts are its own unless said otherwise");
    assert_eq!(file.data, Path::new("/etc/jackfield/data"));
    assert!(read("").unwrap().0.connections.is_empty());
}

#[test]
fn the_schema_for_editors() {
    insta::assert_json_snapshot!(schema());
}
