//! Hello to READY, what closes with which code, and who gets what.

use jackfield_testkit::discord::{Script, SessionStarts};
use serde_json::{Value, json};

use super::client::{Client, Heard, INTENTS, authorised, identify, request, silent, start};

#[tokio::test]
async fn identify_is_answered_with_ready_and_the_guilds() {
    let double = start(Script { guilds: 2, channels: 3, ..Script::silent() }).await;
    let mut client = Client::connect(&double).await;
    client.identify(INTENTS).await;
    let frame = client.frame().await;
    assert_eq!((&frame["t"], &frame["s"], &frame["op"]), (&json!("READY"), &json!(1), &json!(0)));
    let ready = &frame["d"];
    assert_eq!(ready["v"], 10);
    assert_eq!(ready["user"]["id"], json!(double.bot()));
    assert_eq!(ready["application"]["id"], json!(double.bot()));
    assert_eq!(ready["resume_gateway_url"], double.gateway_url());
    assert_eq!(ready["session_id"].as_str().unwrap().len(), 32);
    let unavailable: Vec<Value> = double.guilds().iter().map(|id| json!({ "id": id, "unavailable": true })).collect();
    assert_eq!(ready["guilds"], json!(unavailable));
    for (seq, guild) in [2, 3].into_iter().zip(double.guilds()) {
        let created = client.dispatch("GUILD_CREATE").await;
        assert_eq!((client.seq, &created["id"]), (seq, &json!(guild)));
        assert_eq!(created["channels"].as_array().unwrap().len(), 3);
    }
    assert_eq!(double.log().counts().readies, 1);
}

#[tokio::test]
async fn what_a_client_may_not_do_has_its_close_code() {
    let double = start(Script { disallowed_intents: 1 << 15, ..Script::silent() }).await;
    let token = double.token().to_owned();
    let sharded = |id: u64, count: u64| {
        let mut frame = identify(&token, 512);
        frame["d"]["shard"] = json!([id, count]);
        frame.to_string()
    };
    let unknown_resume =
        |seq: u64| json!({ "op": 6, "d": { "token": "x", "session_id": "s", "seq": seq } }).to_string();
    let cases: [(&str, Vec<String>, u16); 12] = [
        ("not JSON", vec!["{".to_owned()], 4002),
        ("no opcode", vec!["{}".to_owned()], 4002),
        ("unknown opcode", vec![r#"{"op":99,"d":null}"#.to_owned()], 4001),
        ("too long", vec![format!(r#"{{"op":1,"d":null,"x":"{}"}}"#, "x".repeat(5000))], 4002),
        ("before identify", vec![r#"{"op":3,"d":{}}"#.to_owned()], 4003),
        ("wrong token", vec![identify("wrong", 512).to_string()], 4004),
        ("wrong token in a resume", vec![unknown_resume(1)], 4004),
        ("identified twice", vec![identify(&token, 512).to_string(), identify(&token, 512).to_string()], 4005),
        ("shard out of range", vec![sharded(2, 2)], 4010),
        ("no shards", vec![sharded(0, 0)], 4010),
        ("bits without meaning", vec![identify(&token, 1 << 40).to_string()], 4013),
        ("intent that is switched off", vec![identify(&token, 1 << 15).to_string()], 4014),
    ];
    for (what, frames, code) in cases {
        let mut client = Client::connect(&double).await;
        for frame in frames {
            client.say_text(&frame).await;
        }
        assert_eq!(client.end().await, Heard::Closed(code), "{what}");
    }
}

#[tokio::test]
async fn binary_frames_close_with_4002() {
    let double = silent().await;
    let mut client = Client::connect(&double).await;
    client.say_binary(br#"{"op":1,"d":null}"#.to_vec()).await;
    assert_eq!(client.end().await, Heard::Closed(4002));
}

#[tokio::test]
async fn another_version_closes_with_4012_before_hello() {
    let double = silent().await;
    for target in ["/?v=9&encoding=json", "/?encoding=json"] {
        let (mut client, _) = Client::open(&double, target).await;
        assert_eq!(client.next().await, Heard::Closed(4012), "{target}");
    }
    for target in ["/?v=10&encoding=etf", "/?v=10&compress=zlib-stream", "/other?v=10"] {
        let url = format!("{}{target}", double.gateway_url());
        assert!(Client::open_as(&double, &url).await.is_err(), "{target}");
    }
}

#[tokio::test]
async fn more_than_120_commands_a_minute_close_with_4008() {
    let double = silent().await;
    let mut client = Client::connect(&double).await;
    for _ in 0..121 {
        client.say(&json!({ "op": 1, "d": null })).await;
    }
    assert_eq!(client.end().await, Heard::Closed(4008));
    assert_eq!(double.log().counts().acks, 120);
}

#[tokio::test]
async fn without_heartbeats_the_session_times_out() {
    let double = start(Script { heartbeat_interval_ms: 10, ..Script::silent() }).await;
    let (mut client, ready) = Client::ready(&double, INTENTS).await;
    assert_eq!(client.end().await, Heard::Closed(4009));
    let mut again = Client::resume(&double, &ready["session_id"], client.seq).await;
    assert_eq!(again.frame().await["op"], 9, "4009 ends the session");
}

#[tokio::test]
async fn names_itself_as_the_client_reached_it() {
    let double = silent().await;
    let mut client = Client::open_as(&double, "ws://gateway.discord.gg/?v=10&encoding=json").await.unwrap();
    client.frame().await;
    client.identify(INTENTS).await;
    let ready = client.dispatch("READY").await;
    assert_eq!(ready["resume_gateway_url"], "wss://gateway-us-east1-b.discord.gg");
    let path = "/api/v10/gateway";
    let (_, public) = request(&double, "GET", path, &[("Host", "discord.com")], "").await;
    assert_eq!(public, json!({ "url": "wss://gateway.discord.gg" }));
    let (_, own) = request(&double, "GET", path, &[], "").await;
    assert_eq!(own, json!({ "url": double.gateway_url() }));
}

#[tokio::test]
async fn intents_decide_what_is_sent() {
    let double = silent().await;
    let (author, channel) = (double.authors()[0], double.channels()[0]);
    let direct = double.direct_channel(author).unwrap();
    let (mut guilds, _) = Client::ready(&double, 1 | 1 << 9).await;
    let (mut directs, _) = Client::ready(&double, 1 << 12).await;
    let plain = double.post_message(channel, author, "for the channel").await.unwrap();
    let mention = double.post_message(channel, author, &format!("<@{}> look", double.bot())).await.unwrap();
    let whispered = double.post_message(direct, author, "for the bot").await.unwrap();
    double.dispatch("SOMETHING_NEW_2027", &json!({})).await;

    let message = guilds.dispatch("MESSAGE_CREATE").await;
    assert_eq!((&message["id"], &message["content"]), (&json!(plain), &json!("")), "no MESSAGE_CONTENT");
    let message = guilds.dispatch("MESSAGE_CREATE").await;
    assert_eq!(message["id"], json!(mention));
    assert_eq!(message["content"], json!(format!("<@{}> look", double.bot())), "the bot is mentioned");
    guilds.dispatch("SOMETHING_NEW_2027").await;

    let message = directs.dispatch("MESSAGE_CREATE").await;
    assert_eq!((&message["id"], &message["content"]), (&json!(whispered), &json!("for the bot")));
    assert_eq!(message["guild_id"], Value::Null);
    directs.dispatch("SOMETHING_NEW_2027").await;
}

#[tokio::test]
async fn every_guild_belongs_to_one_shard() {
    let double = start(Script { guilds: 4, channels: 1, ..Script::silent() }).await;
    let mut seen = Vec::new();
    for shard in 0..2 {
        let mut client = Client::connect(&double).await;
        let mut frame = identify(double.token(), INTENTS);
        frame["d"]["shard"] = json!([shard, 2]);
        client.say(&frame).await;
        for guild in client.dispatch("READY").await["guilds"].as_array().unwrap() {
            assert_eq!((guild["id"].as_str().unwrap().parse::<u64>().unwrap() >> 22) % 2, shard);
            assert_eq!(client.dispatch("GUILD_CREATE").await["id"], guild["id"]);
            seen.push(guild["id"].clone());
        }
    }
    assert_eq!(seen.len(), 4);
}

#[tokio::test]
async fn identifies_are_counted_and_the_budget_is_the_end() {
    let starts = SessionStarts { total: 3, remaining: 2, ..SessionStarts::default() };
    let double = start(Script { session_starts: starts, ..Script::silent() }).await;
    let (mut first, _) = Client::ready(&double, INTENTS).await;
    let (_, bot) = authorised(&double, "GET", "/api/v10/gateway/bot", "").await;
    assert_eq!(bot["session_start_limit"]["remaining"], 1);
    assert_eq!(bot["session_start_limit"]["total"], 3);
    let (_second, _) = Client::ready(&double, INTENTS).await;
    let mut third = Client::connect(&double).await;
    third.identify(INTENTS).await;
    assert_eq!(third.end().await, Heard::Closed(4004));
    assert_eq!(first.end().await, Heard::Closed(4004), "the token is reset for everybody");
    assert_eq!(authorised(&double, "GET", "/api/v10/gateway/bot", "").await.0, 401);
}

#[tokio::test]
async fn identifying_too_fast_gets_opcode_9() {
    let starts = SessionStarts { every_ms: 3_600_000, ..SessionStarts::default() };
    let double = start(Script { session_starts: starts, ..Script::silent() }).await;
    let (_first, _) = Client::ready(&double, INTENTS).await;
    let mut second = Client::connect(&double).await;
    second.identify(INTENTS).await;
    let refused = second.frame().await;
    assert_eq!((&refused["op"], &refused["d"]), (&json!(9), &json!(false)));
}
