//! Names and the addresses behind them: cases 26 and 27.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use jackfield_engine::egress::{ResolveError, Resolver};
use jackfield_model::Fault;
use jackfield_model::session::Cause;

use crate::support::{Log, Names, Server, Setup, answer, gateway, get, refusal, within};

/// Public as far as the tables go. Assigned to multicast tunnels (RFC 7450): nobody serves anything there.
const PUBLIC: &str = "192.52.193.1";

async fn resolving_to(answers: &[&[&str]]) -> (Fault, Arc<Names>, Log) {
    let log = Log::new();
    let names = Names::new(answers);
    let setup =
        Setup { resolver: Arc::<Names>::clone(&names), grants: vec!["https://api.example:9"], ..Setup::default() };
    let gate = setup.ceilings(|ceilings| ceilings.connect_time = Duration::from_millis(200)).gate();
    let fault = within(gate.send(get("https://api.example:9/"))).await.unwrap_err();
    (fault, names, log)
}

#[tokio::test]
async fn case_26_names_that_lead_inside_are_denied_before_connecting() {
    for (address, kind) in [
        ("169.254.169.254", "cloud metadata"),
        ("fd00:ec2::254", "cloud metadata"),
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("10.1.2.3", "private"),
        ("100.64.0.1", "carrier-grade NAT"),
        ("fe80::1", "link-local"),
        ("::ffff:127.0.0.1", "IPv4-mapped"),
        ("64:ff9b::a00:1", "private"),
        ("0.0.0.0", "this network"),
    ] {
        let (fault, _, log) = resolving_to(&[&[address]]).await;
        assert!(matches!(&fault, Fault::Denied(text) if !text.contains(address)), "{address}: {fault:?}");
        let lines = log.audit();
        assert!(lines.len() == 1 && lines[0].contains(kind) && lines[0].contains("deny"), "{address}: {lines:?}");
        assert!(!lines[0].contains("address="), "nothing was dialled: {lines:?}");
    }
}

#[tokio::test]
async fn case_26_a_granted_address_inside_is_denied() {
    let (server, seen) = Server::answering(answer("200 OK", "", "inside")).await;
    let port = server.address.port();
    for host in ["127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let url = format!("https://{host}:{port}");
        let setup = Setup { grants: vec![url.clone().leak()], ..Setup::default() };
        let fault = within(setup.gate().send(get(&url))).await.unwrap_err();
        assert!(matches!(fault, Fault::Denied(_)), "{host}: {fault:?}");
    }
    assert!(seen.lock().unwrap().is_empty() && server.accepted() == 0);
}

#[tokio::test]
async fn case_27_one_forbidden_address_spoils_the_set() {
    for set in [&[PUBLIC, "127.0.0.1"][..], &["10.0.0.1", PUBLIC], &[PUBLIC, "2606:4700::1", "fd00::1"]] {
        let (fault, _, _) = resolving_to(&[set]).await;
        assert!(matches!(fault, Fault::Denied(_)), "{set:?}: {fault:?}");
    }
}

#[tokio::test]
async fn case_27_a_name_is_resolved_once_and_the_judged_address_dialled() {
    // Whoever asks twice is led to loopback the second time.
    let (fault, names, log) = resolving_to(&[&[PUBLIC], &["127.0.0.1"]]).await;
    assert_eq!(fault, Fault::Unavailable(None));
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    let lines = log.audit();
    assert!(lines.len() == 1 && lines[0].contains("192.52.193.1:9"), "{lines:?}");
}

#[tokio::test]
async fn case_27_each_request_judges_again() {
    let names = Names::new(&[&[PUBLIC], &["127.0.0.1"]]);
    let setup =
        Setup { resolver: Arc::<Names>::clone(&names), grants: vec!["https://api.example:9"], ..Setup::default() };
    let gate = setup.ceilings(|ceilings| ceilings.connect_time = Duration::from_millis(200)).gate();
    assert_eq!(within(gate.send(get("https://api.example:9/"))).await, Err(Fault::Unavailable(None)));
    assert!(matches!(within(gate.send(get("https://api.example:9/"))).await, Err(Fault::Denied(_))));
}

struct Stalling;

#[async_trait]
impl Resolver for Stalling {
    async fn lookup(&self, _: &str) -> Result<Vec<IpAddr>, ResolveError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn case_27_a_stalling_resolver_meets_a_deadline() {
    let stalling = || Setup { resolver: Arc::new(Stalling), ..Setup::default() };
    let gate = stalling().ceilings(|ceilings| ceilings.resolve_time = Duration::from_millis(100)).gate();
    assert_eq!(within(gate.send(get("https://api.example/"))).await, Err(Fault::Unavailable(None)));
    assert_eq!(refusal(&gate, gateway()).await, Cause::Failed(Fault::Unavailable(None)));
    // The request's own time counts too.
    let mut request = get("https://api.example/");
    request.timeout = Duration::from_millis(100);
    assert_eq!(within(stalling().gate().send(request)).await, Err(Fault::Unavailable(None)));
}

#[tokio::test]
async fn case_27_a_name_without_addresses_is_unavailable() {
    for answers in [&[][..], &[&[][..]]] {
        let (fault, _, _) = resolving_to(answers).await;
        assert_eq!(fault, Fault::Unavailable(None));
    }
}

#[tokio::test]
async fn connect_reaches_loopback_and_asks_no_name_server_for_localhost() {
    let (server, seen) = Server::answering(answer("200 OK", "", "mapped")).await;
    let port = server.address.port();
    let connect = vec![("https://api.example", format!("http://localhost:{port}"))];
    let response =
        within(Setup { connect, ..Setup::default() }.gate().send(get("https://api.example/x"))).await.unwrap();
    assert_eq!(response.body.as_str(), Some("mapped"));
    assert!(seen.lock().unwrap()[0].contains("\r\nhost: api.example\r\n"));
}

#[tokio::test]
async fn connect_takes_the_most_exact_origin() {
    let (near, _) = Server::answering(answer("200 OK", "", "near")).await;
    let (far, _) = Server::answering(answer("200 OK", "", "far")).await;
    let setup = || Setup {
        grants: vec!["https://*.api.example"],
        connect: vec![
            ("https://*.us.api.example", format!("http://{}", near.address)),
            ("https://*.api.example", format!("http://{}", far.address)),
        ],
        ..Setup::default()
    };
    for (url, body) in [("https://a.us.api.example/", "near"), ("https://us.api.example/", "far")] {
        assert_eq!(within(setup().gate().send(get(url))).await.unwrap().body.as_str(), Some(body), "{url}");
    }
}
