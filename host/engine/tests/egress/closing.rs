//! How a socket ends: by the platform's word, by ours, or by none.

use futures::StreamExt as _;
use jackfield_engine::egress::Incoming;
use jackfield_model::session::Cause;
use jackfield_model::{Blob, Fault};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use crate::peer::{CLOSE, TEXT, accept_upgrade, flooding, frame, next, read_frame, writing};
use crate::support::{Server, Setup, now, open, within};

#[tokio::test]
async fn a_close_frame_is_told_and_answered() {
    for (payload, expected) in [
        ([&4004_u16.to_be_bytes()[..], b"Authentication failed."].concat(), (Some(4004), "Authentication failed.")),
        (1000_u16.to_be_bytes().to_vec(), (Some(1000), "")),
        (Vec::new(), (None, "")),
    ] {
        let (tell, mut told) = mpsc::unbounded_channel();
        let close = frame(CLOSE, &payload);
        let server = Server::with(move |mut stream| {
            let (tell, close) = (tell.clone(), close.clone());
            async move {
                accept_upgrade(&mut stream, "").await;
                stream.write_all(&close).await.unwrap();
                while let Ok(frame) = read_frame(&mut stream).await {
                    let _ = tell.send(frame);
                }
            }
        })
        .await;
        let (mut writer, mut reader) = open(&Setup::to(&server).gate()).await;
        let peer = Incoming::Closed(Cause::Peer { code: expected.0, reason: expected.1.to_owned() });
        for _ in 0..2 {
            assert_eq!(next(&mut reader).await, peer);
        }
        assert_eq!(within(told.recv()).await, Some((CLOSE, payload)));
        assert_eq!(within(writer.send(Blob::from("x"), &[])).await, Err(Fault::Unavailable(None)));
    }
}

#[tokio::test]
async fn an_end_without_a_close_frame_is_a_break() {
    let server = Server::with(|mut stream| async move {
        accept_upgrade(&mut stream, "").await;
    })
    .await;
    let (_writer, mut reader) = open(&Setup::to(&server).gate()).await;
    let incoming = next(&mut reader).await;
    assert!(matches!(incoming, Incoming::Closed(Cause::Broken(_))), "{incoming:?}");
}

#[tokio::test]
async fn closing_with_a_code_says_goodbye_and_without_one_does_not() {
    for code in [Some(4000), Some(1000), None] {
        let (tell, mut told) = mpsc::unbounded_channel();
        let server = Server::with(move |mut stream| {
            let tell = tell.clone();
            async move {
                accept_upgrade(&mut stream, "").await;
                // Unread by the other side: closing must not reset the connection before our frame is through.
                stream.write_all(&frame(TEXT, &[b'x'; 60_000])).await.unwrap();
                let first = read_frame(&mut stream).await.ok();
                if first.is_some() {
                    stream.write_all(&frame(CLOSE, &1000_u16.to_be_bytes())).await.unwrap();
                }
                let _ = tell.send(first);
            }
        })
        .await;
        let gate = Setup::to(&server).gate();
        let (mut writer, mut reader) = open(&gate).await;
        let reading = tokio::spawn(async move {
            loop {
                if let closed @ Incoming::Closed(_) = reader.next().await {
                    return closed;
                }
            }
        });
        within(writer.close(code, "moving on")).await.unwrap();
        assert_eq!(within(reading).await.unwrap(), Incoming::Closed(Cause::Ours));
        let expected = code.map(|code| (CLOSE, [&u16::to_be_bytes(code)[..], b"moving on"].concat()));
        assert_eq!(within(told.recv()).await, Some(expected), "{code:?}");
        assert_eq!(gate.counts().sockets, 0);
    }
}

#[tokio::test]
async fn closing_ends_in_time_whoever_is_on_the_other_side() {
    let server = flooding(b"\x81\x01x").await;
    let (mut writer, mut reader) = open(&Setup::to(&server).gate()).await;
    let begun = now();
    within(writer.close(Some(1000), &"é".repeat(200))).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(within(reader.next()).await, Incoming::Closed(Cause::Ours));

    for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000] {
        let server = writing("").await;
        let (mut writer, mut reader) = open(&Setup::to(&server).gate()).await;
        assert!(matches!(within(writer.close(Some(code), "")).await, Err(Fault::Invalid(_))), "{code}");
        assert_eq!(within(reader.next()).await, Incoming::Closed(Cause::Ours));
    }
}

/// The server's own view of a goodbye: what it is sent when both halves are dropped.
#[tokio::test]
async fn dropping_both_halves_says_no_goodbye() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let server = Server::with(move |stream| {
        let tell = tell.clone();
        async move {
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            let ended = socket.next().await;
            let _ = tell.send(matches!(ended, Some(Ok(Message::Close(_)))));
        }
    })
    .await;
    drop(open(&Setup::to(&server).gate()).await);
    assert_eq!(within(told.recv()).await, Some(false));
}
