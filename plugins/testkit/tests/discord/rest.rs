//! The REST API: who may, what is answered, and that what the bot says comes back over the gateway.

use jackfield_testkit::discord::{Event, Script};
use serde_json::{Value, json};

use super::client::{Client, INTENTS, authorised, request, silent, start};

fn ids(messages: &Value) -> Vec<&str> {
    messages.as_array().unwrap().iter().map(|message| message["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_token_is_asked_for_and_never_logged() {
    let double = silent().await;
    for path in ["/api/v10/gateway/bot", "/api/v10/users/@me", "/api/v10/channels/1/messages", "/api/v10/nowhere"] {
        let (status, body) = request(&double, "GET", path, &[("Authorization", "Bot wrong")], "").await;
        assert_eq!((status, body), (401, json!({ "message": "401: Unauthorized", "code": 0 })), "{path}");
        let unprefixed = double.token().to_owned();
        assert_eq!(request(&double, "GET", path, &[("Authorization", &unprefixed)], "").await.0, 401, "{path}");
    }
    let (status, me) = authorised(&double, "GET", "/api/v10/users/@me", "").await;
    assert_eq!((status, &me["id"]), (200, &json!(double.bot())));
    let entries = double.log().snapshot();
    assert!(!serde_json::to_string(&entries).unwrap().contains(double.token()));
    let last = entries.into_iter().next_back().unwrap().event;
    let Event::Request { path, status, authorised, .. } = last else { panic!("{last:?}") };
    assert_eq!((path.as_str(), status, authorised), ("/api/v10/users/@me", Some(200), true));
}

#[tokio::test]
async fn what_is_not_there_is_said_in_discords_words() {
    let double = silent().await;
    let cases = [
        ("GET", "/api/v9/gateway", 400, 50_041),
        ("GET", "/elsewhere", 404, 0),
        ("GET", "/api/v10/nowhere", 404, 0),
        ("GET", "/api/v10/channels/1", 404, 10_003),
        ("GET", "/api/v10/channels/1/messages", 404, 10_003),
        ("GET", "/api/v10/channels/x/messages", 400, 50_035),
        ("GET", "/api/v10/guilds/1/channels", 404, 10_004),
        ("DELETE", "/api/v10/channels/1", 405, 0),
        ("POST", "/api/v10/channels/1/messages", 400, 50_109),
    ];
    for (method, path, status, code) in cases {
        let (found, body) = authorised(&double, method, path, "{").await;
        assert_eq!((found, &body["code"]), (status, &json!(code)), "{method} {path}");
    }
}

#[tokio::test]
async fn channels_are_listed() {
    let double = start(Script { channels: 3, ..Script::silent() }).await;
    let guild = double.guilds()[0];
    let (status, channels) = authorised(&double, "GET", &format!("/api/v10/guilds/{guild}/channels"), "").await;
    assert_eq!(status, 200);
    assert_eq!(json!(ids(&channels)), json!(double.channels()));
    let one = format!("/api/v10/channels/{}", double.channels()[1]);
    assert_eq!(authorised(&double, "GET", &one, "").await.1["name"], "channel-1");
}

#[tokio::test]
async fn history_is_newest_first_and_after_means_what_came_next() {
    let double = silent().await;
    let (channel, author) = (double.channels()[0], double.authors()[0]);
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(double.post_message(channel, author, &format!("number {number}")).await.unwrap().to_string());
    }
    let get = async |query: &str| {
        authorised(&double, "GET", &format!("/api/v10/channels/{channel}/messages{query}"), "").await
    };
    let newest_first: Vec<&str> = made.iter().rev().map(String::as_str).collect();
    assert_eq!(ids(&get("").await.1), newest_first);
    assert_eq!(ids(&get("?limit=2").await.1), newest_first[..2]);
    assert_eq!(ids(&get(&format!("?after={}&limit=2", made[0])).await.1), [&made[2], &made[1]]);
    assert_eq!(ids(&get(&format!("?before={}", made[2])).await.1), [&made[1], &made[0]]);
    for bad in ["?limit=0", "?limit=101", "?after=x", "?around=1"] {
        assert_eq!(get(bad).await.0, 400, "{bad}");
    }
    let message = &get("?limit=1").await.1[0];
    assert_eq!((&message["content"], &message["guild_id"]), (&json!("number 4"), &Value::Null));
}

#[tokio::test]
async fn what_the_bot_says_comes_back_over_the_gateway() {
    let double = silent().await;
    let (mut client, _) = Client::ready(&double, 1 | 1 << 9).await;
    let path = format!("/api/v10/channels/{}/messages", double.channels()[0]);
    let (status, made) = authorised(&double, "POST", &path, r#"{"content":"done 👩🏽‍💻","nonce":"n1"}"#).await;
    assert_eq!((status, &made["content"]), (200, &json!("done 👩🏽‍💻")));
    let heard = client.dispatch("MESSAGE_CREATE").await;
    assert_eq!((&heard["id"], &heard["nonce"]), (&made["id"], &json!("n1")));
    assert_eq!(heard["author"]["id"], json!(double.bot()));
    assert_eq!(heard["content"], "done 👩🏽‍💻", "its own messages have their content without the intent");
}

#[tokio::test]
async fn history_withholds_content_from_an_application_that_may_not_read_it() {
    let double = start(Script { disallowed_intents: 1 << 15, ..Script::silent() }).await;
    let channel = double.channels()[0];
    double.post_message(channel, double.authors()[0], "private").await.unwrap();
    let (_, messages) = authorised(&double, "GET", &format!("/api/v10/channels/{channel}/messages"), "").await;
    assert_eq!(messages[0]["content"], "");
    let (_client, _) = Client::ready(&double, INTENTS & !(1 << 15)).await;
}
