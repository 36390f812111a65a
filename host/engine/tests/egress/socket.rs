//! Sockets: cases 31, 33 and 34.

use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use jackfield_engine::egress::{Incoming, Policy};
use jackfield_model::session::Cause;
use jackfield_model::{Blob, Fault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

use crate::peer::{CLOSE, PING, TEXT, accept_upgrade, flooding, frame, next, read_frame, writing};
use crate::support::{Log, Server, Setup, answer, drain, gateway, header, now, open, read_request, refusal, within};

fn small_frames(setup: Setup) -> Setup {
    setup.ceilings(|ceilings| ceilings.frame_bytes = 1000)
}

#[tokio::test]
async fn messages_go_both_ways() {
    let server = Server::with(|stream| async move {
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            let _ = socket.send(message).await;
        }
    })
    .await;
    let gate = Setup::to(&server).gate();
    let (mut writer, mut reader) = open(&gate).await;
    let messages =
        [Blob::from("text é"), Blob::Binary(vec![0xff, 0].into()), Blob::from(""), Blob::from("x".repeat(300_000))];
    for message in messages {
        within(writer.send(message.clone(), &[])).await.unwrap();
        assert_eq!(next(&mut reader).await, Incoming::Message(message));
    }
    assert_eq!((gate.counts().sockets, gate.counts().received), (1, 300_000 + 7 + 2));
    drop((writer, reader));
    assert_eq!(gate.counts().sockets, 0);
}

#[tokio::test]
async fn case_31_the_upgrade_is_what_was_checked() {
    let (tell, hears) = oneshot::channel();
    let tell = Arc::new(std::sync::Mutex::new(Some(tell)));
    let server = Server::with(move |mut stream| {
        let tell = tell.lock().unwrap().take();
        async move {
            let request = accept_upgrade(&mut stream, "sec-websocket-protocol: v2\r\n").await;
            let _ = tell.unwrap().send(request);
            drain(&mut stream).await;
        }
    })
    .await;
    let gate = Setup::to(&server).gate();
    let mut request = gateway();
    request.headers = vec![header("X-Reason", "test")];
    request.subprotocols = vec!["v1".to_owned(), "v2".to_owned()];
    let _socket = within(gate.open(request)).await.map_err(|cause| format!("{cause:?}")).unwrap();
    let request = within(hears).await.unwrap();
    let (head, key) = request.split_once("sec-websocket-key: ").unwrap();
    assert_eq!(
        head,
        format!(
            "GET /?v=10 HTTP/1.1\r\nhost: gateway.example\r\nx-reason: test\r\naccept-encoding: identity\r\n\
             user-agent: Jackfield/{}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n",
            env!("CARGO_PKG_VERSION")
        )
    );
    assert_eq!(&key[24..], "\r\nsec-websocket-protocol: v1, v2\r\n\r\n");
}

#[tokio::test]
async fn case_31_an_upgrade_to_elsewhere_is_denied() {
    let server = writing("").await;
    let gate = Setup::to(&server).gate();
    for url in [
        "wss://evil.example/",
        "wss://gateway.example.evil.example/",
        "wss://gateway.example:8443/",
        "wss://169.254.169.254/",
        "wss://api.example/",
    ] {
        let mut request = gateway();
        request.url = url.to_owned();
        assert!(matches!(gate.check_socket(&request), Err(Fault::Denied(_))), "{url}");
        let cause = refusal(&gate, request).await;
        assert!(matches!(cause, Cause::Failed(Fault::Denied(_))), "{url}: {cause:?}");
    }
    for url in ["ws://gateway.example/", "https://gateway.example/"] {
        let mut request = gateway();
        request.url = url.to_owned();
        assert!(matches!(refusal(&gate, request).await, Cause::Failed(Fault::Invalid(_))), "{url}");
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn case_31_a_refused_upgrade_tells_why() {
    for status in ["302 Found", "401 Unauthorized", "429 Too Many Requests", "200 OK", "503 Unavailable"] {
        let refused = answer(status, "Retry-After: 7\r\nLocation: wss://evil.example\r\n", "because");
        let (server, seen) = Server::answering(refused).await;
        let cause = refusal(&Setup::to(&server).gate(), gateway()).await;
        let Cause::Refused(response) = cause else { panic!("{status}: {cause:?}") };
        assert_eq!(response.status.to_string(), status[..3]);
        assert_eq!(response.body.as_str(), Some("because"));
        assert!(response.headers.contains(&header("retry-after", "7")), "{response:?}");
        assert_eq!(seen.lock().unwrap().len(), 1);
    }
    // A body over the limit is left out, the rest is told.
    let (server, _) = Server::answering(answer("400 Bad Request", "", &"x".repeat(64 * 1024 + 1))).await;
    let cause = refusal(&Setup::to(&server).gate(), gateway()).await;
    let Cause::Refused(response) = cause else { panic!("{cause:?}") };
    assert_eq!((response.status, response.body.len()), (400, 0));
}

#[tokio::test]
async fn case_31_a_wrong_agreement_is_none() {
    for (first, lines) in [
        ("101 Switching Protocols", "upgrade: websocket\r\nconnection: Upgrade\r\n"),
        ("101 Switching Protocols", "upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: wrong\r\n"),
        ("101 Switching Protocols", "upgrade: h2c\r\nconnection: Upgrade\r\n"),
    ] {
        let (server, _) = Server::answering(format!("HTTP/1.1 {first}\r\n{lines}\r\n")).await;
        let cause = refusal(&Setup::to(&server).gate(), gateway()).await;
        assert_eq!(cause, Cause::Failed(Fault::Unavailable(None)), "{lines}");
    }
    for lines in ["sec-websocket-extensions: permessage-deflate\r\n", "sec-websocket-protocol: v3\r\n"] {
        let server = Server::with(move |mut stream| async move {
            accept_upgrade(&mut stream, lines).await;
            drain(&mut stream).await;
        })
        .await;
        let cause = refusal(&Setup::to(&server).gate(), gateway()).await;
        assert_eq!(cause, Cause::Failed(Fault::Unavailable(None)), "{lines}");
    }
}

#[tokio::test]
async fn case_31_an_upgrade_that_stalls_meets_the_deadline() {
    let server = Server::with(|mut stream| async move {
        read_request(&mut stream).await;
        drain(&mut stream).await;
    })
    .await;
    let gate = Setup::to(&server).ceilings(|ceilings| ceilings.open_time = Duration::from_millis(200)).gate();
    assert_eq!(refusal(&gate, gateway()).await, Cause::Failed(Fault::Unavailable(None)));
    assert_eq!(gate.counts().sockets, 0);
}

#[tokio::test]
async fn case_31_a_message_over_the_limit_ends_the_socket_by_name() {
    let gigabyte = [&[0x82, 127][..], &(1_u64 << 30).to_be_bytes(), &[0; 64]].concat();
    // Refused by what it announces, before it comes.
    let announced = [&[0x82, 126][..], &1001_u16.to_be_bytes(), &[0; 64]].concat();
    let fragments = [frame(0x01, &[b'x'; 600]), frame(0x80, &[b'x'; 401])].concat();
    for bytes in [frame(TEXT, &[b'x'; 1001]), gigabyte, announced, fragments] {
        let log = Log::new();
        let server = writing(bytes).await;
        let gate = small_frames(Setup::to(&server)).gate();
        let (mut writer, mut reader) = open(&gate).await;
        for _ in 0..2 {
            assert_eq!(next(&mut reader).await, Incoming::TooLarge { limit: "frame" });
        }
        assert_eq!(within(writer.send(Blob::from("x"), &[])).await, Err(Fault::Unavailable(None)));
        assert!(log.audit().iter().any(|line| line.contains("over the limit `frame`")), "{}", log.text());
        assert_eq!(gate.counts().sockets, 0);
    }
    // Exactly the limit, whole and in parts.
    let bytes = [frame(TEXT, &[b'x'; 1000]), frame(0x01, &[b'y'; 600]), frame(0x80, &[b'y'; 400])].concat();
    let server = writing(bytes).await;
    let (_writer, mut reader) = open(&small_frames(Setup::to(&server)).gate()).await;
    for letter in ["x", "y"] {
        assert_eq!(next(&mut reader).await, Incoming::Message(Blob::from(letter.repeat(1000))));
    }
}

#[tokio::test]
async fn case_31_fragments_without_end_are_cut() {
    // A message of a million fragments is one, as long as it ends and fits.
    let many = [frame(0x02, b"a"), frame(0x00, b"b").repeat(999_998), frame(0x80, b"c")].concat();
    let server = writing(many).await;
    let (_writer, mut reader) = open(&Setup::to(&server).gate()).await;
    let Incoming::Message(message) = next(&mut reader).await else { panic!("no message") };
    assert_eq!(message.len(), 1_000_000);

    // Empty ones never reach the limit of a message, and never end.
    let server = flooding(&[0x00, 0x00]).await;
    let begin = Server::with(move |mut stream| {
        let flood = server.address;
        async move {
            // What the flood writes, behind the beginning of a message.
            accept_upgrade(&mut stream, "").await;
            stream.write_all(&frame(0x01, b"a")).await.unwrap();
            let mut source = TcpStream::connect(flood).await.unwrap();
            let request = "GET / HTTP/1.1\r\nsec-websocket-key: x\r\n\r\n";
            source.write_all(request.as_bytes()).await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(source.read_u8().await.unwrap());
            }
            let _ = tokio::io::copy(&mut source, &mut stream).await;
        }
    })
    .await;
    let (_writer, mut reader) = open(&small_frames(Setup::to(&begin)).gate()).await;
    let incoming = next(&mut reader).await;
    assert!(matches!(&incoming, Incoming::Closed(Cause::Broken(why)) if why.contains("fragments")), "{incoming:?}");
}

#[tokio::test]
async fn case_31_compressed_frames_are_a_breach() {
    // RSV1 says deflate, which nobody agreed to.
    let server = writing(frame(0xc1, b"bomb")).await;
    let (_writer, mut reader) = open(&Setup::to(&server).gate()).await;
    let incoming = next(&mut reader).await;
    assert!(matches!(incoming, Incoming::Closed(Cause::Broken(_))), "{incoming:?}");
}

#[tokio::test]
async fn case_31_other_breaches_end_the_socket() {
    for bytes in [
        frame(TEXT, b"\xff\xfe"),
        frame(0x80, b"nothing to continue"),
        frame(0x83, b"reserved"),
        frame(PING, &[0; 126]),
        [&[TEXT, 0x81][..], &[1, 2, 3, 4], b"a"].concat(),
        frame(CLOSE, &[1]),
    ] {
        let server = writing(bytes.clone()).await;
        let (_writer, mut reader) = open(&Setup::to(&server).gate()).await;
        let incoming = next(&mut reader).await;
        assert!(matches!(incoming, Incoming::Closed(Cause::Broken(_))), "{bytes:?}: {incoming:?}");
    }
}

#[tokio::test]
async fn case_31_a_flood_of_pings_ends_the_socket() {
    for flood in [&[PING, 0x00][..], &[0x8a, 0x00]] {
        let server = flooding(flood.to_vec().leak()).await;
        let (_writer, mut reader) = open(&Setup::to(&server).gate()).await;
        let incoming = next(&mut reader).await;
        assert!(matches!(&incoming, Incoming::Closed(Cause::Broken(why)) if why.contains("control")), "{incoming:?}");
    }
}

#[tokio::test]
async fn case_31_pings_are_answered_though_nobody_sends() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let server = Server::with(move |mut stream| {
        let tell = tell.clone();
        async move {
            accept_upgrade(&mut stream, "").await;
            stream.write_all(&frame(PING, b"are you there")).await.unwrap();
            while let Ok(frame) = read_frame(&mut stream).await {
                let _ = tell.send(frame);
            }
        }
    })
    .await;
    let (mut writer, mut reader) = open(&Setup::to(&server).gate()).await;
    // One call is enough: the answer does not wait for the next.
    assert_eq!(within(reader.next()).await, Incoming::Activity);
    assert_eq!(within(told.recv()).await, Some((0x8a, b"are you there".to_vec())));
    // And we can ask as well.
    within(writer.ping()).await.unwrap();
    assert_eq!(within(told.recv()).await, Some((PING, Vec::new())));
}

#[tokio::test]
async fn case_31_a_peer_that_says_nothing_causes_no_activity() {
    let server = writing("").await;
    let (mut writer, mut reader) = open(&Setup::to(&server).gate()).await;
    within(writer.ping()).await.unwrap();
    // No pong: whoever keeps the time hears nothing, and knows.
    assert!(tokio::time::timeout(Duration::from_millis(200), reader.next()).await.is_err());
}

#[tokio::test]
async fn a_message_in_pieces_is_activity_before_it_is_whole() {
    let (release, released) = oneshot::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(Some(released)));
    let server = Server::with(move |mut stream| {
        let released = released.lock().unwrap().take();
        async move {
            accept_upgrade(&mut stream, "").await;
            let whole = frame(TEXT, b"in pieces");
            stream.write_all(&whole[..4]).await.unwrap();
            let _ = released.unwrap().await;
            stream.write_all(&whole[4..]).await.unwrap();
            drain(&mut stream).await;
        }
    })
    .await;
    let (_writer, mut reader) = open(&Setup::to(&server).gate()).await;
    assert_eq!(within(reader.next()).await, Incoming::Activity);
    release.send(()).unwrap();
    assert_eq!(next(&mut reader).await, Incoming::Message(Blob::from("in pieces")));
}

#[tokio::test]
async fn case_33_sockets_are_counted_and_a_slow_reader_is_given_up() {
    let server = Server::with(|mut stream| async move {
        accept_upgrade(&mut stream, "").await;
        std::future::pending::<()>().await;
    })
    .await;
    let setup = Setup::to(&server)
        .ceilings(|ceilings| (ceilings.sockets, ceilings.write_time) = (2, Duration::from_millis(300)));
    let gate = setup.gate();
    let (first, second) = (open(&gate).await, open(&gate).await);
    let cause = refusal(&gate, gateway()).await;
    assert!(matches!(cause, Cause::Failed(Fault::Exhausted(_))), "{cause:?}");
    drop(first);
    let _third = open(&gate).await;

    let (mut writer, mut reader) = second;
    let message = Blob::from("x".repeat(4_000_000));
    let fault = within(async {
        loop {
            if let Err(fault) = writer.send(message.clone(), &[]).await {
                return fault;
            }
        }
    })
    .await;
    assert!(matches!(fault, Fault::Unknown(_)), "{fault:?}");
    let incoming = next(&mut reader).await;
    assert!(matches!(incoming, Incoming::Closed(Cause::Broken(_))), "{incoming:?}");
}

#[tokio::test]
async fn case_34_a_revoked_grant_drops_the_socket() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let server = Server::with(move |mut stream| {
        let tell = tell.clone();
        async move {
            accept_upgrade(&mut stream, "").await;
            let _ = tell.send(drain(&mut stream).await);
        }
    })
    .await;
    let setup = Setup::to(&server);
    let policy = setup.policy();
    let gate = setup.gate();
    let (mut writer, mut reader) = open(&gate).await;
    // Granted as before: nothing happens.
    gate.regrant(policy);
    within(writer.ping()).await.unwrap();

    let begun = now();
    let reading = tokio::spawn(async move { next(&mut reader).await });
    gate.regrant(Policy::default());
    let incoming = within(reading).await.unwrap();
    assert!(matches!(incoming, Incoming::Closed(Cause::Failed(Fault::Denied(_)))), "{incoming:?}");
    let heard = within(told.recv()).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1));
    // The ping, and no close frame behind it.
    assert_eq!((heard.len(), heard[0]), (6, PING));
    assert_eq!(within(writer.send(Blob::from("x"), &[])).await, Err(Fault::Unavailable(None)));
    let cause = refusal(&gate, gateway()).await;
    assert!(matches!(cause, Cause::Failed(Fault::Denied(_))), "{cause:?}");
}

#[tokio::test]
async fn case_34_all_sockets_can_be_dropped_without_a_runtime() {
    let server = writing("").await;
    let gate = Setup::to(&server).gate();
    let (_writer, mut reader) = open(&gate).await;
    let reading = tokio::spawn(async move { next(&mut reader).await });
    std::thread::spawn(move || gate.drop_sockets("the lease is lost")).join().unwrap();
    let incoming = within(reading).await.unwrap();
    assert_eq!(incoming, Incoming::Closed(Cause::Broken("the lease is lost".to_owned())));
}
