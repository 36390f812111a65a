//! Secrets on their way out and back: cases 35, 36 and 61.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use jackfield_engine::egress::Incoming;
use jackfield_engine::secret::{SecretEntry, Secrets};
use jackfield_model::session::Cause;
use jackfield_model::wire::Place;
use jackfield_model::{Blob, Fault};
use tokio::io::AsyncWriteExt;

use crate::peer::{accept_upgrade, frame, read_frame};
use crate::support::{
    CANARY, Log, Server, Setup, answer, drain, gateway, get, header, open, post, refusal, uses, within,
};

const HERE: &[&str] = &["https://api.example", "wss://gateway.example"];

/// The canary in every form in which a platform could echo it.
fn forms() -> Vec<String> {
    let json = serde_json::to_string(CANARY).unwrap();
    vec![
        CANARY.to_owned(),
        STANDARD.encode(CANARY),
        STANDARD_NO_PAD.encode(format!("user:{CANARY}")),
        URL_SAFE_NO_PAD.encode(format!("me:{CANARY}:x")),
        CANARY.bytes().map(|b| format!("{b:02x}")).collect(),
        CANARY.bytes().map(|b| format!("{b:02X}")).collect(),
        CANARY.bytes().map(|b| format!("%{b:02X}")).collect(),
        json[1..json.len() - 1].to_owned(),
        CANARY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect(),
    ]
}

/// Not a trace of it, nor of a part: six characters in a row.
fn is_clean(text: &str) -> bool {
    let plain = [0, 4, 5, 6, 7].map(|form| forms()[form].clone());
    // The characters of base64 that only the value determines, at each alignment.
    let base64 = ["", "x", "xx"].map(|before| {
        let bytes = before.len() + CANARY.len();
        STANDARD_NO_PAD.encode(format!("{before}{CANARY}"))[(before.len() * 8).div_ceil(6)..bytes * 8 / 6].to_owned()
    });
    let mut parts = plain.iter().chain(&base64).flat_map(|form| form.as_bytes().windows(6));
    !parts.any(|part| text.contains(std::str::from_utf8(part).unwrap()))
}

#[tokio::test]
async fn case_35_what_the_platform_echoes_is_masked() {
    let log = Log::new();
    for form in forms() {
        let body = format!("before {form} after");
        // A header can hold each form but a line of its own.
        let echo = answer("401 Unauthorized", &format!("x-echo: {form}\r\nlocation: /?t={form}\r\n"), &body);
        let (server, seen) = Server::answering(echo).await;
        let gate = Setup::to(&server).secret("token", HERE).gate();
        let mut request = get("https://api.example/");
        request.headers = vec![header("Authorization", "Bearer {{secret:token}}")];
        request.secrets = vec![uses("token", Place::Header)];
        let response = within(gate.send(request)).await.unwrap();
        assert!(seen.lock().unwrap()[0].contains(&format!("authorization: Bearer {CANARY}\r\n")));

        let body = response.body.as_str().unwrap();
        assert!(body.contains("[secret:token]") && body.starts_with("before ") && body.ends_with(" after"), "{body}");
        assert!(response.headers.iter().any(|(name, value)| name == "x-echo" && value.contains("[secret:token]")));
        assert!(is_clean(&format!("{response:?}")), "{form}: {response:?}");
    }
    assert!(is_clean(&log.text()), "{}", log.text());
}

#[tokio::test]
async fn case_35_messages_refusals_and_goodbyes_are_masked() {
    let log = Log::new();
    let (server, _) = Server::answering(answer("403 Forbidden", &format!("x-echo: {CANARY}\r\n"), CANARY)).await;
    let gate = Setup::to(&server).secret("token", HERE).gate();
    let cause = refusal(&gate, gateway()).await;
    let Cause::Refused(response) = &cause else { panic!("{cause:?}") };
    assert_eq!((response.status, response.body.as_str()), (403, Some("[secret:token]")));
    assert!(is_clean(&format!("{cause:?}")), "{cause:?}");

    let server = Server::with(|mut stream| async move {
        accept_upgrade(&mut stream, "").await;
        for form in forms() {
            stream.write_all(&frame(0x81, form.as_bytes())).await.unwrap();
            stream.write_all(&frame(0x82, &[form.as_bytes(), b"\xff"].concat())).await.unwrap();
        }
        let goodbye = [&4004_u16.to_be_bytes()[..], b"bad token ", CANARY.as_bytes()].concat();
        stream.write_all(&frame(0x88, &goodbye)).await.unwrap();
        drain(&mut stream).await;
    })
    .await;
    let gate = Setup::to(&server).secret("token", HERE).gate();
    let (_writer, mut reader) = open(&gate).await;
    for form in forms() {
        for binary in [false, true] {
            let incoming = loop {
                match within(reader.next()).await {
                    Incoming::Activity => {}
                    incoming => break incoming,
                }
            };
            let Incoming::Message(message) = &incoming else { panic!("{form}: {incoming:?}") };
            assert_eq!(matches!(message, Blob::Binary(_)), binary, "{form}");
            let text = String::from_utf8_lossy(message.bytes());
            assert!(text.contains("[secret:token]") && is_clean(&text), "{form}: {text}");
        }
    }
    let reason = "bad token [secret:token]".to_owned();
    assert_eq!(within(reader.next()).await, Incoming::Closed(Cause::Peer { code: Some(4004), reason }));
    assert_eq!(gate.counts().masked, 18);
    assert!(is_clean(&log.text()), "{}", log.text());
}

#[tokio::test]
async fn case_35_an_answer_can_not_be_asked_for_in_slices() {
    let (server, _) = Server::answering(answer("206 Partial Content", "", &CANARY[..4])).await;
    let gate = Setup::to(&server).secret("token", HERE).gate();
    for (name, value) in [("Range", "bytes=0-3"), ("Accept-Encoding", "gzip"), ("TE", "gzip")] {
        let mut request = get("https://api.example/?t={{secret:token}}");
        request.headers = vec![header(name, value)];
        request.secrets = vec![uses("token", Place::Url)];
        assert!(matches!(within(gate.send(request)).await, Err(Fault::Denied(_))), "{name}");
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn case_36_a_secret_goes_only_where_it_may() {
    let log = Log::new();
    let (server, _) = Server::answering(answer("200 OK", "", "")).await;
    let setup = |to: &[&str]| Setup::to(&server).secret("token", to);
    let with = |url: &str, place| {
        let mut request = post(url, "{{secret:token}}");
        if place == Place::Header {
            request.headers = vec![header("X-Token", "{{secret:token}}")];
        }
        request.secrets = vec![uses("token", place)];
        request
    };
    for place in [Place::Url, Place::Header, Place::Body] {
        let url = "https://api.example/{{secret:token}}";
        // For nobody, for another host, for another scheme of this one, and for a host that only looks like it.
        for to in [&[][..], &["https://other.example"], &["wss://api.example"], &["https://*.api.example"]] {
            let fault = within(setup(to).gate().send(with(url, place))).await.unwrap_err();
            assert!(matches!(fault, Fault::Denied(_)), "{place:?} {to:?}: {fault:?}");
        }
        // Not configured at all.
        let fault = within(Setup::to(&server).gate().send(with(url, place))).await.unwrap_err();
        assert!(matches!(fault, Fault::Denied(_)), "{place:?}: {fault:?}");
    }
    // Set by hand.
    for (name, value) in [("Authorization", "Bot guessed"), ("Cookie", "session=guessed"), ("Proxy-Authorization", "x")]
    {
        let mut request = get("https://api.example/");
        request.headers = vec![header(name, value)];
        assert!(matches!(within(setup(HERE).gate().send(request)).await, Err(Fault::Denied(_))), "{name}");
    }
    assert_eq!(server.accepted(), 0);
    assert!(is_clean(&log.text()), "{}", log.text());
}

#[tokio::test]
async fn case_36_a_secret_never_names_a_host() {
    let (server, _) = Server::answering(answer("200 OK", "", "")).await;
    let setup = Setup { grants: vec!["https://*.evil.example"], ..Setup::to(&server) };
    let gate = setup.secret("token", &["https://*.evil.example"]).gate();
    let mut request = get("https://{{secret:token}}.evil.example/");
    request.secrets = vec![uses("token", Place::Url)];
    assert!(matches!(within(gate.send(request)).await, Err(Fault::Invalid(_))));
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn case_61_placeholders_that_nobody_lists_are_sent_as_text() {
    let said = "look: {{secret:token}}";
    let (server, seen) = Server::answering(answer("200 OK", "", said)).await;
    let gate = Setup::to(&server).secret("token", HERE).gate();
    let mut request = post("https://api.example/{{secret:token}}?q={{secret:token}}", said);
    request.headers = vec![header("X-Said", said), header("Authorization", "Bearer {{secret:token}}")];
    // Listed for the one header that is a credential, so the other one has to say something else.
    request.headers[0].1 = "{{secret:toke}}".to_owned();
    request.secrets = vec![uses("token", Place::Header)];
    let response = within(gate.send(request)).await.unwrap();
    assert_eq!(response.body.as_str(), Some(said), "what was no secret is not masked");
    let seen = seen.lock().unwrap()[0].clone();
    assert_eq!(seen.matches(CANARY).count(), 1, "{seen}");
    assert!(seen.ends_with(said) && seen.contains("x-said: {{secret:toke}}\r\n"), "{seen}");
    assert!(seen.starts_with("POST /%7B%7Bsecret:token%7D%7D?q={{secret:token}} HTTP/1.1\r\n"), "{seen}");
}

#[tokio::test]
async fn case_61_a_message_fills_what_it_lists_and_nothing_else() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::with(move |stream| {
        let tell = tell.clone();
        async move {
            use futures::StreamExt as _;
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                let _ = tell.send(message);
            }
        }
    })
    .await;
    let gate = Setup::to(&server).secret("token", HERE).secret("elsewhere", &["https://other.example"]).gate();
    let (mut writer, _reader) = open(&gate).await;
    let said = r#"{"said":"{{secret:token}}"}"#;
    within(writer.send(Blob::from(said), &[])).await.unwrap();
    assert_eq!(within(told.recv()).await.unwrap().to_text().unwrap(), said);

    let identify = r#"{"token":"{{secret:token}}","said":"{{secret:elsewhere}}"}"#;
    within(writer.send(Blob::from(identify), &["token".to_owned()])).await.unwrap();
    let sent: serde_json::Value = serde_json::from_str(within(told.recv()).await.unwrap().to_text().unwrap()).unwrap();
    assert_eq!(sent, serde_json::json!({ "token": CANARY, "said": "{{secret:elsewhere}}" }));

    for (text, listed) in [("{{secret:elsewhere}}", "elsewhere"), ("{{secret:unknown}}", "unknown")] {
        let fault = gate.check_frame(&gateway(), &Blob::from(text), &[listed.to_owned()]).unwrap_err();
        assert!(matches!(fault, Fault::Denied(_)), "{fault:?}");
        assert_eq!(within(writer.send(Blob::from(text), &[listed.to_owned()])).await, Err(fault));
    }
    for text in ["", "{{secret:token}}{{secret:token}}"] {
        let fault = gate.check_frame(&gateway(), &Blob::from(text), &["token".to_owned()]).unwrap_err();
        assert!(matches!(fault, Fault::Invalid(_)), "{fault:?}");
    }
    // The connection still works, and nothing else was sent.
    within(writer.send(Blob::Binary(bytes::Bytes::from_static(b"\xff")), &[])).await.unwrap();
    assert_eq!(within(told.recv()).await.unwrap().into_data(), b"\xff"[..]);
}

/// Keeps what libraries say through `log`, at every level.
struct Overheard(std::sync::Mutex<String>);

impl log::Log for Overheard {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().unwrap().push_str(&format!("{} {}\n", record.level(), record.args()));
    }

    fn flush(&self) {}
}

#[tokio::test]
async fn case_35_libraries_can_not_log_what_was_filled_in() {
    static OVERHEARD: Overheard = Overheard(std::sync::Mutex::new(String::new()));
    log::set_logger(&OVERHEARD).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::with(move |mut stream| {
        let tell = tell.clone();
        async move {
            accept_upgrade(&mut stream, "").await;
            let _ = tell.send(read_frame(&mut stream).await.unwrap());
        }
    })
    .await;
    let gate = Setup::to(&server).secret("token", HERE).gate();
    let (mut writer, _reader) = open(&gate).await;
    within(writer.send(Blob::from("{{secret:token}}"), &["token".to_owned()])).await.unwrap();
    assert_eq!(within(told.recv()).await.unwrap().1, CANARY.as_bytes());
    // Not as text, and nothing at the levels at which frames are written as numbers.
    let overheard = OVERHEARD.0.lock().unwrap().clone();
    assert!(is_clean(&overheard) && !overheard.contains("TRACE") && !overheard.contains("DEBUG"), "{overheard}");
}

#[tokio::test]
async fn case_35_a_rotated_secret_is_filled_in_and_masked_from_then_on() {
    let (server, seen) = Server::answering(answer("200 OK", "", &format!("{CANARY} rotated-canary"))).await;
    let gate = Setup::to(&server).secret("token", HERE).gate();
    let mut request = get("https://api.example/");
    request.headers = vec![header("Authorization", "Bearer {{secret:token}}")];
    request.secrets = vec![uses("token", Place::Header)];
    let to = HERE.iter().map(|&to| to.to_owned()).collect();
    let rotated = SecretEntry { name: "token".to_owned(), value: b"rotated-canary".to_vec(), to };
    gate.rotate(Arc::new(Secrets::new(vec![rotated]).unwrap()));
    let response = within(gate.send(request)).await.unwrap();
    assert_eq!(response.body.as_str(), Some(format!("{CANARY} [secret:token]").as_str()));
    assert!(seen.lock().unwrap()[0].contains("authorization: Bearer rotated-canary\r\n"));
}
