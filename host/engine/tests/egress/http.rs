//! Requests and answers: cases 25, 28 to 30, 32 and 33.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jackfield_model::{Blob, Fault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::support::{Log, Server, Setup, answer, drain, get, header, now, post, read_request, within};

#[tokio::test]
async fn case_25_what_is_not_granted_never_leaves() {
    let (server, seen) = Server::answering(answer("200 OK", "", "")).await;
    let gate = Setup::to(&server).gate();
    for url in [
        "https://other.example/",
        "https://api.example:8443/",
        "https://sub.api.example/",
        "http://api.example/",
        "wss://gateway.example/",
        "https://api.example@evil.example/",
        "https://[api.example]/",
    ] {
        let log = Log::new();
        let checked = gate.check_http(&get(url)).unwrap_err();
        let sent = within(gate.send(get(url))).await.unwrap_err();
        assert!(matches!(sent, Fault::Denied(_) | Fault::Invalid(_)), "{url}: {sent:?}");
        assert_eq!(checked, sent, "{url}");
        assert_eq!(log.audit().iter().filter(|line| line.contains("decision=\"deny\"")).count(), 2, "{url}");
    }
    assert_eq!(server.accepted(), 0);
    assert_eq!(gate.counts().denied, 14);
    // And normalised forms of what is granted do leave.
    for url in ["https://API.example./a", "HTTPS://api.example:443/a"] {
        assert_eq!(within(gate.send(get(url))).await.unwrap().status, 200, "{url}");
    }
    assert!(seen.lock().unwrap().iter().all(|request| request.contains("\r\nhost: api.example\r\n")));
}

#[tokio::test]
async fn case_28_redirects_are_answers() {
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let (inside, _) = Server::answering(answer("200 OK", "", "inside")).await;
        let location = format!("http://{}/", inside.address);
        let redirect = answer(status, &format!("Location: {location}\r\n"), "");
        let (server, seen) = Server::answering(redirect).await;
        let response = within(Setup::to(&server).gate().send(get("https://api.example/"))).await.unwrap();
        assert_eq!(response.status.to_string(), status[..3]);
        assert!(response.headers.contains(&header("location", &location)), "{response:?}");
        assert_eq!((seen.lock().unwrap().len(), inside.accepted()), (1, 0), "{status}");
    }
}

#[tokio::test]
async fn case_29_what_leaves_is_one_request_in_origin_form() {
    let (server, seen) = Server::answering(answer("204 No Content", "", "")).await;
    let mut request = post("https://api.example//other.example/a?b=c d".replace(' ', "%20").as_str(), "{}");
    request.headers = vec![header("Content-Type", "application/json"), header("X-Reason", "é")];
    within(Setup::to(&server).gate().send(request)).await.unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "POST //other.example/a?b=c%20d HTTP/1.1\r\nhost: api.example\r\ncontent-type: application/json\r\nx-reason: é\r\n\
         accept-encoding: identity\r\nuser-agent: Jackfield/{version}\r\ncontent-length: 2\r\n\r\n{{}}"
    );
    assert_eq!(*seen.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn case_29_answers_that_contradict_themselves_carry_nothing_over() {
    for (head, outcome) in [
        // Two lengths: nobody can say where it ends.
        ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcHTTP", None),
        // Length and chunks: the chunks count (RFC 9112 §6.3), what follows is nobody's.
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 99\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK",
            Some("abc"),
        ),
        // A folded header, and a line break inside one.
        ("HTTP/1.1 200 OK\r\nx-a: b\r\n folded\r\ncontent-length: 0\r\n\r\n", None),
        ("HTTP/1.1 200 OK\r\nlocation: a\rb\r\ncontent-length: 0\r\n\r\n", None),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end", Some("until the end")),
        // Trailers that would be headers.
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-a\r\n\r\n3\r\nabc\r\n0\r\nx-a: b\r\n\r\n",
            Some("abc"),
        ),
        ("not http at all", None),
    ] {
        let (server, _) = Server::answering(head).await;
        let response = within(Setup::to(&server).gate().send(get("https://api.example/"))).await;
        match (&response, outcome) {
            (Ok(response), Some(body)) => {
                assert_eq!(response.body.as_str(), Some(body), "{head}");
                assert!(!response.headers.iter().any(|(name, _)| name == "x-a"), "{head}");
            }
            (Err(Fault::Unknown(_)), None) => {}
            _ => panic!("{head}: {response:?}"),
        }
    }
}

/// Runs in a process of its own: a proxy is a matter of the environment.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "this test is about the environment")]
async fn case_30_proxy_variables_are_ignored() {
    const TARGET: &str = "JACKFIELD_TEST_PROXY_TARGET";
    if let Ok(target) = std::env::var(TARGET) {
        let connect = vec![("https://api.example", target)];
        let response = within(Setup { connect, ..Setup::default() }.gate().send(get("https://api.example/"))).await;
        assert_eq!(response.unwrap().body.as_str(), Some("direct"));
        return;
    }
    let (server, _) = Server::answering(answer("200 OK", "", "direct")).await;
    let (proxy, _) = Server::answering(answer("200 OK", "", "proxied")).await;
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "http::case_30_proxy_variables_are_ignored"]).stdout(Stdio::null());
    child.env(TARGET, format!("http://{}", server.address));
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        child.env(name, format!("http://{}", proxy.address));
    }
    assert!(within(child.status()).await.unwrap().success());
    assert_eq!((server.accepted(), proxy.accepted()), (1, 0));
}

#[tokio::test]
async fn case_32_an_answer_over_the_limit_is_lost() {
    let limited = |server: &Server| Setup::to(server).ceilings(|ceilings| ceilings.response_bytes = 1000).gate();
    let body = "x".repeat(1001);
    let chunked = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3e9\r\n{body}\r\n0\r\n\r\n");
    let endless = "HTTP/1.1 200 OK\r\ncontent-length: 1099511627776\r\n\r\nx".to_owned();
    for head in [answer("200 OK", "", &body), chunked.into_bytes(), endless.into_bytes()] {
        let (server, _) = Server::answering(head).await;
        let fault = within(limited(&server).send(get("https://api.example/"))).await.unwrap_err();
        assert!(matches!(&fault, Fault::Unknown(text) if text.contains("1000")), "{fault:?}");
    }
    let (server, _) = Server::answering(answer("200 OK", "", &body[1..])).await;
    assert_eq!(within(limited(&server).send(get("https://api.example/"))).await.unwrap().body.len(), 1000);
}

#[tokio::test]
async fn case_32_a_compressed_answer_is_lost() {
    for coding in ["gzip", "br", "identity, gzip"] {
        let bomb = answer("200 OK", &format!("content-encoding: {coding}\r\n"), "bomb");
        let (server, seen) = Server::answering(bomb).await;
        let fault = within(Setup::to(&server).gate().send(get("https://api.example/"))).await.unwrap_err();
        assert!(matches!(fault, Fault::Unknown(_)), "{coding}: {fault:?}");
        assert!(seen.lock().unwrap()[0].contains("\r\naccept-encoding: identity\r\n"));
    }
}

#[tokio::test]
async fn case_32_endless_headers_are_cut() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(101));
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(65 * 1024));
    for head in [many, long] {
        let (server, _) = Server::answering(head).await;
        let fault = within(Setup::to(&server).gate().send(get("https://api.example/"))).await.unwrap_err();
        assert!(matches!(fault, Fault::Unknown(_)), "{fault:?}");
    }
    // Without an end at all.
    let server = Server::with(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(b"a: b\r\n").await.is_ok() {}
    })
    .await;
    let fault = within(Setup::to(&server).gate().send(get("https://api.example/"))).await.unwrap_err();
    assert!(matches!(fault, Fault::Unknown(_)), "{fault:?}");
}

#[tokio::test]
async fn case_32_stalls_and_drips_meet_the_deadline() {
    for begin in [&b"HTTP/1.1 100 Continue\r\n\r\n"[..], b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n", b""] {
        let server = Server::with(move |mut stream| async move {
            read_request(&mut stream).await;
            let _ = stream.write_all(begin).await;
            // One byte after the other, never silent for long.
            while !begin.is_empty() && stream.write_all(b"H").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            drain(&mut stream).await;
        })
        .await;
        let mut request = get("https://api.example/");
        request.timeout = Duration::from_millis(300);
        let begun = now();
        let fault = within(Setup::to(&server).gate().send(request)).await.unwrap_err();
        assert!(matches!(fault, Fault::Unknown(_)), "{fault:?}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn case_32_the_operators_ceiling_counts_besides() {
    let server = Server::with(|mut stream| async move {
        drain(&mut stream).await;
    })
    .await;
    let gate = Setup::to(&server).ceilings(|ceilings| ceilings.time = Duration::from_millis(100)).gate();
    let fault = within(gate.send(get("https://api.example/"))).await.unwrap_err();
    assert!(matches!(fault, Fault::Unknown(_)), "{fault:?}");
}

#[tokio::test]
async fn case_33_requests_of_a_connection_take_turns() {
    let gauge = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), Semaphore::new(0)));
    let seen = Arc::clone(&gauge);
    let server = Server::with(move |mut stream| {
        let seen = Arc::clone(&seen);
        async move {
            read_request(&mut stream).await;
            let now = seen.0.fetch_add(1, Ordering::SeqCst) + 1;
            seen.1.fetch_max(now, Ordering::SeqCst);
            seen.2.acquire().await.unwrap().forget();
            seen.0.fetch_sub(1, Ordering::SeqCst);
            let _ = stream.write_all(&answer("200 OK", "", "")).await;
        }
    })
    .await;
    let limited = |requests, waiting| {
        Setup::to(&server).ceilings(|ceilings| (ceilings.requests, ceilings.waiting) = (requests, waiting)).gate()
    };
    let gate = limited(2, 2);
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let gate = gate.clone();
        sent.spawn(async move { gate.send(get("https://api.example/")).await });
    }
    within(async {
        while gauge.0.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(gate.counts().requests, 2);
    // Two are under way and two wait: a fifth is too many, and another connection does not notice.
    let fault = within(gate.send(get("https://api.example/"))).await.unwrap_err();
    assert!(matches!(fault, Fault::Exhausted(_)), "{fault:?}");
    let neighbour = limited(2, 2);
    let other = tokio::spawn(async move { neighbour.send(get("https://api.example/")).await });
    within(async {
        while gauge.0.load(Ordering::SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    gauge.2.add_permits(5);
    assert!(within(other).await.unwrap().is_ok());
    while let Some(done) = within(sent.join_next()).await {
        assert!(done.unwrap().is_ok());
    }
    assert_eq!(gauge.1.load(Ordering::SeqCst), 3, "two of one connection and one of the other");
    assert_eq!(gate.counts().requests, 0);
}

#[tokio::test]
async fn nothing_left_is_unavailable_and_everything_after_is_unknown() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let connect = vec![("https://api.example", format!("http://{closed}"))];
    let gate = Setup { connect, ..Setup::default() }.gate();
    assert_eq!(within(gate.send(get("https://api.example/"))).await, Err(Fault::Unavailable(None)));
    assert_eq!((gate.counts().unavailable, gate.counts().unknown), (1, 0));

    for part in [&b""[..], b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"] {
        let (server, _) = Server::answering(part).await;
        let gate = Setup::to(&server).gate();
        let fault = within(gate.send(post("https://api.example/", "x"))).await.unwrap_err();
        assert!(matches!(fault, Fault::Unknown(_)), "{fault:?}");
        assert_eq!((gate.counts().unavailable, gate.counts().unknown), (0, 1));
    }
}

#[tokio::test]
async fn whoever_stops_waiting_closes_the_connection() {
    let (gone, hears) = tokio::sync::oneshot::channel();
    let gone = Arc::new(std::sync::Mutex::new(Some(gone)));
    let server = Server::with(move |mut stream| {
        let gone = gone.lock().unwrap().take();
        async move {
            read_request(&mut stream).await;
            let read = stream.read(&mut [0; 8]).await;
            let _ = gone.unwrap().send(matches!(read, Ok(0) | Err(_)));
        }
    })
    .await;
    let gate = Setup::to(&server).gate();
    let log = Log::new();
    let waits = tokio::time::timeout(Duration::from_millis(200), gate.send(get("https://api.example/")));
    assert!(waits.await.is_err());
    assert_eq!(within(hears).await, Ok(true));
    let lines = log.audit();
    assert!(lines.len() == 1 && lines[0].contains("nobody waited"), "{lines:?}");
    assert_eq!(gate.counts().unknown, 1);
}

#[tokio::test]
async fn bodies_are_bytes() {
    let body: Vec<u8> = (0..=255).collect();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let (server, _) = Server::answering([head.as_bytes(), &body].concat()).await;
    let response = within(Setup::to(&server).gate().send(get("https://api.example/"))).await.unwrap();
    assert_eq!(response.body, Blob::Binary(body.into()));
}

#[tokio::test]
async fn each_decision_is_a_line_of_the_log() {
    let log = Log::new();
    let (server, _) = Server::answering(answer("201 Created", "", "12345")).await;
    let gate = Setup::to(&server).gate();
    within(gate.send(post("https://api.example/path?query=1", "123"))).await.unwrap();
    let _ = gate.check_http(&get("https://evil.example\u{1b}[31m/\u{202e}"));
    let [allowed, denied] = &log.audit()[..] else { panic!("{:?}", log.audit()) };
    for part in [
        "connection=\"acme-test\"",
        "what=\"POST\"",
        "origin=\"https://api.example\"",
        &format!("address={}", server.address),
        "decision=\"allow\"",
        "status=201",
        "sent=3",
        "received=5",
        "duration_ms=",
    ] {
        assert!(allowed.contains(part), "{part}: {allowed}");
    }
    assert!(!log.text().contains("query=1") && !allowed.contains("/path"), "{}", log.text());
    assert!(denied.contains("decision=\"deny\"") && denied.contains("reason="), "{denied}");
    assert!(!denied.contains(['\u{1b}', '\u{202e}']), "{denied:?}");
}
