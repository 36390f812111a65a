//! What leaves, end to end: a canary that no guest ever holds, placeholders that strangers write, places that nobody granted.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jackfield_tests::guest;
use jackfield_tests::platform::{Peer, Platform};
use jackfield_tests::processes::{Home, Serve};

/// The secret. In base64 `c3AzY3JldC1jYW5hcnktNDcxMQ==`, in hex below.
const CANARY: &str = "sp3cret-canary-4711";
const CANARY_BASE64: &str = "c3AzY3JldC1jYW5hcnktNDcxMQ==";
const CANARY_HEX: &str = "737033637265742d63616e6172792d34373131";

/// The secret, granted for the platform's socket and web server.
const SECRET: &str = r#"secrets.canary = { env = "CANARY", to = ["https://echo.test", "wss://echo.test"] }"#;

fn with(more: &str) -> (Platform, Home) {
    let platform = Platform::start();
    let component = guest::SESSION_ECHO.file(&jackfield_tests::scratch());
    let home = Home::new(&platform.config(&component, "", more)).with("CANARY", CANARY);
    (platform, home)
}

fn serve<'a>(platform: &Platform, home: &'a Home) -> (Serve<'a>, Peer) {
    let host = home.serve();
    let peer = platform.peer();
    assert!(peer.heard().starts_with("hello"));
    (host, peer)
}

/// Whatever people and programs can read of this host.
fn shown(home: &Home) -> String {
    let events = serde_json::to_string(&home.events()).unwrap();
    let letters = serde_json::to_string(&home.dead_letters()).unwrap();
    format!("{events}{letters}{}{}", home.status(), home.log())
}

#[test]
fn case_61_a_placeholder_that_somebody_wrote_stays_text() {
    let (platform, home) = with(SECRET);
    let (_host, peer) = serve(&platform, &home);
    peer.say("reply {{secret:canary}} please");
    peer.hears("{{secret:canary}} please");
    peer.say("tell canary as listed: {{secret:canary}}");
    peer.hears(&format!("as listed: {CANARY}"));
    peer.say("say lane 1 {{secret:canary}}");
    peer.hears("ack 1");
    assert_eq!(home.wait_events(1)[0]["properties"]["text"], "{{secret:canary}}");
    // In a body that lists nothing, and in a URL.
    peer.say("post body {\"text\":\"{{secret:canary}}\"}");
    let heard = peer.heard();
    assert!(heard.starts_with("fetched body 200") && heard.contains("{{secret:canary}}"), "{heard}");
    peer.say("fetch url https://echo.test/x?y={{secret:canary}}");
    let heard = peer.heard();
    assert!(!heard.contains(CANARY), "{heard}");
    assert!(platform.requests().iter().all(|request| !request.contains(CANARY)), "{:?}", platform.requests());
}

#[test]
fn case_35_what_echoes_the_secret_is_masked() {
    let (platform, home) = with(SECRET);
    let (_host, peer) = serve(&platform, &home);
    // It leaves for the web server, where it may; what comes back is masked before the guest sees it.
    peer.say("fetch auth canary https://echo.test/whoami");
    let heard = peer.heard();
    assert!(heard.starts_with("fetched auth 200") && heard.contains("[secret:canary]"), "{heard}");
    assert!(platform.requests()[0].contains(CANARY), "{:?}", platform.requests());
    let ways = [CANARY.to_owned(), CANARY_BASE64.to_owned(), CANARY_HEX.to_owned(), format!("before{CANARY}after")];
    for (id, way) in ways.iter().enumerate() {
        peer.say(format!("say lane {id} {way}"));
        peer.hears(&format!("ack {id}"));
        peer.say(format!("log {way}"));
        peer.say(format!("report {way}"));
        peer.say(format!("meta {{\"way\":\"{way}\"}}"));
        peer.say(format!("reply {way}"));
        assert!(!peer.heard().contains(way.as_str()), "the guest never held it");
    }
    peer.say("say lane 9 malformed sp3cret-canary-4711");
    peer.hears("ack 9");
    home.wait_events(ways.len());
    let shown = shown(&home);
    for way in &ways {
        assert!(!shown.contains(way.as_str()), "{way} is shown: {shown}");
    }
    assert!(shown.contains("[secret:canary]"), "and something stands in its place");
}

#[test]
fn case_36_a_secret_goes_only_where_it_may() {
    let (platform, home) = with(SECRET);
    let (_host, peer) = serve(&platform, &home);
    peer.say("fetch auth canary https://plain.test/");
    let heard = peer.heard();
    assert!(heard.starts_with("failed auth denied"), "{heard}");
    peer.say("fetch auth other https://echo.test/");
    let heard = peer.heard();
    assert!(heard.starts_with("failed auth denied") || heard.starts_with("failed auth invalid"), "{heard}");
    assert!(platform.requests().is_empty());
    peer.say("fetch plain https://plain.test/");
    let heard = peer.heard();
    assert!(heard.starts_with("fetched plain 200"), "{heard}");
    assert!(home.log().contains("denied"), "a refusal is logged");
}

#[test]
fn case_25_places_that_nobody_granted() {
    let (platform, home) = with("");
    let (_host, peer) = serve(&platform, &home);
    for url in [
        "https://other.test/",
        "https://echo.test.evil.test/",
        "https://echo.test@evil.test/",
        "https://evil.echo.test/",
        "https://echo.test:8443/",
        "http://echo.test/",
        "https://127.0.0.1/",
        "https://0x7f000001/",
        "https://[::1]/",
        "https://eсho.test/",
    ] {
        peer.say(format!("fetch f {url}"));
        let heard = peer.heard();
        assert!(heard.starts_with("failed f denied") || heard.starts_with("failed f invalid"), "{url}: {heard}");
    }
    for url in ["wss://other.test/", "ws://echo.test/", "wss://echo.test:444/"] {
        peer.say(format!("open o {url}"));
        let heard = peer.heard();
        assert!(heard.starts_with("failed o denied") || heard.starts_with("failed o invalid"), "{url}: {heard}");
    }
    // The same place in other words is the same place.
    peer.say("fetch f HTTPS://ECHO.TEST:443/x");
    assert!(peer.heard().starts_with("fetched f 200"));
    assert_eq!(platform.requests().len(), 1);
}

#[test]
fn case_30_proxies_of_the_environment_are_ignored() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let knocks = Arc::new(AtomicUsize::new(0));
    let counted = knocks.clone();
    std::thread::spawn(move || {
        for stream in proxy.incoming().flatten() {
            counted.fetch_add(1, Ordering::Relaxed);
            let _ = { stream }.read(&mut [0; 1]);
        }
    });
    let (platform, mut home) = with("");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        home.set(name, &address);
    }
    let (_host, peer) = serve(&platform, &home);
    peer.say("fetch f https://echo.test/");
    assert!(peer.heard().starts_with("fetched f 200"));
    assert_eq!(knocks.load(Ordering::Relaxed), 0);
}
