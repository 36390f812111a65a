//! The other side of a socket, by hand, so that it can break every rule.

use std::sync::Arc;

use jackfield_engine::egress::{Incoming, SocketReader};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::support::{Server, drain, read_request, within};

pub(crate) const TEXT: u8 = 0x81;
pub(crate) const PING: u8 = 0x89;
pub(crate) const CLOSE: u8 = 0x88;

/// A server that upgrades and then writes these bytes.
pub(crate) async fn writing(bytes: impl Into<Vec<u8>>) -> Server {
    let bytes: Arc<[u8]> = bytes.into().into();
    Server::with(move |mut stream| {
        let bytes = Arc::clone(&bytes);
        async move {
            accept_upgrade(&mut stream, "").await;
            let _ = stream.write_all(&bytes).await;
            drain(&mut stream).await;
        }
    })
    .await
}

/// A server that upgrades and then writes these bytes again and again.
pub(crate) async fn flooding(bytes: &'static [u8]) -> Server {
    let many = bytes.repeat(4096);
    Server::with(move |mut stream| {
        let many = many.clone();
        async move {
            accept_upgrade(&mut stream, "").await;
            let (mut reads, mut writes) = stream.split();
            let mut ignored = tokio::io::sink();
            tokio::select! {
                () = async { while writes.write_all(&many).await.is_ok() {} } => {}
                _ = tokio::io::copy(&mut reads, &mut ignored) => {}
            }
        }
    })
    .await
}

/// The next thing that is more than a sign of life.
pub(crate) async fn next(reader: &mut SocketReader) -> Incoming {
    within(async {
        loop {
            match reader.next().await {
                Incoming::Activity => {}
                incoming => return incoming,
            }
        }
    })
    .await
}

/// Reads one masked frame of a client: its first byte, and its payload.
pub(crate) async fn read_frame(stream: &mut TcpStream) -> std::io::Result<(u8, Vec<u8>)> {
    let first = stream.read_u8().await?;
    let length = usize::from(stream.read_u8().await? & 0x7f);
    assert!(length < 126, "the tests send short frames");
    let mut mask = [0; 4];
    stream.read_exact(&mut mask).await?;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await?;
    payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    Ok((first, payload))
}

/// The server's side of an upgrade, by hand, so that what follows can break every rule. Gives the request's head.
pub(crate) async fn accept_upgrade(stream: &mut TcpStream, headers: &str) -> String {
    let request = read_request(stream).await;
    let key = request.lines().find_map(|line| line.strip_prefix("sec-websocket-key: ")).unwrap_or_default();
    let accept = derive_accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
         sec-websocket-accept: {accept}\r\n{headers}\r\n"
    );
    stream.write_all(answer.as_bytes()).await.unwrap();
    request
}

/// A frame as a server sends it: first byte, payload.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        len @ 0..=125 => bytes.push(len as u8),
        len @ 126..=0xffff => {
            bytes.push(126);
            bytes.extend((len as u16).to_be_bytes());
        }
        len => {
            bytes.push(127);
            bytes.extend((len as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}
