//! What a connector's actions ask for: saying and changing, direct messages, people and roles, and what is refused.

use jackfield_testkit::discord::{Double, Id, Rest, Script};
use serde_json::{Value, json};

use super::client::{Client, INTENTS, call, silent, start};

/// A channel and the path of its messages.
fn place(double: &Double) -> (Id, String) {
    let channel = double.channels()[0];
    (channel, format!("/channels/{channel}/messages"))
}

async fn say(double: &Double, body: Value) -> Value {
    let (_, path) = place(double);
    let answer = call(double, "POST", &path, &body).await;
    assert_eq!(answer.status, Some(200), "{body}: {:?}", String::from_utf8(answer.body.clone()));
    answer.json()
}

/// Status and code of an answer, and where its form error stands.
async fn refused(double: &Double, method: &str, path: &str, body: &Value) -> (u16, u64, String) {
    let answer = call(double, method, path, body).await;
    let json = answer.json();
    let errors = json.get("errors").map(Value::to_string).unwrap_or_default();
    (answer.status.unwrap(), json["code"].as_u64().unwrap(), errors)
}

#[tokio::test]
async fn a_nonce_that_is_enforced_makes_one_message_of_the_bot() {
    let double = silent().await;
    let once = json!({ "content": "once", "nonce": "n1", "enforce_nonce": true });
    let first = say(&double, once.clone()).await;
    let second = say(&double, once).await;
    assert_eq!(first["id"], second["id"]);
    let elsewhere = format!("/channels/{}/messages", double.channels()[1]);
    let body = json!({ "content": "other", "nonce": "n1", "enforce_nonce": true });
    let third = call(&double, "POST", &elsewhere, &body).await.json();
    assert_eq!((&third["id"], &third["content"]), (&first["id"], &json!("once")), "the author counts, not the channel");
    say(&double, json!({ "content": "more", "nonce": "n1" })).await;
    say(&double, json!({ "content": "more", "nonce": "n1" })).await;
    let made = double.log().read(|record| (record.said_with_nonce("n1"), record.said_with_content("once")));
    assert_eq!((made, double.log().counts().said), ((3, 1), 3));
}

#[tokio::test]
async fn a_repeated_nonce_shows_the_message_as_it_is_by_now() {
    let double = silent().await;
    let (_, path) = place(&double);
    let body = json!({ "content": "first", "nonce": 7, "enforce_nonce": true });
    let made = say(&double, body.clone()).await;
    assert_eq!(made["nonce"], json!(7), "as it came");
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    call(&double, "PATCH", &one, &json!({ "content": "changed" })).await;
    assert_eq!(say(&double, body).await["content"], "changed");
    assert_eq!(double.log().said()[0].nonce.as_deref(), Some("7"));
}

#[tokio::test]
async fn a_nonce_is_forgotten_in_time() {
    let double = start(Script { rest: Rest { nonce_window_ms: 0, ..Rest::default() }, ..Script::silent() }).await;
    let body = json!({ "content": "twice", "nonce": "n", "enforce_nonce": true });
    let (first, second) = (say(&double, body.clone()).await, say(&double, body).await);
    assert_ne!(first["id"], second["id"]);
}

#[tokio::test]
async fn messages_that_discord_refuses_are_refused_in_its_words() {
    let double = silent().await;
    let (_, path) = place(&double);
    let too_long = json!({ "content": "é".repeat(2001) });
    let answer = call(&double, "POST", &path, &too_long).await;
    let expected = json!({
        "message": "Invalid Form Body",
        "code": 50_035,
        "errors": { "content": { "_errors": [
            { "code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length." },
        ] } },
    });
    assert_eq!((answer.status, answer.json()), (Some(400), expected));
    let user = json!({ "parse": ["users"], "users": ["1"] });
    for (body, code, errors) in [
        (json!({}), 50_006, ""),
        (json!({ "content": " \n" }), 50_006, ""),
        (json!({ "content": null, "embeds": [] }), 50_006, ""),
        (json!({ "content": 5 }), 50_035, r#"{"content":"#),
        (
            json!({ "content": "a", "nonce": "x".repeat(26) }),
            50_035,
            r#"{"nonce":{"_errors":[{"code":"NONCE_TYPE_TOO_LONG""#,
        ),
        (json!({ "content": "a", "nonce": 1.5 }), 50_035, r#"{"nonce":{"_errors":[{"code":"NONCE_TYPE_INVALID_TYPE""#),
        (json!({ "content": "a", "allowed_mentions": user }), 50_035, r#"{"allowed_mentions":{"_errors""#),
        (json!({ "content": "a", "message_reference": { "message_id": "5" } }), 50_035, r#"{"message_reference":"#),
        (json!({ "content": "a", "message_reference": {} }), 50_035, r#"{"message_reference":{"message_id":"#),
        (json!({ "content": "a", "embeds": vec![json!({}); 11] }), 50_035, r#"{"embeds":"#),
        (json!([]), 50_035, r#"{"_errors":[{"code":"MODEL_TYPE_CONVERT""#),
    ] {
        let found = refused(&double, "POST", &path, &body).await;
        assert_eq!((found.0, found.1), (400, code), "{body}");
        assert!(found.2.starts_with(errors), "{body}: {}", found.2);
    }
    assert_eq!(double.log().counts().messages, 0);
    let fits = say(&double, json!({ "content": format!(" {} ", "é".repeat(1998)) })).await;
    assert_eq!(fits["content"], "é".repeat(1998), "white space around it is taken away");
}

#[tokio::test]
async fn a_body_needs_its_content_type_and_has_a_size() {
    let double = silent().await;
    let (_, path) = place(&double);
    let credential = format!("Bot {}", double.token());
    let path = format!("/api/v10{path}");
    for typed in [None, Some(("Content-Type", "text/plain"))] {
        let headers: Vec<_> = [("Authorization", credential.as_str())].into_iter().chain(typed).collect();
        let answer = super::client::exchange(&double, "POST", &path, &headers, r#"{"content":"a"}"#).await;
        assert_eq!(answer.json()["errors"]["_errors"][0]["code"], "CONTENT_TYPE_INVALID", "{typed:?}");
    }
    let headers = [("Authorization", credential.as_str()), ("Content-Type", "application/json; charset=utf-8")];
    let answer = super::client::exchange(&double, "POST", &path, &headers, r#"{"content":"a"}"#).await;
    assert_eq!(answer.status, Some(200));
}

#[tokio::test]
async fn what_may_be_addressed_is_said_and_only_that_is() {
    let double = silent().await;
    let (guild, people) = (double.guilds()[0], double.authors());
    let role = double.roles(guild)[0];
    let text = format!("@everyone <@{}> <@!{}> <@&{role}>", people[0], people[1]);
    let mentioned = async |allowed: Value| {
        let made = say(&double, json!({ "content": text, "allowed_mentions": allowed })).await;
        let users = made["mentions"].as_array().unwrap().iter().map(|user| user["id"].clone()).collect::<Value>();
        (users, made["mention_roles"].clone(), made["mention_everyone"].clone())
    };
    let (both, roles) = (json!([people[0], people[1]]), json!([role]));
    assert_eq!(mentioned(Value::Null).await, (both.clone(), roles.clone(), json!(true)));
    assert_eq!(mentioned(json!({ "parse": [] })).await, (json!([]), json!([]), json!(false)));
    assert_eq!(mentioned(json!({ "parse": ["users"], "users": [] })).await, (both, json!([]), json!(false)));
    let listed = json!({ "users": [people[1], people[5]], "roles": [role] });
    assert_eq!(
        mentioned(listed).await,
        (json!([people[1]]), roles, json!(false)),
        "nobody whom the text does not name"
    );
}

#[tokio::test]
async fn a_reply_names_what_it_answers() {
    let double = silent().await;
    let (mut client, _) = Client::ready(&double, INTENTS).await;
    let (channel, path) = place(&double);
    let asked = double.post_message(channel, double.authors()[0], "who?").await.unwrap();
    client.dispatch("MESSAGE_CREATE").await;
    let made = say(&double, json!({ "content": "me", "message_reference": { "message_id": asked } })).await;
    let reference = json!({ "type": 0, "channel_id": channel, "message_id": asked, "guild_id": double.guilds()[0] });
    assert_eq!((&made["type"], &made["message_reference"]), (&json!(19), &reference));
    assert_eq!(made["referenced_message"]["content"], "who?");
    assert_eq!(made["mentions"][0]["id"], json!(double.authors()[0]));
    let heard = client.dispatch("MESSAGE_CREATE").await;
    assert_eq!(heard["referenced_message"]["id"], json!(asked));
    let quiet = json!({
        "content": "me", "message_reference": { "message_id": asked.get() }, "allowed_mentions": { "parse": ["users"] },
    });
    assert_eq!(say(&double, quiet).await["mentions"], json!([]), "`replied_user` is false where it is not given");
    let lost =
        |fail: bool| json!({ "content": "me", "message_reference": { "message_id": "5", "fail_if_not_exists": fail } });
    assert_eq!(refused(&double, "POST", &path, &lost(true)).await.0, 400);
    assert_eq!(say(&double, lost(false)).await["type"], 0);
    let elsewhere = double.post_message(double.channels()[1], double.authors()[0], "there").await.unwrap();
    let body = json!({ "content": "me", "message_reference": { "message_id": elsewhere } });
    assert_eq!(refused(&double, "POST", &path, &body).await.0, 400, "a reply stays in its channel");
}

#[tokio::test]
async fn a_message_of_the_bot_is_changed_and_everybody_hears_of_it() {
    let double = silent().await;
    let (mut client, _) = Client::ready(&double, 1 | 1 << 9).await;
    let (channel, path) = place(&double);
    let made = say(&double, json!({ "content": "working", "nonce": "n", "embeds": [{ "title": "a" }] })).await;
    client.dispatch("MESSAGE_CREATE").await;
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    let text = format!("done, <@{}>", double.authors()[0]);
    let changed = call(&double, "PATCH", &one, &json!({ "content": text })).await.json();
    assert_eq!((&changed["content"], &changed["embeds"][0]["title"]), (&json!(text), &json!("a")));
    assert!(changed["edited_timestamp"].is_string() && changed.get("nonce").is_none());
    let heard = client.dispatch("MESSAGE_UPDATE").await;
    assert_eq!((&heard["id"], &heard["content"]), (&made["id"], &json!(text)));
    assert_eq!(
        (&heard["guild_id"], &heard["mentions"][0]["id"]),
        (&json!(double.guilds()[0]), &json!(double.authors()[0]))
    );
    assert_eq!(call(&double, "GET", &one, &Value::Null).await.json(), changed);
    assert_eq!(double.history(channel), [changed]);
    let emptied = json!({ "content": null, "embeds": [] });
    assert_eq!(refused(&double, "PATCH", &one, &emptied).await.1, 50_006);
    let only_embed = call(&double, "PATCH", &one, &json!({ "content": null })).await.json();
    assert_eq!((&only_embed["content"], &only_embed["mentions"]), (&json!(""), &json!([])));
    let counts = double.log().counts();
    assert_eq!((counts.said, counts.messages), (1, 1), "a change is no message");
}

#[tokio::test]
async fn a_change_of_nothing_changes_nothing() {
    let double = silent().await;
    let (_, path) = place(&double);
    let made = say(&double, json!({ "content": "as it is" })).await;
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    assert_eq!(call(&double, "PATCH", &one, &json!({})).await.json(), made);
    assert_eq!(double.log().counts().created, 1);
}

#[tokio::test]
async fn only_its_own_messages_may_be_changed() {
    let double = silent().await;
    let (channel, path) = place(&double);
    let others = double.post_message(channel, double.authors()[0], "mine").await.unwrap();
    let body = json!({ "content": "not yours" });
    let found = refused(&double, "PATCH", &format!("{path}/{others}"), &body).await;
    assert_eq!((found.0, found.1), (403, 50_005));
    let found = refused(&double, "PATCH", &format!("{path}/5"), &body).await;
    assert_eq!((found.0, found.1), (404, 10_008));
    assert_eq!(refused(&double, "GET", &format!("{path}/5"), &Value::Null).await.1, 10_008);
    assert_eq!(double.history(channel)[0]["content"], "mine");
}

#[tokio::test]
async fn direct_messages_go_through_one_channel_each() {
    let double = silent().await;
    let (mut client, _) = Client::ready(&double, 1 << 12).await;
    let somebody = double.authors()[3];
    let open = async |recipient: Value| {
        call(&double, "POST", "/users/@me/channels", &json!({ "recipient_id": recipient })).await
    };
    let channel = open(json!(somebody)).await.json();
    assert_eq!((&channel["type"], &channel["recipients"][0]["id"]), (&json!(1), &json!(somebody)));
    assert_eq!(channel["id"], json!(double.direct_channel(somebody)));
    assert_eq!(open(json!(somebody.get())).await.json()["id"], channel["id"], "the same, and an id may be a number");
    let path = format!("/channels/{}/messages", channel["id"].as_str().unwrap());
    assert_eq!(call(&double, "POST", &path, &json!({ "content": "psst" })).await.status, Some(200));
    let heard = client.dispatch("MESSAGE_CREATE").await;
    assert_eq!((&heard["content"], heard.get("guild_id")), (&json!("psst"), None));
    for (recipient, status, code) in
        [(json!("5"), 400, 50_033), (json!(double.bot()), 400, 50_007), (json!("x"), 400, 50_035)]
    {
        let answer = open(recipient).await;
        assert_eq!((answer.status, &answer.json()["code"]), (Some(status), &json!(code)));
    }
    let errors = refused(&double, "POST", "/users/@me/channels", &json!({})).await.2;
    assert!(errors.contains("CHANNEL_RECIPIENT_REQUIRED"), "{errors}");
}

#[tokio::test]
async fn who_takes_no_direct_messages_gets_none() {
    let closed = start(Script::silent()).await.authors()[2];
    let double = start(Script { rest: Rest { closed_dms: vec![closed], ..Rest::default() }, ..Script::silent() }).await;
    let body = json!({ "recipient_id": closed });
    assert_eq!(call(&double, "POST", "/users/@me/channels", &body).await.status, Some(200), "opening it is no matter");
    let path = format!("/channels/{}/messages", double.direct_channel(closed).unwrap());
    let write = async || refused(&double, "POST", &path, &json!({ "content": "psst" })).await;
    assert_eq!(write().await, (403, 50_007, String::new()));
    assert_eq!(call(&double, "GET", &path, &Value::Null).await.status, Some(200));
    double.open_dms(closed);
    assert_eq!(call(&double, "POST", &path, &json!({ "content": "psst" })).await.status, Some(200));
    double.close_dms(closed);
    assert_eq!(write().await.1, 50_007);
    assert_eq!(double.log().counts().invalid_requests, 2);
}

#[tokio::test]
async fn a_channel_may_be_out_of_sight_or_read_only() {
    let double = silent().await;
    let (channel, path) = place(&double);
    let made = say(&double, json!({ "content": "before" })).await;
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    let body = json!({ "content": "after" });
    double.deny_send(channel);
    assert_eq!(refused(&double, "POST", &path, &body).await, (403, 50_013, String::new()));
    assert_eq!(call(&double, "PATCH", &one, &body).await.status, Some(200), "it may still change its own");
    double.deny_access(channel);
    for (method, path) in
        [("POST", &path), ("PATCH", &one), ("GET", &one), ("GET", &path), ("GET", &format!("/channels/{channel}"))]
    {
        assert_eq!(refused(&double, method, path, &body).await, (403, 50_001, String::new()), "{method} {path}");
    }
    let other = format!("/channels/{}/messages", double.channels()[1]);
    assert_eq!(call(&double, "POST", &other, &body).await.status, Some(200));
    double.allow(channel);
    assert_eq!(call(&double, "POST", &path, &body).await.status, Some(200));
}

#[tokio::test]
async fn people_are_found_by_the_beginning_of_their_names() {
    let double = silent().await;
    let guild = double.guilds()[0];
    let search = async |query: &str| {
        call(&double, "GET", &format!("/guilds/{guild}/members/search?{query}"), &Value::Null).await
    };
    let names = async |query: &str| {
        let found = search(query).await.json();
        let name = |member: &Value| member["user"]["username"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names("query=juno").await, ["juno.example.0"], "one unless more are asked for");
    assert_eq!(names("query=JUNO.S&limit=1000").await, ["juno.sample.8"]);
    let nicked = search("query=lin%20the%207&limit=5").await.json();
    assert_eq!((&nicked[0]["nick"], &nicked[0]["user"]["username"]), (&json!("Lin the 7th"), &json!("lin.example.7")));
    assert_eq!(names("query=nobody").await, Vec::<String>::new());
    for (query, expected) in [
        ("", "BASE_TYPE_REQUIRED"),
        ("query=", "BASE_TYPE_REQUIRED"),
        ("query=a&limit=0", "NUMBER_TYPE_MIN"),
        ("query=a&limit=1001", "NUMBER_TYPE_MAX"),
    ] {
        let answer = search(query).await;
        assert!(answer.json()["errors"].to_string().contains(expected), "{query}");
    }
    assert_eq!(refused(&double, "GET", "/guilds/5/members/search?query=a", &Value::Null).await.1, 10_004);
}

#[tokio::test]
async fn roles_and_users_are_shown() {
    let double = silent().await;
    let guild = double.guilds()[0];
    let roles = call(&double, "GET", &format!("/guilds/{guild}/roles"), &Value::Null).await.json();
    assert_eq!((&roles[0]["id"], &roles[0]["name"]), (&json!(guild), &json!("@everyone")));
    let others: Vec<_> = roles.as_array().unwrap()[1..].iter().map(|role| role["id"].clone()).collect();
    assert_eq!(json!(others), json!(double.roles(guild)));
    assert_eq!((&roles[1]["mentionable"], &roles[2]["mentionable"]), (&json!(true), &json!(false)));
    let somebody = double.authors()[1];
    let user = call(&double, "GET", &format!("/users/{somebody}"), &Value::Null).await.json();
    assert_eq!((&user["id"], &user["global_name"]), (&json!(somebody), &json!("Sam Example")));
    assert_eq!(refused(&double, "GET", "/users/5", &Value::Null).await, (404, 10_013, String::new()));
    assert_eq!(refused(&double, "GET", "/guilds/5/roles", &Value::Null).await.1, 10_004);
}

#[tokio::test]
async fn the_log_says_of_every_request_what_became_of_it() {
    let double = silent().await;
    let (channel, path) = place(&double);
    let body = json!({ "content": "once", "nonce": "n1", "enforce_nonce": true });
    let made = say(&double, body.clone()).await;
    say(&double, body).await;
    refused(&double, "POST", &path, &json!({ "content": "", "nonce": "n2" })).await;
    let entries = double.log().snapshot();
    let lines: Vec<Value> = entries.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect();
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["listening", "created", "said", "request", "request", "request"]);
    let said = json!({ "channel": channel, "message": made["id"], "nonce": "n1", "content": "once" });
    for (name, value) in said.as_object().unwrap() {
        assert_eq!(&lines[2][name], value, "{name}");
    }
    let facts = |line: &Value| {
        (line["nonce"].clone(), line["carried_out"].clone(), line["message"].clone(), line["status"].clone())
    };
    assert_eq!(facts(&lines[3]), (json!("n1"), json!(true), made["id"].clone(), json!(200)));
    assert_eq!(facts(&lines[4]), facts(&lines[3]), "the same message, not a second one");
    assert_eq!(facts(&lines[5]), (json!("n2"), json!(false), Value::Null, json!(400)));
    assert!(lines[3]["bucket"].as_str().unwrap().ends_with(&format!(":channels/{channel}")));
    assert_eq!(lines[3]["ending"], "answered");
}
