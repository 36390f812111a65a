//! The platform of the helpful guests: WebSockets that carry lines, and a web server that keeps what it was sent.
//!
//! Blocking from the outside: tests are plain functions that talk to a process and to this.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc as queue;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

use crate::processes::PATIENCE;

/// How long nothing has to be heard before there is nothing. Only where a test says that something must not come.
const SILENCE: Duration = Duration::from_millis(500);

/// The platform.
pub struct Platform {
    address: SocketAddr,
    web: SocketAddr,
    peers: mpsc::Receiver<Peer>,
    requests: Arc<Mutex<Vec<String>>>,
    /// Dropped last: everything runs on it.
    _runtime: Runtime,
}

/// One connection of a guest, seen from the platform.
pub struct Peer {
    /// The head of the upgrade: path and headers.
    pub upgrade: String,
    say: queue::UnboundedSender<Message>,
    heard: mpsc::Receiver<String>,
}

impl Platform {
    /// Listens on loopback.
    #[must_use]
    pub fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let bind = || async { TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port") };
        let (sockets, web) = (runtime.block_on(bind()), runtime.block_on(bind()));
        let (address, web_address) = (sockets.local_addr().expect("bound"), web.local_addr().expect("bound"));
        let (tell, peers) = mpsc::channel();
        runtime.spawn(async move {
            while let Ok((stream, _)) = sockets.accept().await {
                tokio::spawn(upgrade(stream, tell.clone()));
            }
        });
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = requests.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = web.accept().await {
                tokio::spawn(answer(stream, kept.clone()));
            }
        });
        Self { address, web: web_address, peers, requests, _runtime: runtime }
    }

    /// A configuration with one connection `echo` of this component. `more` is added to the connection.
    #[must_use]
    pub fn config(&self, component: &std::path::Path, config: &str, more: &str) -> String {
        let web = self.web;
        format!(
            r#"
[host]
data = "./data"

[[connection]]
id = "echo"
connector = {component:?}
config = {{ {config} }}
contacts = "people"
grants = ["https://echo.test", "https://plain.test", "wss://echo.test", "state:64KiB"]
connect = {{ "wss://echo.test" = "ws://{}", "https://echo.test" = "http://{web}", "https://plain.test" = "http://{web}" }}
{more}
"#,
            self.address
        )
    }

    /// Waits for the next connection.
    #[must_use]
    pub fn peer(&self) -> Peer {
        self.peers.recv_timeout(PATIENCE).expect("a guest connects")
    }

    /// A connection that came meanwhile.
    #[must_use]
    pub fn another(&self) -> Option<Peer> {
        self.peers.try_recv().ok()
    }

    /// Every request of the web server so far, whole.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Peer {
    /// Says a line.
    pub fn say(&self, line: impl Into<String>) {
        // Where the guest has gone nobody hears; the test finds out by what it waits for.
        let _ = self.say.send(Message::text(line.into()));
    }

    /// Ends the connection with this code.
    pub fn close(self, code: u16) {
        let frame = tokio_tungstenite::tungstenite::protocol::CloseFrame { code: code.into(), reason: "asked".into() };
        let _ = self.say.send(Message::Close(Some(frame)));
    }

    /// The next line.
    ///
    /// # Panics
    /// When none comes, or the guest is gone.
    #[must_use]
    pub fn heard(&self) -> String {
        self.heard.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("nothing was said: {error}"))
    }

    /// Hears this line next.
    pub fn hears(&self, line: &str) {
        assert_eq!(self.heard(), line);
    }

    /// Reads until this line, and gives what came before it.
    pub fn hears_at_last(&self, line: &str) -> Vec<String> {
        let mut before = Vec::new();
        loop {
            let heard = self.heard();
            if heard == line {
                return before;
            }
            before.push(heard);
        }
    }

    /// Hears this many lines, in whatever order.
    #[must_use]
    pub fn hears_many(&self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.heard()).collect()
    }

    /// Nothing more is said, for a while that is long for a machine.
    pub fn hears_nothing(&self) {
        if let Ok(line) = self.heard.recv_timeout(SILENCE) {
            panic!("it said {line:?}");
        }
    }

    /// Waits until the guest is gone, and gives what it said before.
    pub fn gone(&self) -> Vec<String> {
        let mut said = Vec::new();
        loop {
            match self.heard.recv_timeout(PATIENCE) {
                Ok(line) => said.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => return said,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not go; it said {said:?}"),
            }
        }
    }
}

async fn upgrade(stream: TcpStream, tell: mpsc::Sender<Peer>) {
    let mut head = String::new();
    #[allow(clippy::result_large_err, reason = "the library's own type")]
    let look = |request: &Request, response: Response| {
        head = format!("{} {:?}", request.uri(), request.headers());
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, look).await else { return };
    let (mut writer, mut reader) = socket.split();
    let (say, mut said) = queue::unbounded_channel();
    let (hear, heard) = mpsc::channel();
    if tell.send(Peer { upgrade: head, say, heard }).is_err() {
        return;
    }
    let write = async move {
        while let Some(message) = said.recv().await {
            if writer.send(message).await.is_err() {
                return;
            }
        }
        // The test has dropped its end: the connection stays until the guest leaves or the test is over.
        std::future::pending::<()>().await;
    };
    let read = async move {
        while let Some(Ok(message)) = reader.next().await {
            if let Message::Text(text) = message
                && hear.send(text.to_string()).is_err()
            {
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = write => {}
        () = read => {}
    }
}

/// Answers one request with the request itself, so that whatever was sent comes back. A path `/after/MS` lets it wait.
async fn answer(mut stream: TcpStream, kept: Arc<Mutex<Vec<String>>>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let request = loop {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            break text;
        }
    };
    kept.lock().unwrap().push(request.clone());
    let wait = request.split_whitespace().nth(1).and_then(|path| path.strip_prefix("/after/")?.parse().ok());
    if let Some(wait) = wait {
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
    let body = request.replace("\r\n", "|");
    let head = format!("HTTP/1.1 200 OK\r\nx-echo: yes\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
}
