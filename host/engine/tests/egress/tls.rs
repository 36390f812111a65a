//! Encrypted connections: who is believed to be whom.

use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use jackfield_engine::egress::{Incoming, Trust};
use jackfield_model::session::Cause;
use jackfield_model::{Blob, Fault};
use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use crate::support::{Server, Setup, answer, gateway, get, open, refusal, within};

/// An authority, and a server certificate of its own for this name.
struct Certified {
    root: CertificateDer<'static>,
    acceptor: TlsAcceptor,
}

fn certified(name: &str) -> Certified {
    let root_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = params.self_signed(&root_key).unwrap().der().clone();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(params, root_key);
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap().der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    Certified { root, acceptor: TlsAcceptor::from(Arc::new(config)) }
}

/// Answers one request over TLS.
async fn answering(acceptor: TlsAcceptor) -> Server {
    Server::with(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let host =
                String::from_utf8(head).unwrap().lines().find(|line| line.starts_with("host")).unwrap().to_owned();
            stream.write_all(&answer("200 OK", "", &host)).await.unwrap();
            let _ = stream.shutdown().await;
        }
    })
    .await
}

fn setup(target: String, roots: Vec<CertificateDer<'static>>) -> Setup {
    let connect =
        vec![("https://api.example", target.clone()), ("wss://gateway.example", target.replace("https", "wss"))];
    Setup { connect, trust: Trust::new(roots).unwrap(), ..Setup::default() }
}

#[tokio::test]
async fn an_added_root_is_trusted_and_the_host_stays_the_granted_one() {
    for name in ["localhost", "127.0.0.1"] {
        let Certified { root, acceptor } = certified(name);
        let server = answering(acceptor).await;
        let gate = setup(format!("https://{name}:{}", server.address.port()), vec![root]).gate();
        // Twice: the second time from a remembered session.
        for _ in 0..2 {
            let response = within(gate.send(get("https://api.example/"))).await.unwrap();
            assert_eq!(response.body.as_str(), Some("host: api.example"));
        }
    }
}

#[tokio::test]
async fn whoever_is_not_certified_is_not_spoken_to() {
    let Certified { root, acceptor } = certified("localhost");
    let Certified { root: stranger, acceptor: wrong_name } = certified("other.example");
    let server = answering(acceptor).await;
    let other = answering(wrong_name).await;
    for (server, roots) in [
        // Unknown authority, another authority, and a certificate for another name.
        (&server, vec![]),
        (&server, vec![stranger.clone()]),
        (&other, vec![stranger]),
    ] {
        let gate = setup(format!("https://localhost:{}", server.address.port()), roots).gate();
        assert_eq!(within(gate.send(get("https://api.example/"))).await, Err(Fault::Unavailable(None)));
        assert_eq!(refusal(&gate, gateway()).await, Cause::Failed(Fault::Unavailable(None)));
        assert_eq!(gate.counts().unknown, 0, "nothing had left");
    }
    // One that speaks no TLS, and says nothing.
    let (plain, _) = Server::answering(answer("200 OK", "", "")).await;
    let setup = setup(format!("https://localhost:{}", plain.address.port()), vec![root]);
    let gate = setup.ceilings(|ceilings| ceilings.connect_time = Duration::from_millis(200)).gate();
    assert_eq!(within(gate.send(get("https://api.example/"))).await, Err(Fault::Unavailable(None)));
}

#[tokio::test]
async fn sockets_are_encrypted_too() {
    let Certified { root, acceptor } = certified("localhost");
    let server = Server::with(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let stream = acceptor.accept(stream).await.unwrap();
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                let _ = socket.send(message).await;
            }
        }
    })
    .await;
    let gate = setup(format!("https://localhost:{}", server.address.port()), vec![root]).gate();
    let (mut writer, mut reader) = open(&gate).await;
    let message = Blob::from("x".repeat(100_000));
    within(writer.send(message.clone(), &[])).await.unwrap();
    let incoming = within(async {
        loop {
            match reader.next().await {
                Incoming::Activity => {}
                incoming => return incoming,
            }
        }
    })
    .await;
    assert_eq!(incoming, Incoming::Message(message));
}

#[test]
fn a_root_that_is_none_is_refused() {
    let error = Trust::new(vec![CertificateDer::from(vec![1, 2, 3])]).err().unwrap();
    assert!(error.to_string().contains("certificate 0"), "{error}");
}
