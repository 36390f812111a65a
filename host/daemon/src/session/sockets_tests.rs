//! Sockets over loopback. The test plays the loop, which may be late to take in what happened.

use futures::{SinkExt as _, StreamExt as _};
use jackfield_model::clock;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::super::tests::{PATIENCE, gate};
use super::*;

const LABEL: &str = "main";

/// A socket that has opened, the platform's end of it, and the queue that was told so.
async fn opened() -> (Sockets, WebSocketStream<TcpStream>, Queue) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gate = gate(listener.local_addr().unwrap());
    let facts = Arc::new(Facts::new(clock::system()));
    let (mut sockets, mut queue) = (Sockets::new(gate, clock::system(), facts), Queue::default());
    let request = SocketRequest {
        url: "wss://platform.test/".to_owned(),
        headers: Vec::new(),
        secrets: Vec::new(),
        subprotocols: Vec::new(),
        silence: PATIENCE,
        annotations: "{}".to_owned(),
    };
    sockets.open(LABEL.to_owned(), request, &mut queue);
    let (stream, _) = listener.accept().await.unwrap();
    let peer = tokio_tungstenite::accept_async(stream).await.unwrap();
    take(&mut sockets, &mut queue).await;
    assert_eq!(queue.take(), [Signal::Opened(LABEL.to_owned())]);
    (sockets, peer, queue)
}

/// Takes in the next thing that happened.
async fn take(sockets: &mut Sockets, queue: &mut Queue) {
    let news = timeout(PATIENCE, sockets.news()).await.unwrap();
    sockets.take(news, queue).unwrap();
}

async fn until(so: impl Fn() -> bool) {
    let wait = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, wait).await.unwrap();
}

/// The platform closes with a code that means something. Before the loop has taken that in, a call sends a frame.
#[tokio::test]
async fn a_frame_for_a_socket_that_has_just_ended_does_not_hide_why_it_ended() {
    let (mut sockets, mut peer, mut queue) = opened().await;
    let frame = CloseFrame { code: 4004.into(), reason: "who are you".into() };
    peer.send(Message::Close(Some(frame))).await.unwrap();
    until(|| sockets.slots[LABEL].socket.has_ended()).await;
    sockets.send(LABEL, "late".into(), Vec::new(), &mut queue);
    assert!(queue.is_empty(), "{:?}", queue.take());
    take(&mut sockets, &mut queue).await;
    let cause = Cause::Peer { code: Some(4004), reason: "who are you".to_owned() };
    assert_eq!(queue.take(), [Signal::Closed { label: LABEL.to_owned(), cause }]);
}

/// What was received is known before it is taken in, what waits in the reader's hand too.
#[tokio::test]
async fn what_was_received_counts_until_it_is_taken_in() {
    let (mut sockets, mut peer, mut queue) = opened().await;
    assert!(sockets.has_taken(&sockets.received()), "nothing is left");
    for number in 0..2 * NEWS_MAX {
        peer.send(Message::text(number.to_string())).await.unwrap();
    }
    // A full channel and one that waits for room in it, behind `opened`, which was taken in.
    let all = 1 + NEWS_MAX as u64 + 1;
    until(|| sockets.received() == Received(vec![(1, all)])).await;
    let received = sockets.received();
    for _ in 0..=NEWS_MAX {
        assert!(!sockets.has_taken(&received));
        take(&mut sockets, &mut queue).await;
    }
    assert!(sockets.has_taken(&received), "what came later does not count");
    until(|| !sockets.has_taken(&sockets.received())).await;
    let received = sockets.received();
    sockets.close(LABEL, None, String::new(), &mut queue);
    assert!(sockets.has_taken(&received), "what a closed socket had to say was taken back");
    while peer.next().await.is_some_and(|message| message.is_ok()) {}
}
