//! The administration over a real socket, with a host that serves nothing and a store that has something.

use std::path::Path;
use std::sync::Arc;

use jackfield_engine::{Ceilings, Compiler, Engine, Options as EngineOptions};
use jackfield_model::{Space, clock, limits};
use jackfield_store::contact::Draft;
use jackfield_store::retention::Policy;
use jackfield_store::sqlite::{Options as StoreOptions, Sqlite};
use jackfield_store::{Contacts as _, Stores};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::actions::{RUN, RUN_BYTES_MAX};
use super::{Admin, Bind, Class, Client, ClientError, path, serve};
use crate::failpoint::Failpoint;
use crate::host::{Host, Options};

struct Running {
    data: TempDir,
    store: Arc<Sqlite>,
    ending: CancellationToken,
    server: JoinHandle<()>,
}

impl Running {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let store = Sqlite::open(data.path(), StoreOptions::default()).unwrap();
        let ceilings = Ceilings { instances: 4, ..Ceilings::default() };
        let options = EngineOptions { cache: None, compiler: Compiler::Inline, ceilings, clock: clock::system() };
        let options = Options {
            stores: Stores::of(store.clone()),
            engine: Engine::new(options).unwrap(),
            clock: clock::system(),
            data: data.path().to_owned(),
            retention: Policy {
                events: limits::EVENT_RETENTION,
                dead_letters: limits::EVENT_RETENTION,
                executions: limits::EVENT_RETENTION,
                dedupe_entries: limits::DEDUPE_ENTRIES_MAX,
            },
            failpoint: Failpoint::default(),
        };
        let host = Host::start(options, Vec::new()).await.unwrap();
        let ending = CancellationToken::new();
        let bind = Bind::new(data.path()).unwrap();
        let server = tokio::spawn(serve(bind, Admin::new(host, &[], ending.clone())));
        Self { data, store, ending, server }
    }

    fn client(&self) -> Client {
        Client::new(self.data.path().to_owned(), Path::new("jackfield.toml")).unwrap()
    }

    /// Sends this as it is, and reads until the server has said all.
    async fn say(&self, request: &str) -> String {
        let mut stream = UnixStream::connect(path(self.data.path()).unwrap()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[tokio::test]
async fn a_command_is_answered() {
    let running = Running::new().await;
    let client = running.client();
    let status: Value = client.get("/v0/status", &()).await.unwrap();
    assert_eq!(status["pid"], std::process::id());
    let events: Value = client.get("/v0/events", &json!({"limit": 5})).await.unwrap();
    assert_eq!(events, json!({"events": [], "seen": 0}));
    let missing = client.get::<Value>("/v0/dead-letters/7", &()).await.unwrap_err();
    assert!(
        matches!(&missing, ClientError::Refused(no) if no.error.contains("there is no dead letter 7")),
        "{missing}"
    );
    let nobody = client.get::<Value>("/v0/contacts", &json!({"connection": "acme", "limit": 1})).await.unwrap_err();
    assert!(nobody.to_string().contains("there is no connection `acme`"), "{nobody}");
}

#[tokio::test]
async fn c1_an_address_is_found_however_it_is_written() {
    let running = Running::new().await;
    let space: Space = "acme".parse().unwrap();
    let draft = Draft { email: Some("juno@example.com".to_owned()), ..Draft::default() };
    running.store.create(&space, draft).await.unwrap();
    let question = json!({"space": "acme", "reference": {"email": " JUNO@Example.COM "}});
    let answer: Value = running.client().post("/v0/contacts/resolve", &question).await.unwrap();
    assert_eq!(answer["resolution"], "found");
    assert_eq!(answer["contact"]["email"], "juno@example.com");
    let elsewhere = json!({"space": "other", "reference": {"email": "juno@example.com"}});
    let answer: Value = running.client().post("/v0/contacts/resolve", &elsewhere).await.unwrap();
    assert_eq!(answer["resolution"], "none", "tenants share no contacts");
}

#[tokio::test]
async fn a_cursor_moves_forward_and_not_past_the_log() {
    let running = Running::new().await;
    let client = running.client();
    let cursor: Value = client.get("/v0/cursors/billing", &()).await.unwrap();
    assert_eq!(cursor, json!({"position": null}));
    client.put("/v0/cursors/billing", &json!({"position": 0})).await.unwrap();
    let ahead = client.put("/v0/cursors/billing", &json!({"position": 9})).await.unwrap_err();
    assert!(ahead.to_string().contains("ahead of the log"), "{ahead}");
    assert!(client.put("/v0/cursors/b%20c", &json!({"position": 0})).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_meant_is_told_apart_from_what_failed() {
    let running = Running::new().await;
    let client = running.client();
    let no = |error: ClientError| match error {
        ClientError::Refused(refusal) => *refusal,
        other => panic!("{other}"),
    };
    let run = json!({"connection": "acme", "action": "send", "args": {}, "key": null, "attempt": 1, "approve": false,
        "timeout_ms": null});
    for asked in [
        client.get::<Value>("/v0/actions", &json!({"connection": "acme"})).await,
        client.post::<Value>(RUN, &run).await,
    ] {
        let refusal = no(asked.unwrap_err());
        assert_eq!(refusal.class, Class::Usage, "{refusal:?}");
        assert_eq!(refusal.document()["code"], "no-connection", "{refusal:?}");
        assert!(refusal.error.contains("there is no connection `acme`"), "{refusal:?}");
    }
    let none: Value = client.get("/v0/actions", &()).await.unwrap();
    assert_eq!(none, json!({"actions": []}));
    let refusal = no(client.post::<Value>(RUN, &json!({"connection": "acme"})).await.unwrap_err());
    assert_eq!((refusal.class, &refusal.document()["code"]), (Class::Usage, &json!("invalid")), "{refusal:?}");
    let id = "01890a5d0ac87b1e9f2a3b4c5d6e7f80";
    let refusal = no(client.get::<Value>(&format!("/v0/executions/{id}"), &()).await.unwrap_err());
    assert!(refusal.class == Class::Failed && refusal.error.contains(id), "{refusal:?}");
}

/// Arguments may be longer than anything else that is asked, and have a ceiling too.
#[tokio::test]
async fn a_run_takes_long_arguments_and_no_longer_ones() {
    let running = Running::new().await;
    let client = running.client();
    let run = |length: usize| {
        json!({"connection": "acme", "action": "send", "args": {"text": "x".repeat(length)}, "key": null, "attempt": 1,
            "approve": false, "timeout_ms": null})
    };
    let long = client.post::<Value>(RUN, &run(512 * 1024)).await.unwrap_err();
    assert!(long.to_string().contains("there is no connection `acme`"), "{long}");
    let longer = client.post::<Value>(RUN, &run(RUN_BYTES_MAX)).await.unwrap_err();
    assert!(longer.to_string().contains(&RUN_BYTES_MAX.to_string()), "{longer}");
}

#[tokio::test]
async fn nothing_known_says_what_that_can_mean() {
    let running = Running::new().await;
    let client = running.client();
    let nothing: Value = client.get("/v0/trace", &json!({"text": "80351110224678912", "limit": 5})).await.unwrap();
    assert_eq!(nothing["entries"], json!([]));
    assert!(nothing["can_mean"].to_string().contains("7 days"), "{nothing:#}");
    for bad in [String::new(), "x".repeat(513)] {
        let refused = client.get::<Value>("/v0/trace", &json!({"text": bad, "limit": 5})).await.unwrap_err();
        assert!(refused.to_string().contains("512 bytes"), "{refused}");
    }
}

#[tokio::test]
async fn case_59_what_was_not_meant_for_it_is_refused() {
    let running = Running::new().await;
    let rest = "Connection: close\r\n\r\n";
    let foreign = running.say(&format!("GET /v0/status HTTP/1.1\r\nHost: localhost\r\n{rest}")).await;
    assert!(foreign.starts_with("HTTP/1.1 403"), "{foreign}");
    let browser = running
        .say(&format!("GET /v0/status HTTP/1.1\r\nHost: jackfield\r\nOrigin: http://evil.example\r\n{rest}"))
        .await;
    assert!(browser.starts_with("HTTP/1.1 403"), "{browser}");
    let form =
        "POST /v0/contacts/resolve HTTP/1.1\r\nHost: jackfield\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n";
    let form = running.say(&format!("{form}{rest}{{}}")).await;
    assert!(form.starts_with("HTTP/1.1 415"), "{form}");
    let large = "POST /v0/contacts/resolve HTTP/1.1\r\nHost: jackfield\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n";
    let large = running.say(&format!("{large}{rest}")).await;
    assert!(large.starts_with("HTTP/1.1 413"), "{large}");
    let chunked = "POST /v0/contacts/resolve HTTP/1.1\r\nHost: jackfield\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let chunk = format!("11000\r\n{}\r\n0\r\n\r\n", " ".repeat(0x11000));
    let chunked = running.say(&format!("{chunked}{rest}{chunk}")).await;
    assert!(chunked.starts_with("HTTP/1.1 413"), "{chunked}");
    let up = running.say(&format!("GET /v0/dead-letters/..%2f..%2fetc HTTP/1.1\r\nHost: jackfield\r\n{rest}")).await;
    assert!(up.starts_with("HTTP/1.1 400"), "{up}");
}

#[tokio::test]
async fn a_host_that_is_gone_is_told() {
    let running = Running::new().await;
    let client = running.client();
    assert!(client.get::<Value>("/v0/status", &()).await.is_ok());
    running.ending.cancel();
    running.server.await.unwrap();
    let gone = client.get::<Value>("/v0/status", &()).await.unwrap_err();
    assert!(gone.to_string().contains("no host is running for"), "{gone}");
    assert!(gone.to_string().contains("jackfield serve --config jackfield.toml"), "{gone}");
}
