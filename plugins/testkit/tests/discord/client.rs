//! A bare gateway client: nothing happens by itself, every frame is the test's.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::{SinkExt as _, StreamExt as _};
use jackfield_testkit::discord::{Double, Options, Script};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// Nothing here takes long; a machine that is busy may.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT.
pub(crate) const INTENTS: u64 = 1 | 1 << 9 | 1 << 12 | 1 << 15;

/// For how long an answer was under way.
#[allow(clippy::disallowed_methods, reason = "a test has no other clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
    pub(crate) seq: u64,
    pub(crate) token: String,
}

/// What comes next on a connection.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Frame(Value),
    Closed(u16),
    /// The socket ended without a close frame.
    Gone,
}

pub(crate) async fn start(script: Script) -> Double {
    Double::start(Options { script, ..Options::default() }).await.unwrap()
}

/// A double that says nothing by itself.
pub(crate) async fn silent() -> Double {
    start(Script::silent()).await
}

impl Client {
    /// Connects under the double's own name, and takes the Hello.
    pub(crate) async fn connect(double: &Double) -> Self {
        let (mut client, _) = Self::open(double, "/?v=10&encoding=json").await;
        let hello = client.frame().await;
        assert_eq!(hello["op"], 10, "{hello}");
        client
    }

    /// Connects, and takes nothing. Also returns the URL it used.
    pub(crate) async fn open(double: &Double, target: &str) -> (Self, String) {
        let url = format!("{}{target}", double.gateway_url());
        (Self::open_as(double, &url).await.unwrap(), url)
    }

    /// Connects to the double under any name.
    pub(crate) async fn open_as(double: &Double, url: &str) -> Result<Self, Error> {
        let address = double.origin_http().strip_prefix("http://").unwrap().to_owned();
        let stream = TcpStream::connect(address).await.unwrap();
        let (socket, _) = client_async(url, stream).await?;
        Ok(Self { socket, seq: 0, token: double.token().to_owned() })
    }

    /// Connects and identifies; READY and the guilds are taken. Returns READY's payload too.
    pub(crate) async fn ready(double: &Double, intents: u64) -> (Self, Value) {
        let mut client = Self::connect(double).await;
        client.identify(intents).await;
        let ready = client.dispatch("READY").await;
        let guilds = if intents & 1 == 1 { ready["guilds"].as_array().unwrap().len() } else { 0 };
        for _ in 0..guilds {
            client.dispatch("GUILD_CREATE").await;
        }
        (client, ready)
    }

    /// Connects and resumes; takes nothing further.
    pub(crate) async fn resume(double: &Double, session: &Value, seq: u64) -> Self {
        let mut client = Self::connect(double).await;
        let token = client.token.clone();
        client.say(&json!({ "op": 6, "d": { "token": token, "session_id": session, "seq": seq } })).await;
        client
    }

    pub(crate) async fn identify(&mut self, intents: u64) {
        let identify = identify(&self.token, intents);
        self.say(&identify).await;
    }

    pub(crate) async fn say(&mut self, frame: &Value) {
        self.say_text(&frame.to_string()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        self.socket.send(Message::text(text.to_owned())).await.unwrap();
    }

    pub(crate) async fn say_binary(&mut self, bytes: Vec<u8>) {
        self.socket.send(Message::binary(bytes)).await.unwrap();
    }

    /// Sends a heartbeat and waits for its answer; dispatches on the way are lost.
    pub(crate) async fn heartbeat(&mut self, seq: Option<u64>) {
        self.say(&json!({ "op": 1, "d": seq })).await;
        while self.frame().await["op"] != 11 {}
    }

    /// Closes with this code, and waits for the answer.
    pub(crate) async fn close(mut self, code: u16) {
        self.socket.close(Some(CloseFrame { code: code.into(), reason: "".into() })).await.unwrap();
        while let Some(Ok(_)) = self.socket.next().await {}
    }

    pub(crate) async fn next(&mut self) -> Heard {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("nothing came");
            match next {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    if let Some(seq) = frame["s"].as_u64() {
                        self.seq = seq;
                    }
                    return Heard::Frame(frame);
                }
                Some(Ok(Message::Close(frame))) => return Heard::Closed(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Heard::Gone,
            }
        }
    }

    pub(crate) async fn frame(&mut self) -> Value {
        match self.next().await {
            Heard::Frame(frame) => frame,
            other => panic!("a frame was due, not {other:?}"),
        }
    }

    /// The payload of the next frame, which is a dispatch of this kind.
    pub(crate) async fn dispatch(&mut self, kind: &str) -> Value {
        let mut frame = self.frame().await;
        assert_eq!(frame["t"], kind, "{frame}");
        frame["d"].take()
    }

    /// How the connection ends; frames on the way are passed over.
    pub(crate) async fn end(&mut self) -> Heard {
        loop {
            match self.next().await {
                Heard::Frame(_) => {}
                end => return end,
            }
        }
    }

    /// Sequence number and kind of the next dispatches, up to and including one of the kind `last`.
    pub(crate) async fn numbered_until(&mut self, last: &str) -> Vec<(u64, String)> {
        let mut numbered = Vec::new();
        loop {
            let frame = self.frame().await;
            let Some(kind) = frame["t"].as_str() else { continue };
            numbered.push((frame["s"].as_u64().unwrap(), kind.to_owned()));
            if kind == last {
                return numbered;
            }
        }
    }
}

pub(crate) fn identify(token: &str, intents: u64) -> Value {
    let properties = json!({ "os": "linux", "browser": "test", "device": "test" });
    json!({ "op": 2, "d": { "token": token, "intents": intents, "properties": properties } })
}

/// What came back on a connection of its own, until the double closed it.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// None when there was no head.
    pub(crate) status: Option<u16>,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Exchange {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(end) = end else { return Self { status: None, headers: BTreeMap::new(), body: bytes.to_vec() } };
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Self { status: Some(status), headers, body: bytes[end + 4..].to_vec() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Whether the whole body came.
    pub(crate) fn is_whole(&self) -> bool {
        self.header("content-length").parse() == Ok(self.body.len())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Seconds that the answer says to wait.
    pub(crate) fn retry_after(&self) -> f64 {
        self.json()["retry_after"].as_f64().unwrap()
    }
}

/// Sends one request and does not wait for anything.
pub(crate) async fn send(double: &Double, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let address = double.origin_http().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
    stream
}

/// Everything that still comes on this connection. A reset is an end as well.
pub(crate) async fn receive(mut stream: TcpStream) -> Exchange {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the answer did not end");
    if let Err(error) = read {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    Exchange::read(&bytes)
}

/// One request over a connection of its own.
pub(crate) async fn exchange(
    double: &Double,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Exchange {
    receive(send(double, method, path, headers, body).await).await
}

/// The same, when it has to be answered: status and JSON.
pub(crate) async fn request(
    double: &Double,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, Value) {
    let exchange = exchange(double, method, path, headers, body).await;
    (exchange.status.unwrap(), exchange.json())
}

/// A request of JSON with the bot's token, below `/api/v10`.
pub(crate) async fn call(double: &Double, method: &str, path: &str, body: &Value) -> Exchange {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let credential = format!("Bot {}", double.token());
    let headers = [("Authorization", credential.as_str()), ("Content-Type", "application/json")];
    exchange(double, method, &format!("/api/v10{path}"), &headers, &body).await
}

/// A request with the bot's token.
pub(crate) async fn authorised(double: &Double, method: &str, path: &str, body: &str) -> (u16, Value) {
    let credential = format!("Bot {}", double.token());
    let headers = [("Authorization", credential.as_str()), ("Content-Type", "application/json")];
    request(double, method, path, &headers, body).await
}
