//! Servers that do as they are told, gates that lead to them, and the log that they leave.

use std::future::Future;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jackfield_engine::egress::{
    Ceilings, Gate, GateConfig, Origin, Policy, ResolveError, Resolver, Socket, SocketReader, SocketWriter, Trust,
};
use jackfield_engine::secret::{SecretEntry, Secrets};
use jackfield_model::session::Cause;
use jackfield_model::wire::{HttpRequest, Method, Place, SecretUse, SocketRequest};
use jackfield_model::{Blob, Monotonic, clock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

/// What must never be seen where it was not meant to go.
pub(crate) const CANARY: &str = "xoxb-canary/\"0123456789\"";

/// Longest wait for something that has to happen. Far longer than it takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn now() -> Monotonic {
    clock::system().monotonic()
}

pub(crate) async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it happens in time")
}

/// A server on loopback that treats each connection as told, until dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) accepted: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl Server {
    pub(crate) async fn with<F, R>(treat: F) -> Self
    where
        F: Fn(TcpStream) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        let task = tokio::spawn(async move {
            let mut treated = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                treated.spawn(treat(stream));
            }
        });
        Self { address, accepted, _task: AbortOnDropHandle::new(task) }
    }

    /// Answers every request with these bytes, and keeps what was asked.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> (Self, Arc<Mutex<Vec<String>>>) {
        let answer: Arc<[u8]> = answer.into().into();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let server = Self::with(move |mut stream| {
            let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
            async move {
                let request = read_request(&mut stream).await;
                log.lock().unwrap().push(request);
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
                drain(&mut stream).await;
            }
        })
        .await;
        (server, seen)
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

/// An answer that is whole.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len()).into_bytes()
}

/// A request as it came: head and body.
pub(crate) async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return text,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}

/// Reads until the other side is gone.
pub(crate) async fn drain(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    rest
}

/// Answers as listed, one after the other; the last one again and again.
pub(crate) struct Names {
    answers: Vec<Vec<IpAddr>>,
    pub(crate) asked: AtomicUsize,
}

impl Names {
    pub(crate) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self { answers: answers.iter().map(parse).collect(), asked: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Resolver for Names {
    async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.get(asked).or(self.answers.last());
        answer.cloned().ok_or_else(|| ResolveError(format!("{host}: no such name")))
    }
}

/// A gate in the making.
pub(crate) struct Setup {
    pub(crate) grants: Vec<&'static str>,
    pub(crate) connect: Vec<(&'static str, String)>,
    pub(crate) secrets: Vec<SecretEntry>,
    pub(crate) ceilings: Ceilings,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) trust: Trust,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            grants: vec!["https://api.example", "wss://gateway.example"],
            connect: Vec::new(),
            secrets: Vec::new(),
            ceilings: Ceilings::default(),
            resolver: Names::new(&[]),
            trust: Trust::new(Vec::new()).unwrap(),
        }
    }
}

impl Setup {
    /// Both granted origins lead to this server.
    pub(crate) fn to(server: &Server) -> Self {
        let address = server.address;
        Self {
            connect: vec![
                ("https://api.example", format!("http://{address}")),
                ("wss://gateway.example", format!("ws://{address}")),
            ],
            ..Self::default()
        }
    }

    pub(crate) fn secret(mut self, name: &str, to: &[&str]) -> Self {
        let to = to.iter().map(|&to| to.to_owned()).collect();
        self.secrets.push(SecretEntry { name: name.to_owned(), value: CANARY.as_bytes().to_vec(), to });
        self
    }

    pub(crate) fn ceilings(mut self, change: impl FnOnce(&mut Ceilings)) -> Self {
        change(&mut self.ceilings);
        self
    }

    pub(crate) fn policy(&self) -> Policy {
        let grants: Vec<Origin> = self.grants.iter().map(|text| text.parse().unwrap()).collect();
        let connect = self.connect.iter().map(|(origin, target)| (origin.parse().unwrap(), target.parse().unwrap()));
        Policy::new(&grants, &grants, connect.collect()).unwrap()
    }

    pub(crate) fn gate(self) -> Gate {
        Gate::new(GateConfig {
            connection: "acme-test".parse().unwrap(),
            policy: self.policy(),
            secrets: Arc::new(Secrets::new(self.secrets).unwrap()),
            ceilings: self.ceilings,
            resolver: self.resolver,
            trust: self.trust,
            clock: clock::system(),
        })
    }
}

pub(crate) fn get(url: &str) -> HttpRequest {
    HttpRequest {
        method: Method::Get,
        url: url.to_owned(),
        headers: Vec::new(),
        body: Blob::from(""),
        secrets: Vec::new(),
        // Longer than any test waits: what ends in time was ended by something else.
        timeout: PATIENCE * 5,
    }
}

pub(crate) fn post(url: &str, body: &str) -> HttpRequest {
    HttpRequest { method: Method::Post, body: Blob::from(body), ..get(url) }
}

pub(crate) fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

pub(crate) fn uses(secret: &str, place: Place) -> SecretUse {
    SecretUse { secret: secret.to_owned(), place }
}

pub(crate) fn gateway() -> SocketRequest {
    SocketRequest {
        url: "wss://gateway.example/?v=10".to_owned(),
        headers: Vec::new(),
        secrets: Vec::new(),
        subprotocols: Vec::new(),
        silence: PATIENCE,
        annotations: "{}".to_owned(),
    }
}

pub(crate) async fn open(gate: &Gate) -> (SocketWriter, SocketReader) {
    within(gate.open(gateway())).await.map(Socket::split).unwrap_or_else(|cause| panic!("{cause:?}"))
}

pub(crate) async fn refusal(gate: &Gate, request: SocketRequest) -> Cause {
    match within(gate.open(request)).await {
        Ok(_) => panic!("it opened"),
        Err(cause) => cause,
    }
}

/// Everything that is logged on this thread until dropped, at every level.
pub(crate) struct Log {
    lines: Arc<Mutex<Vec<u8>>>,
    _guard: tracing::subscriber::DefaultGuard,
}

impl Log {
    pub(crate) fn new() -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || Sink(Arc::clone(&sink)))
            .finish();
        Self { lines, _guard: tracing::subscriber::set_default(subscriber) }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.lines.lock().unwrap()).into_owned()
    }

    /// The gate's own lines.
    pub(crate) fn audit(&self) -> Vec<String> {
        self.text().lines().filter(|line| line.contains("jackfield::egress")).map(str::to_owned).collect()
    }
}

struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
