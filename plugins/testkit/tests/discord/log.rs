//! The log: complete, readable by another process, and clear about what did not happen.

use std::time::Duration;

use jackfield_testkit::discord::{Announcement, Entry, Event, Script, serve_cli};
use tokio::sync::oneshot;

use super::client::{Client, INTENTS, silent};

#[tokio::test]
async fn the_file_says_what_memory_says() {
    let folder = std::env::temp_dir().join(format!("jackfield-testkit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("double.jsonl");
    let double = silent().await;
    double.log().write_to(&path).unwrap();
    let (mut client, ready) = Client::ready(&double, INTENTS).await;
    double.post_many(20).await;
    for _ in 0..20 {
        client.dispatch("MESSAGE_CREATE").await;
    }
    client.heartbeat(Some(4)).await;
    client.close(4000).await;
    let mut again = Client::resume(&double, &ready["session_id"], 10).await;
    again.numbered_until("RESUMED").await;
    let log = double.log();
    double.stop().await;
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let written: Vec<Entry> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(written, log.snapshot());
    assert!(written.iter().any(|entry| matches!(entry.event, Event::Resume { seq: 10, .. })));
}

#[tokio::test]
async fn messages_are_listed_by_channel_in_order() {
    let double = silent().await;
    let (author, channels) = (double.authors()[0], double.channels());
    let mut made = Vec::new();
    for number in 0..6 {
        made.push(double.post_message(channels[number % 2], author, "hi").await.unwrap());
    }
    let listed = double.log().messages();
    assert_eq!(listed[&channels[0]], [made[0], made[2], made[4]]);
    assert_eq!(listed[&channels[1]], [made[1], made[3], made[5]]);
}

#[tokio::test]
async fn waiting_in_vain_says_what_was_seen() {
    let double = silent().await;
    let late = double.log().wait_for(|record| record.counts().identifies == 1, Duration::from_millis(20)).await;
    assert!(late.unwrap_err().to_string().contains("identifies: 0"));
}

#[tokio::test]
async fn as_a_process_it_announces_itself_and_ends_on_request() {
    let (stop, stopped) = oneshot::channel::<()>();
    let (announce, announced) = oneshot::channel::<Announcement>();
    let listen = "127.0.0.1:0".parse().unwrap();
    let served = tokio::spawn(async move {
        let shutdown = async { _ = stopped.await };
        serve_cli(listen, Script::silent(), None, |said| announce.send(said.clone()).unwrap(), shutdown).await
    });
    let said = announced.await.unwrap();
    assert!(said.rest.ends_with("/api/v10") && said.gateway.starts_with("ws://") && !said.token.is_empty());
    let line = serde_json::to_string(&said).unwrap();
    assert!(!line.contains('\n'));
    stop.send(()).unwrap();
    served.await.unwrap().unwrap();
}
