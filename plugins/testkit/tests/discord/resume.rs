//! Sessions outlive sockets: what is replayed, under which numbers, and when no more.

use jackfield_testkit::discord::{Closer, Double, Event, Script};
use serde_json::{Value, json};

use super::client::{Client, Heard, INTENTS, PATIENCE, silent, start};

/// What READY and one GUILD_CREATE leave behind.
const FIRST_MESSAGE: u64 = 3;

async fn invalid(client: &mut Client) {
    let frame = client.frame().await;
    assert_eq!((&frame["op"], &frame["d"]), (&json!(9), &json!(false)), "{frame}");
}

fn messages(numbers: impl IntoIterator<Item = u64>, resumed: u64) -> Vec<(u64, String)> {
    let numbers = numbers.into_iter().map(|seq| (seq, "MESSAGE_CREATE".to_owned()));
    numbers.chain([(resumed, "RESUMED".to_owned())]).collect()
}

/// A client that heard five messages, three of which it took note of, and lost its socket; then two more were written.
async fn interrupted(double: &Double) -> (Value, u64) {
    let (mut client, ready) = Client::ready(double, INTENTS).await;
    double.post_many(5).await;
    for _ in 0..3 {
        client.dispatch("MESSAGE_CREATE").await;
    }
    double.log().wait_for(|record| record.counts().sent == 7, PATIENCE).await.unwrap();
    double.drop_all();
    double.log().wait_for(|record| record.counts().open == 0, PATIENCE).await.unwrap();
    double.post_many(2).await;
    (ready["session_id"].clone(), client.seq)
}

#[tokio::test]
async fn a_resume_replays_what_was_missed_under_the_original_numbers() {
    let double = silent().await;
    let (session, seq) = interrupted(&double).await;
    assert_eq!(seq, FIRST_MESSAGE + 2);
    let mut client = Client::resume(&double, &session, seq).await;
    assert_eq!(client.numbered_until("RESUMED").await, messages(6..=9, 10));
    double.post_many(1).await;
    client.dispatch("MESSAGE_CREATE").await;
    assert_eq!(client.seq, 11, "RESUMED has a number too");
    let counts = double.log().counts();
    assert_eq!((counts.identifies, counts.resumed, counts.replayed), (1, 1, 2));
}

#[tokio::test]
async fn a_second_resume_starts_where_the_client_says() {
    let double = silent().await;
    let (session, seq) = interrupted(&double).await;
    let mut client = Client::resume(&double, &session, seq).await;
    client.numbered_until("RESUMED").await;
    drop(client);
    let mut client = Client::resume(&double, &session, seq + 1).await;
    assert_eq!(client.numbered_until("RESUMED").await, messages(7..=9, 11));
}

#[tokio::test]
async fn a_heartbeat_takes_what_it_acknowledges() {
    let double = silent().await;
    let (mut client, ready) = Client::ready(&double, INTENTS).await;
    double.post_many(5).await;
    for _ in 0..5 {
        client.dispatch("MESSAGE_CREATE").await;
    }
    client.heartbeat(Some(5)).await;
    drop(client);
    let mut older = Client::resume(&double, &ready["session_id"], 4).await;
    invalid(&mut older).await;
    let mut newer = Client::resume(&double, &ready["session_id"], 5).await;
    assert_eq!(newer.numbered_until("RESUMED").await, messages(6..=7, 8));
}

#[tokio::test]
async fn a_number_that_was_never_sent_closes_with_4007() {
    let double = silent().await;
    let (session, _) = interrupted(&double).await;
    let mut client = Client::resume(&double, &session, 8).await;
    assert_eq!(client.end().await, Heard::Closed(4007));
    let mut again = Client::resume(&double, &session, 5).await;
    invalid(&mut again).await;
}

#[tokio::test]
async fn an_unknown_session_may_identify_on_the_same_connection() {
    let double = silent().await;
    let mut client = Client::resume(&double, &json!("0123456789abcdef0123456789abcdef"), 1).await;
    invalid(&mut client).await;
    client.identify(INTENTS).await;
    client.dispatch("READY").await;
    assert_eq!(client.seq, 1);
}

#[tokio::test]
async fn only_1000_and_1001_from_the_client_end_the_session() {
    for (code, survives) in [(1000, false), (1001, false), (1002, true), (4000, true), (4900, true)] {
        let double = silent().await;
        let (client, ready) = Client::ready(&double, INTENTS).await;
        let seq = client.seq;
        client.close(code).await;
        double.log().wait_for(|record| record.counts().open == 0, PATIENCE).await.unwrap();
        let closed = double.log().snapshot().into_iter().find_map(|entry| match entry.event {
            Event::ConnectionClosed { by, code, .. } => Some((by, code)),
            _ => None,
        });
        assert_eq!(closed, Some((Closer::Client, Some(code))));
        let mut again = Client::resume(&double, &ready["session_id"], seq).await;
        if survives {
            again.dispatch("RESUMED").await;
        } else {
            invalid(&mut again).await;
        }
    }
}

#[tokio::test]
async fn the_resume_window_passes() {
    let double = start(Script { resume_window_ms: 0, ..Script::silent() }).await;
    let (session, seq) = interrupted(&double).await;
    let ended = async || {
        while double.log().counts().sessions_ended == 0 {
            double.post_many(1).await;
        }
    };
    tokio::time::timeout(PATIENCE, ended()).await.unwrap();
    let mut client = Client::resume(&double, &session, seq).await;
    invalid(&mut client).await;
}

#[tokio::test]
async fn a_session_has_one_socket() {
    let double = silent().await;
    let (mut first, ready) = Client::ready(&double, INTENTS).await;
    let mut second = Client::resume(&double, &ready["session_id"], first.seq).await;
    second.dispatch("RESUMED").await;
    assert_eq!(first.end().await, Heard::Closed(4000));
    double.post_many(1).await;
    second.dispatch("MESSAGE_CREATE").await;
}

#[tokio::test]
async fn more_than_is_kept_is_a_refusal_and_not_a_hole() {
    let double = start(Script { replay_max: 4, unsent_max: 4, ..Script::silent() }).await;
    let (mut client, ready) = Client::ready(&double, INTENTS).await;
    for _ in 0..6 {
        double.post_many(1).await;
        client.dispatch("MESSAGE_CREATE").await;
    }
    double.drop_all();
    let mut older = Client::resume(&double, &ready["session_id"], 3).await;
    invalid(&mut older).await;
    let mut newer = Client::resume(&double, &ready["session_id"], 5).await;
    assert_eq!(newer.numbered_until("RESUMED").await, messages(6..=8, 9));
}

#[tokio::test]
async fn forgotten_sessions_go_on_until_their_socket_ends() {
    let double = silent().await;
    let (mut client, ready) = Client::ready(&double, INTENTS).await;
    double.forget_sessions();
    double.post_many(1).await;
    client.dispatch("MESSAGE_CREATE").await;
    double.drop_all();
    assert_eq!(client.end().await, Heard::Gone);
    let mut again = Client::resume(&double, &ready["session_id"], client.seq).await;
    invalid(&mut again).await;
}

#[tokio::test]
async fn a_replay_can_double_and_reorder() {
    let double = silent().await;
    let (session, seq) = interrupted(&double).await;
    double.duplicate_next_replay(2);
    double.reorder_next_replay();
    let mut client = Client::resume(&double, &session, seq).await;
    assert_eq!(client.numbered_until("RESUMED").await, messages([8, 9, 6, 7, 8, 9], 10));
    drop(client);
    let mut client = Client::resume(&double, &session, seq).await;
    assert_eq!(client.numbered_until("RESUMED").await, messages(6..=9, 11), "only once");
}

#[tokio::test]
async fn a_replay_of_nothing_leaves_the_fault_for_the_next() {
    let double = silent().await;
    let (client, ready) = Client::ready(&double, INTENTS).await;
    double.reorder_next_replay();
    drop(client);
    let mut client = Client::resume(&double, &ready["session_id"], 2).await;
    assert_eq!(client.numbered_until("RESUMED").await, messages([], 3));
    double.post_many(4).await;
    for _ in 0..4 {
        client.dispatch("MESSAGE_CREATE").await;
    }
    drop(client);
    let mut client = Client::resume(&double, &ready["session_id"], 3).await;
    assert_eq!(client.numbered_until("RESUMED").await, messages([6, 7, 4, 5], 8));
}
