//! A web server whose paths misbehave, each in its own way, and which keeps what it was asked.
//!
//! | path | answers |
//! | --- | --- |
//! | `/ok…` | 200 and the request, whole |
//! | `/say` | 201 and the id of what was said: `m-1` for the first request, and so on |
//! | `/status/N` | that status |
//! | `/redirect` | 302 to a private address |
//! | `/cut` | nothing: it closes once it has the request |
//! | `/half` | the head and the beginning of a body, then closes |
//! | `/stall` | nothing, and stays |
//! | `/drip` | a byte every 50 ms, for ever |
//! | `/endless-head` | header lines for ever |
//! | `/continue` | `100 Continue`, and nothing more |
//! | `/gzip` | a body that says it is compressed |
//! | `/large` | 9 MiB |
//! | `/limited/N/NAME` | 200 at most N times in any second that begins with a request to NAME, else 429; says what is left |

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The window of a limited path.
const WINDOW: Duration = Duration::from_secs(1);

/// A web server. Ends with its handle.
pub struct Web {
    address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    asked: Mutex<Vec<Asked>>,
    windows: Mutex<HashMap<String, (Instant, u32)>>,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Method and path.
    pub line: String,
    /// All of it.
    pub whole: String,
    /// The status that was answered; 0 where none was.
    pub status: u16,
}

impl Web {
    /// Listens on loopback.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::<Seen>::default();
        let kept = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut peers = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                peers.spawn(answer(stream, Arc::clone(&kept)));
            }
        });
        Self { address, seen, task }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that it was asked, in the order of arrival.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.seen.asked).clone()
    }

    /// How many requests for this path were answered with this status.
    #[must_use]
    pub fn count(&self, path: &str, status: u16) -> usize {
        self.asked().iter().filter(|asked| asked.line.ends_with(path) && asked.status == status).count()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(mut stream: TcpStream, seen: Arc<Seen>) {
    let Some(whole) = read(&mut stream).await else { return };
    let line = whole.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    let path = line.split_once(' ').map_or("", |(_, path)| path).to_owned();
    let at = {
        let mut asked = lock(&seen.asked);
        asked.push(Asked { line, whole: whole.clone(), status: 0 });
        asked.len() - 1
    };
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (status, headers, body) = match *parts.as_slice() {
        ["cut"] => return,
        ["stall"] => return std::future::pending().await,
        ["half"] => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await;
            return;
        }
        ["drip"] => return drip(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", b"x").await,
        ["endless-head"] => {
            return drip(stream, b"HTTP/1.1 200 OK\r\n", &[b"x-more: ", [b'y'; 4096].as_slice(), b"\r\n"].concat())
                .await;
        }
        ["continue"] => {
            let _ = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await;
            return std::future::pending().await;
        }
        ["gzip"] => (200, "content-encoding: gzip\r\n".to_owned(), "not really".to_owned()),
        ["large"] => (200, String::new(), "x".repeat(9 << 20)),
        ["redirect"] => (302, "location: http://169.254.169.254/latest\r\n".to_owned(), String::new()),
        ["say"] => (201, String::new(), format!(r#"{{"id":"m-{}"}}"#, at + 1)),
        ["status", status] => (status.parse().unwrap_or(500), String::new(), "as asked".to_owned()),
        ["limited", most, name] => limited(&seen, name, most.parse().unwrap_or(1)),
        _ => (200, String::new(), whole.replace("\r\n", "|")),
    };
    lock(&seen.asked)[at].status = status;
    let length = body.len();
    let head = format!("HTTP/1.1 {status} As Asked\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn limited(seen: &Seen, name: &str, most: u32) -> (u16, String, String) {
    let mut windows = lock(&seen.windows);
    let now = Instant::now();
    let window = windows.entry(name.to_owned()).or_insert((now, 0));
    if now.duration_since(window.0) >= WINDOW {
        *window = (now, 0);
    }
    let left = WINDOW.saturating_sub(now.duration_since(window.0)).as_secs_f64();
    if window.1 >= most {
        return (429, format!("retry-after: 1\r\nx-left: 0 {left:.3}\r\n"), format!("0 {left:.3}"));
    }
    window.1 += 1;
    let remaining = most - window.1;
    (200, format!("x-left: {remaining} {left:.3}\r\n"), format!("{remaining} {left:.3}"))
}

async fn drip(mut stream: TcpStream, first: &[u8], then: &[u8]) {
    if stream.write_all(first).await.is_err() {
        return;
    }
    while stream.write_all(then).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(text);
        }
    }
}
