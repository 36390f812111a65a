//! Faithfulness, judged by a client that others wrote: twilight's shard and HTTP client log in, are interrupted in every way
//! that they know how to survive, and get every message once.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use jackfield_testkit::discord::{Double, Script};
use twilight_gateway::queue::InMemoryQueue;
use twilight_gateway::{ConfigBuilder, EventTypeFlags, Intents, Message, Shard, ShardId};
use twilight_model::gateway::event::Event;
use twilight_model::id::Id;

use super::client::{PATIENCE, silent, start};

fn shard(double: &Double, token: &str) -> Shard<InMemoryQueue> {
    let intents = Intents::GUILDS | Intents::GUILD_MESSAGES | Intents::DIRECT_MESSAGES | Intents::MESSAGE_CONTENT;
    let config = ConfigBuilder::new(token.to_owned(), intents)
        .proxy_url(double.gateway_url())
        .queue(InMemoryQueue::new(0, 0, std::time::Duration::ZERO, 0))
        .build();
    Shard::with_config(ShardId::ONE, config)
}

/// The next event that the library could read; None at the end of the shard.
async fn next(shard: &mut Shard<InMemoryQueue>) -> Option<Event> {
    loop {
        let item = tokio::time::timeout(PATIENCE, shard.next()).await.expect("nothing came")?;
        match item {
            Ok(Message::Text(text)) => {
                let event = twilight_gateway::parse(text, EventTypeFlags::all()).unwrap();
                if let Some(event) = event {
                    return Some(event.into());
                }
            }
            Ok(Message::Close(frame)) => return Some(Event::GatewayClose(frame)),
            Err(error) if error.to_string().contains("reconnect") => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

async fn until_ready(shard: &mut Shard<InMemoryQueue>) {
    while !matches!(next(shard).await, Some(Event::GuildCreate(_))) {}
}

/// Takes so many messages.
async fn take(shard: &mut Shard<InMemoryQueue>, seen: &mut BTreeSet<u64>, until: usize) {
    while seen.len() < until {
        take_next(shard, seen).await;
    }
}

/// Takes an event; a message may come once.
async fn take_next(shard: &mut Shard<InMemoryQueue>, seen: &mut BTreeSet<u64>) {
    if let Some(Event::MessageCreate(message)) = next(shard).await {
        assert!(seen.insert(message.id.get()), "{} came twice", message.id);
    }
}

fn made(double: &Double) -> BTreeSet<u64> {
    double.log().messages().into_values().flatten().map(|id| id.get()).collect()
}

#[tokio::test]
async fn every_message_comes_once_through_every_kind_of_interruption() {
    let double = silent().await;
    let mut shard = shard(&double, double.token());
    until_ready(&mut shard).await;
    let mut seen = BTreeSet::new();
    let interruptions: [fn(&Double); 5] = [
        Double::drop_all,
        Double::reconnect_all,
        |double| double.invalidate(true),
        |double| double.close_all(4000),
        |double| double.close_all(1001),
    ];
    for (round, interrupt) in interruptions.into_iter().enumerate() {
        double.post_many(10).await;
        take(&mut shard, &mut seen, 20 * round + 5).await;
        interrupt(&double);
        double.post_many(10).await;
        // What follows opcode 7 on the old socket is heard as well, so the messages may be there before the resume is.
        while seen.len() < 20 * (round + 1) || double.log().counts().resumed <= round as u64 {
            take_next(&mut shard, &mut seen).await;
        }
    }
    assert_eq!(seen, made(&double));
    let counts = double.log().counts();
    assert_eq!((counts.identifies, counts.resumed), (1, 5), "resumed every time");
}

#[tokio::test]
async fn opcode_9_without_resume_makes_a_new_session() {
    let double = silent().await;
    let mut shard = shard(&double, double.token());
    until_ready(&mut shard).await;
    double.invalidate(false);
    until_ready(&mut shard).await;
    let mut seen = BTreeSet::new();
    double.post_many(5).await;
    take(&mut shard, &mut seen, 5).await;
    assert_eq!(double.log().counts().identifies, 2);
}

#[tokio::test]
async fn a_forgotten_session_is_replaced() {
    let double = silent().await;
    let mut shard = shard(&double, double.token());
    until_ready(&mut shard).await;
    double.forget_sessions();
    double.drop_all();
    until_ready(&mut shard).await;
    let counts = double.log().counts();
    assert_eq!((counts.identifies, counts.resumes, counts.resumed), (2, 1, 0));
}

#[tokio::test]
async fn a_wrong_token_ends_the_shard() {
    let double = silent().await;
    let mut shard = shard(&double, "wrong");
    let mut closed = None;
    while let Some(event) = next(&mut shard).await {
        if let Event::GatewayClose(frame) = event {
            closed = frame.map(|frame| frame.code);
        }
    }
    assert_eq!(closed, Some(4004));
    assert_eq!(double.log().counts().connections, 1, "it does not try again");
}

#[tokio::test]
async fn a_missing_acknowledgement_makes_it_resume() {
    let double = start(Script { heartbeat_interval_ms: 300, ..Script::silent() }).await;
    let mut shard = shard(&double, double.token());
    until_ready(&mut shard).await;
    double.withhold_acks(2);
    let log = double.log();
    let resumed = log.wait_for(|record| record.counts().resumed == 1, PATIENCE);
    tokio::select! {
        resumed = resumed => resumed.unwrap(),
        () = async { while next(&mut shard).await.is_some() {} } => panic!("the shard ended"),
    }
    assert_eq!(log.counts().identifies, 1);
}

#[tokio::test]
async fn its_http_client_reads_and_writes() {
    let double = silent().await;
    let host = double.origin_http().strip_prefix("http://").unwrap().to_owned();
    let client = twilight_http::Client::builder().token(double.token().to_owned()).proxy(host, true).build();
    let info = client.gateway().authed().await.unwrap().model().await.unwrap();
    assert_eq!((info.url, info.shards), (double.gateway_url(), 1));
    assert_eq!(info.session_start_limit.remaining, 1000);
    let me = client.current_user().await.unwrap().model().await.unwrap();
    assert_eq!(me.id.get(), double.bot().get());
    let guild = Id::new(double.guilds()[0].get());
    let channels = client.guild_channels(guild).await.unwrap().models().await.unwrap();
    assert_eq!(channels.len(), 20);
    let channel = channels[0].id;
    let said = client.create_message(channel).content("hello").await.unwrap().model().await.unwrap();
    let read = client.channel_messages(channel).await.unwrap().models().await.unwrap();
    assert_eq!(read.iter().map(|message| message.id).collect::<Vec<_>>(), [said.id]);
    assert_eq!(read[0].content, "hello");
}
