//! The server: who is let in, what is routed where, and how much of anything there may be.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use jackfield_model::{ConnectionId, Space};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::failure::Failure;
use super::peer::Peer;
use super::socket::Bind;
use super::{actions, contacts, dead_letters, events, executions, parked, trace};
use crate::config::nearest;
use crate::host::Host;
use crate::outbound::Refused;
use crate::spec::Spec;

/// Longest body of a request, in bytes. The longest is a reference to a contact; a run of an action has its own.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Longest head of a request, in bytes; the smallest buffer that hyper has.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Time for the head of a request: a client that dribbles is cut off.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);

/// Time for a request, its body and its answer. Longer than any wait for events, shorter than a client's patience. Not for
/// runs of actions and searches: those take what they take, and end with their connection.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(35);

/// Connections at once. Commands, followers and actions that wait for their platforms; more wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 256;

/// Actions among them. What waits for platforms must not keep anybody from looking.
const RUNS_MAX: usize = 192;

/// Pause after a failed accept: no descriptor is free, and will not be at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Time for the answers under way when the host ends.
const END_TIME_MAX: Duration = Duration::from_secs(1);

/// The `Host` that a client of ours names. Whatever else comes was not meant for this socket.
pub(super) const AUTHORITY: &str = "jackfield";

/// What the administration works on.
#[derive(Clone)]
pub struct Admin {
    pub(super) host: Host,
    pub(super) served: Arc<BTreeMap<ConnectionId, Served>>,
    pub(super) ending: CancellationToken,
    pub(super) runs: Arc<Semaphore>,
}

/// What the administration needs to know of a connection.
#[derive(Clone, Debug)]
pub(super) struct Served {
    pub(super) space: Space,
    pub(super) namespace: String,
}

impl Admin {
    /// Of this host, which serves these connections, until `ending`.
    #[must_use]
    pub fn new(host: Host, specs: &[Spec], ending: CancellationToken) -> Self {
        let served = specs.iter().map(|spec| {
            let namespace = spec.component.descriptor().id.clone();
            (spec.id.clone(), Served { space: spec.space.clone(), namespace })
        });
        Self { host, served: Arc::new(served.collect()), ending, runs: Arc::new(Semaphore::new(RUNS_MAX)) }
    }

    /// The connection of this name.
    pub(super) fn served(&self, id: &ConnectionId) -> Result<&Served, Failure> {
        self.served.get(id).ok_or_else(|| {
            let near = nearest::word(id.as_str(), self.served.keys().map(ConnectionId::as_str)).map(str::to_owned);
            Refused::NoConnection { name: id.clone(), near }.into()
        })
    }
}

/// Answers on this socket until the host ends; requests under way are answered first.
pub async fn serve(bind: Bind, admin: Admin) {
    let ending = admin.ending.clone();
    answer_all(bind, router(admin), ending).await;
}

async fn answer_all(bind: Bind, router: Router, ending: CancellationToken) {
    let ours = rustix::process::geteuid().as_raw();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&bind, &places) => accepted,
            () = ending.cancelled() => break,
        };
        match accepted {
            Ok((stream, place)) => {
                if let Some(peer) = Peer::allowed(&stream, ours) {
                    tasks.spawn(answer(stream, router.clone().layer(Extension(peer)), ending.clone(), place));
                }
            }
            Err(error) => {
                tracing::warn!(%error, "accept an admin connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    tasks.close();
    // A client that reads nothing must not hold up the end.
    _ = tokio::time::timeout(END_TIME_MAX, tasks.wait()).await;
}

async fn accept(bind: &Bind, places: &Arc<Semaphore>) -> io::Result<(UnixStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = bind.listener.accept().await?;
    Ok((stream, place))
}

async fn answer(stream: UnixStream, router: Router, ending: CancellationToken, _place: OwnedSemaphorePermit) {
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX).max_buf_size(HEAD_BYTES_MAX);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::pin!(connection);
    let served = tokio::select! {
        served = &mut connection => served,
        () = ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "admin connection ended");
    }
}

fn router(admin: Admin) -> Router {
    Router::new()
        .route("/v0/status", get(status))
        .route("/v0/events", get(events::page))
        .route("/v0/cursors/{name}", get(events::cursor).put(events::advance))
        .route("/v0/dead-letters", get(dead_letters::list))
        .route("/v0/dead-letters/{id}", get(dead_letters::show).delete(dead_letters::discard))
        .route("/v0/dead-letters/{id}/redrive", post(dead_letters::redrive))
        .route("/v0/actions", get(actions::list))
        .route(actions::RUN, post(actions::run).layer(DefaultBodyLimit::max(actions::RUN_BYTES_MAX)))
        .route("/v0/executions", get(executions::list))
        .route("/v0/executions/{id}", get(executions::show))
        .route(trace::TRACE, get(trace::trace))
        .route("/v0/connections/{id}/unpark", post(parked::unpark))
        .route("/v0/contacts", get(contacts::list))
        .route("/v0/contacts/resolve", post(contacts::resolve))
        .fallback(async || Failure::missing("there is no such path: are this command and the host of one version?"))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn(ours_alone))
        .with_state(admin)
}

/// A browser never speaks to this socket; what carries the marks of one was led here. What announces too much is not
/// waited for, and what never comes to an end is ended.
async fn ours_alone(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    if headers.contains_key(header::ORIGIN) || host != Some(AUTHORITY.as_bytes()) {
        return Failure::new(StatusCode::FORBIDDEN, "this socket answers the jackfield command alone").into_response();
    }
    let (most, takes_its_time) = match request.uri().path() {
        actions::RUN => (actions::RUN_BYTES_MAX, true),
        trace::TRACE => (BODY_BYTES_MAX, true),
        _ => (BODY_BYTES_MAX, false),
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > most as u64) {
        return Failure::new(StatusCode::PAYLOAD_TOO_LARGE, format!("a request may have {most} bytes")).into_response();
    }
    if takes_its_time {
        return next.run(request).await;
    }
    let answered = tokio::time::timeout(REQUEST_TIME_MAX, next.run(request)).await;
    answered.unwrap_or_else(|_| Failure::new(StatusCode::REQUEST_TIMEOUT, "the request took too long").into_response())
}

async fn status(State(admin): State<Admin>) -> impl IntoResponse {
    Json(admin.host.status().await)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::sync::mpsc;

    use super::*;

    /// Says so when it goes.
    struct Leaving(mpsc::UnboundedSender<&'static str>);

    impl Drop for Leaving {
        fn drop(&mut self) {
            let _ = self.0.send("left");
        }
    }

    /// What an execution rests on: nobody waits for an answer that nobody can hear.
    #[tokio::test]
    async fn whoever_hangs_up_ends_what_he_asked_for() {
        let data = tempfile::tempdir().unwrap();
        let (tell, mut heard) = mpsc::unbounded_channel();
        let hang = async move || {
            let _leaving = Leaving(tell.clone());
            let _ = tell.send("there");
            std::future::pending::<()>().await;
        };
        let router = Router::new().route("/hang", post(hang)).layer(middleware::from_fn(ours_alone));
        let ending = CancellationToken::new();
        let server = tokio::spawn(answer_all(Bind::new(data.path()).unwrap(), router, ending.clone()));
        let mut stream = UnixStream::connect(crate::admin::path(data.path()).unwrap()).await.unwrap();
        let head = format!("POST /hang HTTP/1.1\r\nHost: {AUTHORITY}\r\nContent-Length: 2\r\n\r\n{{}}");
        stream.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(heard.recv().await, Some("there"));
        assert!(heard.try_recv().is_err(), "it waits as long as somebody listens");
        drop(stream);
        let left = tokio::time::timeout(Duration::from_secs(30), heard.recv()).await;
        assert_eq!(left, Ok(Some("left")));
        ending.cancel();
        server.await.unwrap();
    }
}
