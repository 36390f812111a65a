//! The command line's end of the admin socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use super::failure::{Class, Refusal};
use super::server::AUTHORITY;
use super::socket::{self, BindError};

/// Longest answer, in bytes: a page of the largest events would be larger, and is asked for in smaller pages.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Time for an answer. Requests that wait for events are answered after 25 s at the latest.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(40);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens.
    #[error("no host is running for {}: start one with `jackfield serve --config {}`", .data.display(), .config.display())]
    NotRunning {
        /// The data folder.
        data: PathBuf,
        /// The configuration file that says so.
        config: PathBuf,
    },
    /// The socket is somebody else's.
    #[error("the host for {} belongs to another user: run this command as that user", .0.display())]
    NotOurs(PathBuf),
    /// There can be no socket.
    #[error(transparent)]
    Path(#[from] BindError),
    /// The host said no, and why.
    #[error("{}", .0.error)]
    Refused(Box<Refusal>),
    /// The conversation broke off.
    #[error("the host for {} stopped answering: {reason}", .data.display())]
    Broken {
        /// The data folder.
        data: PathBuf,
        /// How it broke.
        reason: String,
    },
}

/// Speaks to the host of one data folder.
#[derive(Clone, Debug)]
pub struct Client {
    data: PathBuf,
    config: PathBuf,
    socket: PathBuf,
}

impl Client {
    /// For the host with this data folder, as this configuration file names it. Connects to nothing yet.
    ///
    /// # Errors
    /// When there can be no socket of that path.
    pub fn new(data: PathBuf, config: &Path) -> Result<Self, ClientError> {
        Ok(Self { socket: socket::path(&data)?, data, config: config.to_owned() })
    }

    /// Asks for a document.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn get<T: DeserializeOwned>(&self, path: &str, query: &impl Serialize) -> Result<T, ClientError> {
        self.get_within(path, query, ANSWER_TIME_MAX).await
    }

    /// Asks for a document, which may take so long.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn get_within<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &impl Serialize,
        patience: Duration,
    ) -> Result<T, ClientError> {
        let query = query_string(query);
        let answer = self.ask(Method::GET, &format!("{path}{query}"), None, patience).await?;
        self.read(&answer)
    }

    /// Sends a document, and gets one.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.post_within(path, body, ANSWER_TIME_MAX).await
    }

    /// Sends a document, and gets one, which may take so long.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn post_within<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        patience: Duration,
    ) -> Result<T, ClientError> {
        let answer = self.ask(Method::POST, path, Some(self.write(body)?), patience).await?;
        self.read(&answer)
    }

    /// Sends a document.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn put(&self, path: &str, body: &impl Serialize) -> Result<(), ClientError> {
        self.ask(Method::PUT, path, Some(self.write(body)?), ANSWER_TIME_MAX).await.map(drop)
    }

    /// Ends something.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete(&self, path: &str) -> Result<(), ClientError> {
        self.ask(Method::DELETE, path, None, ANSWER_TIME_MAX).await.map(drop)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
        patience: Duration,
    ) -> Result<Bytes, ClientError> {
        let stream = UnixStream::connect(&self.socket).await.map_err(|error| self.unreachable(&error))?;
        let exchange = tokio::time::timeout(patience, self.exchange(stream, method, path, body));
        let (status, answer) = exchange.await.map_err(|_| self.broken("no answer in time"))??;
        if status.is_success() {
            return Ok(answer);
        }
        let refusal = serde_json::from_slice(&answer).unwrap_or_else(|_| Refusal {
            error: format!("the host answered {status}: {}", String::from_utf8_lossy(&answer)),
            class: Class::Failed,
            details: serde_json::Map::new(),
        });
        Err(ClientError::Refused(Box::new(refusal)))
    }

    async fn exchange(
        &self,
        stream: UnixStream,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.broken(error))?;
        // Ends with the sender.
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, AUTHORITY);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request =
            request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|error| self.broken(error))?;
        let response = sender.send_request(request).await.map_err(|error| self.broken(error))?;
        let status = response.status();
        let answer = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        Ok((status, answer.map_err(|error| self.broken(error))?.to_bytes()))
    }

    fn write(&self, body: &impl Serialize) -> Result<Vec<u8>, ClientError> {
        serde_json::to_vec(body).map_err(|error| self.broken(error))
    }

    fn read<T: DeserializeOwned>(&self, answer: &[u8]) -> Result<T, ClientError> {
        serde_json::from_slice(answer).map_err(|error| self.broken(format!("its answer is not understood ({error})")))
    }

    fn unreachable(&self, error: &io::Error) -> ClientError {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                ClientError::NotRunning { data: self.data.clone(), config: self.config.clone() }
            }
            io::ErrorKind::PermissionDenied => ClientError::NotOurs(self.data.clone()),
            _ => self.broken(error),
        }
    }

    fn broken(&self, reason: impl ToString) -> ClientError {
        ClientError::Broken { data: self.data.clone(), reason: reason.to_string() }
    }
}

/// A flat document as a query.
fn query_string(query: &impl Serialize) -> String {
    let Ok(serde_json::Value::Object(members)) = serde_json::to_value(query) else { return String::new() };
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (key, value) in &members {
        match value {
            serde_json::Value::Null => {}
            serde_json::Value::String(text) => drop(pairs.append_pair(key, text)),
            other => drop(pairs.append_pair(key, &other.to_string())),
        }
    }
    let pairs = pairs.finish();
    if pairs.is_empty() { pairs } else { format!("?{pairs}") }
}
