//! Requests over loopback.

use std::time::Duration;

use jackfield_model::clock;
use jackfield_model::wire::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::super::tests::{PATIENCE, gate};
use super::*;

const LABEL: &str = "page";

/// Answers every request but those for `/never`.
async fn answer(mut stream: TcpStream) {
    let mut request = vec![0; 4096];
    let read = stream.read(&mut request).await.unwrap_or_default();
    if request[..read].starts_with(b"GET /never ") {
        std::future::pending::<()>().await;
    }
    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await;
}

async fn fetches() -> Fetches {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gate = gate(listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    Fetches::new(gate, Arc::new(Facts::new(clock::system())))
}

fn get(path: &str) -> HttpRequest {
    HttpRequest {
        method: Method::Get,
        url: format!("https://platform.test{path}"),
        headers: Vec::new(),
        body: "".into(),
        secrets: Vec::new(),
        timeout: Duration::from_secs(30),
    }
}

fn status(signal: &Signal) -> Option<u16> {
    match signal {
        Signal::Fetched { label, outcome: Ok(response) } if label == LABEL => Some(response.status),
        _ => None,
    }
}

/// One that was given up ends without a word of its own. It stands in nobody's way: one wait finds the next that ends.
#[tokio::test]
async fn a_cancelled_request_does_not_hide_the_end_of_another() {
    let (mut fetches, mut queue) = (fetches().await, Queue::default());
    fetches.start(LABEL.to_owned(), get("/never"));
    assert!(fetches.cancel(LABEL, &mut queue));
    assert!(!fetches.cancel(LABEL, &mut queue), "none is under way");
    fetches.start(LABEL.to_owned(), get("/now"));
    let signal = timeout(PATIENCE, fetches.next()).await.unwrap();
    assert_eq!(status(&signal), Some(204), "{signal:?}");
    assert_eq!(queue.take(), [Signal::Fetched { label: LABEL.to_owned(), outcome: Err(Fault::Cancelled) }]);
    assert!(fetches.labels().is_empty());
}

/// Those that have ended are found without waiting, so that a timer that is due comes behind them.
#[tokio::test]
async fn what_has_ended_is_found_without_waiting() {
    let mut fetches = fetches().await;
    fetches.start("hangs".to_owned(), get("/never"));
    fetches.start(LABEL.to_owned(), get("/now"));
    let found = async {
        loop {
            if let Some(signal) = fetches.next_now() {
                return signal;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let signal = timeout(PATIENCE, found).await.unwrap();
    assert_eq!(status(&signal), Some(204), "{signal:?}");
    assert!(fetches.next_now().is_none());
    assert_eq!(fetches.labels().into_iter().collect::<Vec<_>>(), ["hangs"]);
}

/// What is given up for good is not waited for, what is asked for after that is.
#[tokio::test]
async fn only_what_was_asked_for_since_is_waited_for() {
    let mut fetches = fetches().await;
    fetches.start("hangs".to_owned(), get("/never"));
    fetches.abandon();
    fetches.start(LABEL.to_owned(), get("/now"));
    // Shorter than the request that hangs is allowed to take.
    timeout(Duration::from_secs(20), fetches.finish()).await.unwrap();
}
