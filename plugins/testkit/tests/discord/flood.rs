//! Much at once: nothing lost, nothing out of order, and memory bounded by what the client takes.

use std::time::Duration;

use jackfield_testkit::discord::{Pace, Script};

use super::client::{Client, INTENTS, start};

/// A message that takes this long waits for room. Too short only on a machine where nothing works.
const STALL: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_arrives_whole_and_in_order() {
    const MESSAGES: u64 = 20_000;
    let script = Script { messages: Some(MESSAGES), rate: Pace::Burst, ..Script::default() };
    let double = start(script).await;
    let (mut client, _) = Client::ready(&double, INTENTS).await;
    let mut received: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
    for seq in 3..3 + MESSAGES {
        let message = client.dispatch("MESSAGE_CREATE").await;
        assert_eq!(client.seq, seq);
        let text = |name: &str| message[name].as_str().unwrap().to_owned();
        received.entry(text("channel_id")).or_default().push(text("id"));
    }
    let made = double.log().messages();
    let made = made.iter().map(|(channel, ids)| (channel.to_string(), ids.iter().map(ToString::to_string).collect()));
    assert_eq!(received, made.collect());
    assert_eq!(double.log().counts().replayed, 0);
}

#[tokio::test]
async fn whoever_makes_messages_waits_for_a_client_that_does_not_read() {
    let script = Script { unsent_max: 100, ..Script::silent() };
    let double = start(script).await;
    let (mut client, _) = Client::ready(&double, INTENTS).await;
    // The client's socket takes some megabytes by itself; a large frame fills it.
    double.oversized_frame(15 * 1024 * 1024);
    let made = async || {
        for made in 0..1000 {
            if tokio::time::timeout(STALL, double.post_many(1)).await.is_err() {
                return made;
            }
        }
        1000
    };
    let made = made().await;
    assert!((100..=100 + 256).contains(&made), "{made} messages were made for a client that does not read");
    double.flood(1000, None);
    while double.log().counts().messages < made + 1000 || client.seq < made + 1003 {
        client.frame().await;
    }
}
