//! What a test does to a running double, as the client sees it.

use std::time::Duration;

use jackfield_testkit::discord::{Closer, Double, Event};
use serde_json::json;

use super::client::{Client, Heard, INTENTS, PATIENCE, silent};

async fn closed(double: &Double) -> (Closer, Option<u16>) {
    double.log().wait_for(|record| record.counts().open == 0, PATIENCE).await.unwrap();
    let closed = double.log().snapshot().into_iter().rev().find_map(|entry| match entry.event {
        Event::ConnectionClosed { by, code, .. } => Some((by, code)),
        _ => None,
    });
    closed.unwrap()
}

#[tokio::test]
async fn every_close_code_arrives_and_does_what_it_says_to_the_session() {
    let fatal = [4003, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014];
    let kept = [1000, 1001, 1011, 4000, 4001, 4002, 4005, 4008, 4999];
    for (codes, survives) in [(fatal, false), (kept, true)] {
        for code in codes {
            let double = silent().await;
            let (mut client, ready) = Client::ready(&double, INTENTS).await;
            double.close_all(code);
            assert_eq!(client.end().await, Heard::Closed(code));
            let mut again = Client::resume(&double, &ready["session_id"], client.seq).await;
            let answer = again.frame().await;
            assert_eq!(answer["t"] == "RESUMED", survives, "{code}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_drop_has_no_close_frame() {
    let double = silent().await;
    let (mut client, _) = Client::ready(&double, INTENTS).await;
    double.drop_all();
    assert_eq!(client.end().await, Heard::Gone);
    assert_eq!(closed(&double).await, (Closer::Double, None));
}

#[tokio::test]
async fn a_client_that_vanishes_is_logged_as_such() {
    let double = silent().await;
    let (client, _) = Client::ready(&double, INTENTS).await;
    drop(client);
    assert_eq!(closed(&double).await, (Closer::Transport, None));
}

#[tokio::test]
async fn opcode_7_is_followed_by_a_close_if_the_client_stays() {
    let double = silent().await;
    let (mut client, ready) = Client::ready(&double, INTENTS).await;
    double.reconnect_all();
    assert_eq!(client.frame().await["op"], 7);
    assert_eq!(client.end().await, Heard::Closed(4000));
    let mut again = Client::resume(&double, &ready["session_id"], client.seq).await;
    again.dispatch("RESUMED").await;
}

#[tokio::test]
async fn opcode_9_says_whether_to_resume() {
    for resumable in [true, false] {
        let double = silent().await;
        let (mut client, ready) = Client::ready(&double, INTENTS).await;
        double.invalidate(resumable);
        let frame = client.frame().await;
        assert_eq!((&frame["op"], &frame["d"]), (&json!(9), &json!(resumable)));
        let mut again = Client::resume(&double, &ready["session_id"], client.seq).await;
        assert_eq!(again.frame().await["t"] == "RESUMED", resumable);
        client.identify(INTENTS).await;
        client.dispatch("READY").await;
    }
}

#[tokio::test]
async fn a_heartbeat_can_be_asked_for() {
    let double = silent().await;
    let mut client = Client::connect(&double).await;
    double.request_heartbeats();
    assert_eq!(client.frame().await["op"], 1);
}

#[tokio::test]
async fn acks_are_withheld_and_then_come_again() {
    let double = silent().await;
    let mut client = Client::connect(&double).await;
    double.withhold_acks(2);
    for _ in 0..3 {
        client.say(&json!({ "op": 1, "d": null })).await;
    }
    assert_eq!(client.frame().await["op"], 11);
    let counts = double.log().counts();
    assert_eq!((counts.heartbeats, counts.acks), (3, 1));
}

#[tokio::test]
async fn a_slow_close_neither_reads_nor_writes_before() {
    let double = silent().await;
    let (mut client, ready) = Client::ready(&double, INTENTS).await;
    let stall = Duration::from_millis(300);
    double.slow_close_all(stall, 4000);
    double.post_many(3).await;
    client.say(&json!({ "op": 1, "d": null })).await;
    assert_eq!(client.next().await, Heard::Closed(4000), "no message, no acknowledgement");
    let mut again = Client::resume(&double, &ready["session_id"], client.seq).await;
    assert_eq!(again.numbered_until("RESUMED").await.len(), 4);
}

#[tokio::test]
async fn upgrades_are_refused_so_many_times() {
    let double = silent().await;
    double.refuse_upgrades(503, 2);
    let url = format!("{}/?v=10&encoding=json", double.gateway_url());
    for _ in 0..2 {
        let refused = Client::open_as(&double, &url).await.err().unwrap().to_string();
        assert!(refused.contains("503"), "{refused}");
    }
    Client::connect(&double).await;
    let counts = double.log().counts();
    assert_eq!((counts.upgrades_refused, counts.connections), (2, 1));
}

#[tokio::test]
async fn hello_can_be_late() {
    let double = silent().await;
    double.delay_hello(Duration::from_millis(200), 1);
    let (mut client, _) = Client::open(&double, "/?v=10&encoding=json").await;
    // A heartbeat is answered before, so the Hello is late and not lost.
    client.say(&json!({ "op": 1, "d": null })).await;
    assert_eq!(client.frame().await["op"], 11);
    assert_eq!(client.frame().await["op"], 10);
}

#[tokio::test]
async fn a_frame_can_be_too_large() {
    let double = silent().await;
    let (mut client, _) = Client::ready(&double, INTENTS).await;
    double.oversized_frame(5 * 1024 * 1024);
    let chunk = client.dispatch("GUILD_MEMBERS_CHUNK").await;
    assert!(chunk.to_string().len() > 5 * 1024 * 1024);
}

#[tokio::test]
async fn a_stalled_client_does_not_keep_the_double_from_dropping_it() {
    let double = silent().await;
    let (_client, _) = Client::ready(&double, INTENTS).await;
    double.oversized_frame(64 * 1024 * 1024);
    double.drop_all();
    assert_eq!(closed(&double).await, (Closer::Double, None));
}

#[tokio::test]
async fn stopping_ends_every_connection_and_frees_the_port() {
    let double = silent().await;
    let (mut client, _) = Client::ready(&double, INTENTS).await;
    let (address, log) = (double.origin_http(), double.log());
    double.stop().await;
    assert_eq!(client.end().await, Heard::Gone);
    assert_eq!(log.counts().open, 0);
    let address = address.strip_prefix("http://").unwrap();
    tokio::net::TcpListener::bind(address).await.unwrap();
}
