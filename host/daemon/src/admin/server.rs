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
use axum::{Json, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use jackfield_model::{ConnectionId, Space};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::failure::Failure;
use super::socket::Bind;
use super::{contacts, dead_letters, events, parked};
use crate::host::Host;
use crate::spec::Spec;

/// Longest body of a request, in bytes. The longest is a reference to a contact.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Longest head of a request, in bytes; the smallest buffer that hyper has.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Time for the head of a request: a client that dribbles is cut off.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);

/// Time for a request, its body and its answer. Longer than any wait for events, shorter than a client's patience.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(35);

/// Connections at once. Commands and followers; more wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 64;

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
        Self { host, served: Arc::new(served.collect()), ending }
    }
}

/// Answers on this socket until the host ends; requests under way are answered first.
pub async fn serve(bind: Bind, admin: Admin) {
    let ours = rustix::process::geteuid().as_raw();
    let ending = admin.ending.clone();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let tasks = TaskTracker::new();
    let router = router(admin);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&bind, &places) => accepted,
            () = ending.cancelled() => break,
        };
        match accepted {
            Ok((stream, place)) if is_allowed(&stream, ours) => {
                tasks.spawn(answer(stream, router.clone(), ending.clone(), place));
            }
            Ok(_) => {}
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

/// The kernel says who is at the other end. The mode of the socket already keeps others out; this holds even where
/// somebody changed it.
fn is_allowed(stream: &UnixStream, ours: u32) -> bool {
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == ours || peer.uid() == 0 => true,
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), pid = peer.pid(), "admin connection of another user refused");
            false
        }
        Err(error) => {
            tracing::warn!(%error, "admin connection of an unknown user refused");
            false
        }
    }
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
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > BODY_BYTES_MAX as u64) {
        let text = format!("a request may have {BODY_BYTES_MAX} bytes");
        return Failure::new(StatusCode::PAYLOAD_TOO_LARGE, text).into_response();
    }
    let answered = tokio::time::timeout(REQUEST_TIME_MAX, next.run(request)).await;
    answered.unwrap_or_else(|_| Failure::new(StatusCode::REQUEST_TIMEOUT, "the request took too long").into_response())
}

async fn status(State(admin): State<Admin>) -> impl IntoResponse {
    Json(admin.host.status().await)
}
