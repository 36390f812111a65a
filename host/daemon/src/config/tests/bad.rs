//! Files that are wrong: all problems of each at once, with place and remedy.

use std::fmt::Write as _;
use std::path::Path;

use super::super::{Grade, Source, parse};

/// What is said of each file, as people read it.
fn report(files: &[&str]) -> String {
    let mut out = String::new();
    for file in files {
        let problems =
            parse(Path::new("/etc/jackfield.toml"), Source::new("jackfield.toml", (*file).to_owned())).unwrap_err();
        assert_eq!(problems.worst(), Some(Grade::Invalid));
        writeln!(out, "{}--------", problems.render(false, 110)).unwrap();
    }
    out
}

#[test]
fn a_file_that_is_wrong_everywhere() {
    insta::assert_snapshot!(report(&[r#"
[host]
dat = "./data"
cluster = "redis://127.0.0.1:6379"
sessions = "yes"

[[connection]]
id = "Acme Discord"
conector = "discord.wasm"
digest = "sha256:abc"
contacts = "acme/eu"
secrets.token = { evn = "TOKEN", to = ["http://discord.com"] }
secrets.both = { env = "A", file = "b" }
secrets.hex = { file = "b", decode = "hex" }
grants = ["discord.com", "contact", "https://*.com", "wss://gateway.discord.gg/?v=10", "state:64", "lease"]
connect = { "https://discord.com" = "http://127.0.0.1:1" }
limits = { memory = "64GiB", call = 5, frame = "1B", inbox = "64MB", transforms = 9, cpu = "1" }

[[connection]]
id = "twice"
connector = "a.wasm"

[[connection]]
id = "twice"
connector = "a.wasm"
"#]));
}

#[test]
fn broken_lines_hide_no_others() {
    insta::assert_snapshot!(report(&[
        "[host]\ndata = ./data\nsesions = true\n\n[[connection]]\nid = \"a\"\nid = \"b\"\nconnector = \"a.wasm\"\ngrants = [\"lease\"\n",
        "[host\n",
        "connection = 1\n",
        "[[connection]]\n",
        "[[conection]]\n",
    ]));
}

#[test]
fn numbers_that_json_does_not_have() {
    insta::assert_snapshot!(report(&[
        "[[connection]]\nid = \"a\"\nconnector = \"a\"\nconfig = { when = 2024-01-01, big = 99999999999999999999, odd = nan }\n",
    ]));
}

#[test]
fn routes_that_lead_astray() {
    insta::assert_snapshot!(report(&[
        r#"
[[connection]]
id = "a"
connector = "a.wasm"
grants = ["https://discord.com", "wss://*.discord.gg"]
[connection.connect]
"https://discord.co" = "http://127.0.0.1:1"
"wss://gateway.discord.gg" = "ws://127.0.0.1:1"
"https://discord.com" = "http://10.0.0.1:80"
"wss://*.discord.gg" = "https://127.0.0.1:1"
"#,
        r#"
[[connection]]
id = "a"
connector = "a.wasm"
grants = ["https://a.example", "https://b.example", "https://c.example", "https://d.example"]
[connection.connect]
"https://a.example" = "http://localhost:1"
"https://b.example" = "http://127.0.0.1:1/api"
"https://c.example" = "http://user:word@127.0.0.1:1"
"https://d.example" = "127.0.0.1:1"
"#
    ]));
}
