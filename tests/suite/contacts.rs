//! People: made once, found again, never merged, as the command line shows them.

use jackfield_tests::guest;
use jackfield_tests::platform::{Peer, Platform};
use jackfield_tests::processes::{Home, Serve};
use serde_json::Value;

fn start(platform: &Platform) -> Home {
    Home::new(&platform.config(&guest::SESSION_ECHO.file(&jackfield_tests::scratch()), "", ""))
}

fn serve<'a>(platform: &Platform, home: &'a Home) -> (Serve<'a>, Peer) {
    let host = home.serve();
    let peer = platform.peer();
    assert!(peer.heard().starts_with("hello"));
    (host, peer)
}

/// The contacts of events, in the order of the log.
fn contacts(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["contact"].as_str().unwrap_or("-")).collect()
}

#[test]
fn report_c6_first_messages_side_by_side_make_one_contact() {
    let platform = Platform::start();
    let home = start(&platform);
    let (_host, peer) = serve(&platform, &home);
    for id in 1..=8 {
        peer.say(format!("say lane-{id} {id} by 4711 - Juno"));
    }
    let _acks = peer.hears_many(8);
    let events = home.wait_events(8);
    let contacts = contacts(&events);
    assert!(contacts.iter().all(|contact| *contact == contacts[0] && *contact != "-"), "{contacts:?}");
}

#[test]
fn report_c1_an_address_in_any_writing_is_one_contact() {
    let platform = Platform::start();
    let home = start(&platform);
    let (_host, peer) = serve(&platform, &home);
    for (id, email) in ["juno@example.com", "JUNO@Example.COM", "Juno@example.com"].iter().enumerate() {
        peer.say(format!("say lane {id} by person-{id} {email} Juno"));
    }
    let _acks = peer.hears_many(3);
    let events = home.wait_events(3);
    let contacts = contacts(&events);
    assert!(contacts.iter().all(|contact| *contact == contacts[0] && *contact != "-"), "{contacts:?}");
    let found = home.json(&["contacts", "resolve", "--space", "people", "--email", " JUNO@Example.COM "]);
    assert!(found.to_string().contains(contacts[0]), "{found:#}");
}

/// The name that somebody shows is no identity.
#[test]
fn report_c11_a_name_finds_nobody() {
    let platform = Platform::start();
    let home = start(&platform);
    let (_host, peer) = serve(&platform, &home);
    peer.say("say lane 1 by 1 - juno_example");
    peer.say("say lane 2 by 2 - juno_example");
    let _acks = peer.hears_many(2);
    let events = home.wait_events(2);
    let contacts = contacts(&events);
    assert_ne!(contacts[0], contacts[1]);
}
