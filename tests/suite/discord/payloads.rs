//! Recorded payloads, all the way: from the gateway into the event log. What a payload means in every detail is tested beside
//! the connector; here, that this is what arrives.

use std::fs;
use std::path::Path;

use jackfield_testkit::discord::Script;
use jackfield_tests::discord::Scene;
use serde_json::Value;

use super::{named, ready};

fn text(name: &str) -> String {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins/discord/fixtures"));
    fs::read_to_string(folder.join(name)).unwrap()
}

fn frame(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// Sends a recorded frame.
fn send(scene: &Scene, name: &str) {
    let frame = frame(name);
    scene.dispatch(frame["t"].as_str().unwrap(), &frame["d"]);
}

/// Everything from the log once there are so many events beyond those of the start.
fn events(scene: &Scene, name: &str, count: usize) -> Vec<Value> {
    scene.home.wait(name, |_| named(&scene.home.events(), name).len() >= count);
    scene.home.events()
}

#[test]
fn fixture_03_a_message() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    send(&scene, "discord/03_message_create_guild.json");
    let events = events(&scene, "message.created", 1);
    let event = named(&events, "message.created")[0];
    let expected = &frame("discord/03_message_create_guild.expected.json")["expect"];
    assert_eq!(event["occurred_at"], 1_770_128_116_171_u64, "{event:#}");
    assert!(
        expected["dedupe_key"].as_str().unwrap().contains(event["key"].as_str().unwrap().rsplit(':').next().unwrap())
    );
    assert_eq!(event["location"]["room"], expected["conversation"]["id"]);
    assert_eq!(event["location"]["account"], expected["conversation"]["guild"]);
    assert_eq!(event["subject"]["ids"][0], expected["sender"]["id"]);
    assert_eq!(event["subject"]["display_name"], expected["sender"]["display"]);
    assert!(event.to_string().contains(expected["text_contains"].as_str().unwrap()));
}

/// An edit is an event of its own, once; an embed that turns up changes no text.
#[test]
fn report_d9_fixture_09_fixture_11_updates() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    send(&scene, "discord/03_message_create_guild.json");
    send(&scene, "discord/09_message_update_embed_only.json");
    send(&scene, "discord/11_message_update_edit.json");
    let events = events(&scene, "message.edited", 1);
    let (created, edited) = (named(&events, "message.created"), named(&events, "message.edited"));
    assert_eq!((created.len(), edited.len()), (1, 1), "{events:#?}");
    assert_eq!(edited[0]["refers_to"], created[0]["key"]);
    assert_ne!(edited[0]["key"], created[0]["key"]);
    assert!(events.iter().all(|event| event["name"] != "message.edited" || event["properties"]["text"] != ""));
}

/// Five messages whose text Discord withholds: five events that say so, one notice, no trap.
#[test]
fn report_d14_fixture_05_withheld_content() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    let mut payload = frame("discord/05_message_create_no_content_intent.json")["d"].clone();
    for number in 0..5 {
        payload["id"] = format!("14682484791670700{number:02}").into();
        scene.dispatch("MESSAGE_CREATE", &payload);
    }
    let events = events(&scene, "message.created", 5);
    for event in named(&events, "message.created") {
        assert!(event.to_string().contains("withheld"), "{event:#}");
    }
    let status = scene.home.wait_state("degraded");
    assert_eq!(status["notice"]["code"], "message-content-withheld", "{status:#}");
    assert!(status["notice"]["todo"].as_str().unwrap().contains("Message Content Intent"), "{status:#}");
    assert_eq!(status["counters"]["runtime_traps"], 0);
}

/// A webhook that looks like a person is no person.
#[test]
fn fixture_07_a_webhook_makes_no_contact() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    send(&scene, "discord/07_message_create_webhook.json");
    let events = events(&scene, "message.created", 1);
    let event = named(&events, "message.created")[0];
    assert_eq!(event["subject"]["sender"], "webhook", "{event:#}");
    assert!(event["contact"].is_null(), "{event:#}");
}

/// The token of an interaction answers for the bot: it is in no document that anybody reads.
#[test]
fn fixture_18_an_interaction_without_its_token() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    let frame = frame("discord/18_interaction_button_guild.json");
    let token = frame["d"]["token"].as_str().unwrap();
    send(&scene, "discord/18_interaction_button_guild.json");
    scene.home.wait("the interaction", |_| {
        scene.home.events().iter().any(|event| event["key"].as_str().unwrap().contains("1468250217857006687"))
    });
    let shown =
        serde_json::to_string(&scene.home.events()).unwrap() + &scene.home.status().to_string() + &scene.home.log();
    assert!(!shown.contains(token));
}

/// A dispatch that nobody knows is counted, and nothing else happens.
#[test]
fn fixture_21_an_unknown_dispatch() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    send(&scene, "discord/21_unknown_dispatch.json");
    scene.post(0, "and on it goes");
    let events = events(&scene, "message.created", 1);
    assert_eq!(named(&events, "message.created").len(), 1);
    let status = scene.home.connection();
    assert!(!status["ignored"].as_object().unwrap().is_empty(), "{status:#}");
    assert_eq!((&status["dead_letters"], &status["counters"]["sockets_opened"]), (&Value::from(0), &Value::from(1)));
}

/// Deep JSON inside a message ends nothing: what follows passes, on the same socket.
#[test]
fn deep_payloads_end_nothing() {
    let scene = Scene::new(Script::silent());
    let _host = ready(&scene);
    // As deep as the double's own JSON goes; 200 levels are tested beside the connector.
    let deep: Value = serde_json::from_str(&format!("{}{}", "[".repeat(100), "]".repeat(100))).unwrap();
    let mut message = frame("discord/03_message_create_guild.json")["d"].clone();
    message["embeds"] = deep;
    scene.dispatch("MESSAGE_CREATE", &message);
    scene.post(0, "after it");
    let _events = events(&scene, "message.created", 1);
    scene.home.wait("settled", |connection| connection["unsettled"] == 0);
    let status = scene.home.connection();
    assert_eq!(status["counters"]["sockets_opened"], 1, "{status:#}");
}
