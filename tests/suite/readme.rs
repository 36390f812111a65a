//! The README's configuration for a real bot, taken from there, against a double in a process of its own. All that is
//! added is where its origins lead, and the secret.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use jackfield_tests::guest;
use jackfield_tests::processes::{Home, until};
use serde_json::Value;

/// What stands in front of the block.
const MARK: &str = "<!-- config: real bot -->";

/// A process that ends with its handle.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn block() -> String {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let after = readme.split(MARK).nth(1).unwrap_or_else(|| panic!("README.md lacks {MARK}"));
    let block = after.split("```toml\n").nth(1).expect("a block of toml follows the mark");
    block.split("```").next().unwrap().to_owned()
}

#[test]
fn the_readmes_configuration_runs() {
    let mut home = Home::new("");
    let script = r#"{ "messages": 50, "rate": 100, "channels": 3 }"#;
    fs::write(home.path().join("script.json"), script).unwrap();
    let mut double = home.command(&["double", "discord", "--script", "script.json", "--output", "json"]);
    let mut double = Ended(double.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(double.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let announced: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let text = |key: &str| announced[key].as_str().unwrap_or_else(|| panic!("{key}: {announced:#}"));

    let gateway = text("gateway");
    let http = gateway.replacen("ws://", "http://", 1);
    let connect = format!(
        "connect = {{ \"https://discord.com\" = \"{http}\", \"wss://gateway.discord.gg\" = \"{gateway}\", \"wss://*.discord.gg\" = \"{gateway}\" }}\n"
    );
    home.write_config(&(block() + &connect));
    fs::create_dir(home.path().join("connectors")).unwrap();
    fs::copy(guest::DISCORD.file(home.path()), home.path().join("connectors/discord.wasm")).unwrap();
    home.set("DISCORD_BOT_TOKEN", text("token"));

    let validated = home.run(&["validate"]);
    assert!(validated.status.success(), "{}", String::from_utf8_lossy(&validated.stderr));
    let host = home.serve();
    let events = until("50 messages", || {
        let events = home.events();
        let messages = events.iter().filter(|event| event["name"] == "message.created").count();
        (messages >= 50).then_some(events)
    });
    assert!(events.iter().all(|event| event["connection"] == "acme-discord"));
    assert!(host.stop().success());
}
