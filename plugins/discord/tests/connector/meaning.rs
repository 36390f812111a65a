//! What dispatches mean, beyond the recorded ones: one row each.

use jackfield_sdk::transform::{Answer, Received};
use jackfield_sdk::{Dispatch, Event, Recurrence, Sender, Transport};
use serde_json::{Value, json};

const RECEIVED_AT: u64 = 1_770_128_200_000;
const CONTEXT: &str = r#"{"self":"1","app":"2","session":"abc","seq":42}"#;

fn answer_in(context: &str, kind: &str, payload: Value) -> Answer {
    let dispatch = Dispatch {
        kind: kind.to_owned(),
        payload: json!({ "op": 0, "t": kind, "s": 42, "d": payload }).to_string().into(),
        lane: "session".to_owned(),
        context: context.to_owned(),
    };
    jackfield_discord::transform::answer(&Received { dispatch, via: Transport::Socket, received_at: RECEIVED_AT })
}

#[track_caller]
fn event(kind: &str, payload: Value) -> Event {
    match answer_in(CONTEXT, kind, payload) {
        Answer::Events(mut events) if events.len() == 1 => events.remove(0),
        other => panic!("{kind}: {other:?}"),
    }
}

#[track_caller]
fn ignored(kind: &str, payload: Value, reason: &str) {
    assert_eq!(answer_in(CONTEXT, kind, payload), Answer::Ignored(reason.to_owned()), "{kind}");
}

fn properties(event: &Event) -> Value {
    serde_json::from_str(&event.properties).unwrap()
}

#[test]
fn a_direct_message_is_at_a_peer() {
    let event =
        event("MESSAGE_CREATE", json!({ "id": "9", "channel_id": "7", "content": "hi", "author": { "id": "3" } }));
    let location = event.location.unwrap();
    assert_eq!((location.peer.as_deref(), location.room, location.account), (Some("7"), None, None));
}

#[test]
fn a_message_in_a_thread_says_so() {
    let message = json!({ "id": "9", "channel_id": "7", "guild_id": "8", "channel_type": 11, "content": "hi" });
    assert_eq!(event("MESSAGE_CREATE", message).location.unwrap().thread.as_deref(), Some("7"));
}

#[test]
fn a_reply_answers_a_message() {
    let message = json!({
        "id": "9", "channel_id": "7", "type": 19, "content": "yes", "author": { "id": "3" },
        "message_reference": { "message_id": "5", "channel_id": "7" },
    });
    let event = event("MESSAGE_CREATE", message);
    assert_eq!(event.refers_to.as_deref(), Some("7:5"));
    assert_eq!(properties(&event)["message_type"], 19);
}

#[test]
fn own_posts_are_ignored_and_own_webhooks_are_ourselves() {
    let own = json!({ "id": "9", "channel_id": "7", "content": "hi", "author": { "id": "1", "bot": true } });
    ignored("MESSAGE_CREATE", own.clone(), "own-message");
    ignored("MESSAGE_UPDATE", own, "own-message");
    let theirs = json!({
        "id": "9", "channel_id": "7", "guild_id": "8", "content": "hi", "webhook_id": "4", "application_id": "5",
        "author": { "id": "4", "username": "Juno Example", "bot": true },
    });
    let subject = event("MESSAGE_CREATE", theirs).subject.unwrap();
    assert_eq!((subject.sender, subject.is_self, subject.may_create), (Sender::Webhook, false, false));
}

#[test]
fn senders_are_told_apart() {
    for (author, kind, sender, may_create) in [
        (json!({ "id": "3" }), 0, Sender::Person, true),
        (json!({ "id": "3", "bot": true }), 0, Sender::Bot, false),
        (json!({ "id": "3", "system": true }), 0, Sender::System, false),
        (json!({ "id": "3" }), 7, Sender::System, false),
    ] {
        let message = json!({ "id": "9", "channel_id": "7", "content": "hi", "type": kind, "author": author });
        let subject = event("MESSAGE_CREATE", message).subject.unwrap();
        assert_eq!((subject.sender, subject.may_create), (sender, may_create), "{author}");
    }
}

#[test]
fn absent_is_not_empty() {
    let bare = event("MESSAGE_CREATE", json!({ "id": "9", "channel_id": "7" }));
    assert!(properties(&bare).get("text").is_none());
    assert_eq!(bare.occurred_at, RECEIVED_AT);
    assert_eq!(bare.subject, None);
    let empty = json!({
        "id": "9", "channel_id": "7", "guild_id": "8", "content": "", "author": { "id": "3" },
        "attachments": [{ "id": "5", "filename": "a.png", "size": 3, "content_type": "image/png", "url": "https://x/a" }],
    });
    let empty = properties(&event("MESSAGE_CREATE", empty));
    assert_eq!(empty["text"], "");
    assert!(empty.get("content_withheld").is_none());
    assert_eq!(
        empty["attachments"],
        json!([{ "id": "5", "filename": "a.png", "content_type": "image/png", "size": 3, "url": "https://x/a" }])
    );
}

#[test]
fn removals_have_keys_of_their_own() {
    let one = event("MESSAGE_DELETE", json!({ "id": "9", "channel_id": "7", "guild_id": "8" }));
    assert_eq!((one.key.as_str(), one.refers_to.as_deref()), ("7:9:deleted", Some("7:9")));
    let bulk =
        answer_in(CONTEXT, "MESSAGE_DELETE_BULK", json!({ "ids": ["9", "10"], "channel_id": "7", "guild_id": "8" }));
    let Answer::Events(bulk) = bulk else { panic!("{bulk:?}") };
    let keys: Vec<&str> = bulk.iter().map(|event| event.key.as_str()).collect();
    assert_eq!(keys, ["7:9:deleted", "7:10:deleted"]);
}

#[test]
fn reactions_are_named_by_where_they_came() {
    let reaction = json!({
        "message_id": "9", "channel_id": "7", "guild_id": "8", "user_id": "3", "emoji": { "id": null, "name": "👍" },
        "member": { "nick": "Ju", "user": { "id": "3", "username": "juno" } },
    });
    let added = event("MESSAGE_REACTION_ADD", reaction.clone());
    assert_eq!((added.name.as_str(), added.key.as_str()), ("reaction.added", "7:9:reaction:abc:42"));
    assert_eq!((added.recurrence, added.occurred_at), (Recurrence::Once, RECEIVED_AT));
    assert_eq!(added.refers_to.as_deref(), Some("7:9"));
    assert_eq!(properties(&added), json!({ "emoji": { "name": "👍" } }));
    assert_eq!(added.subject.unwrap().display_name.as_deref(), Some("Ju"));
    assert_eq!(event("MESSAGE_REACTION_REMOVE", reaction).name, "reaction.removed");
    let all = event("MESSAGE_REACTION_REMOVE_ALL", json!({ "message_id": "9", "channel_id": "7", "guild_id": "8" }));
    assert_eq!((all.name.as_str(), properties(&all)), ("reaction.removed", json!({ "all": true })));
    ignored("MESSAGE_REACTION_ADD", json!({ "message_id": "9", "channel_id": "7", "user_id": "1" }), "own-reaction");
    let unnamed = answer_in(r#"{"self":"1"}"#, "MESSAGE_REACTION_ADD", json!({ "message_id": "9", "user_id": "3" }));
    assert!(matches!(unnamed, Answer::Malformed(_)), "two of them would have one key: {unnamed:?}");
}

#[test]
fn members_come_change_and_go() {
    let member = json!({
        "guild_id": "8", "user": { "id": "3", "username": "juno" }, "joined_at": "2026-02-03T14:25:00.000000+00:00",
        "roles": ["5"],
    });
    let joined = event("GUILD_MEMBER_ADD", member.clone());
    assert_eq!(joined.key, "8:3:joined:2026-02-03T14:25:00Z");
    assert_eq!(joined.occurred_at, 1_770_128_700_000);
    assert!(joined.subject.unwrap().may_create);
    let updated = event("GUILD_MEMBER_UPDATE", member);
    assert_eq!(updated.key, "8:3:updated:abc:42");
    assert_eq!(properties(&updated)["roles"], json!(["5"]));
    assert!(!updated.subject.unwrap().may_create, "mere observation");
    let left = event("GUILD_MEMBER_REMOVE", json!({ "guild_id": "8", "user": { "id": "3" } }));
    assert_eq!((left.name.as_str(), left.key.as_str()), ("member.left", "8:3:left:abc:42"));
    ignored("GUILD_MEMBER_REMOVE", json!({ "guild_id": "8", "user": { "id": "1" } }), "own-member");
}

#[test]
fn guilds_are_new_only_when_they_are() {
    let guild = json!({ "id": "8", "name": "G", "joined_at": "2026-02-03T14:25:00.000000+00:00", "member_count": 3 });
    let added = event("GUILD_CREATE", guild.clone());
    assert_eq!((added.name.as_str(), added.key.as_str()), ("installation.added", "guild:8:added:2026-02-03T14:25:00Z"));
    let startup = r#"{"self":"1","session":"abc","seq":2,"startup":true}"#;
    assert_eq!(answer_in(startup, "GUILD_CREATE", guild), Answer::Ignored("guild-state".to_owned()));
    assert_eq!(event("GUILD_DELETE", json!({ "id": "8" })).name, "installation.removed");
    ignored("GUILD_DELETE", json!({ "id": "8", "unavailable": true }), "guild-unavailable");
}

#[test]
fn conversations_begin_and_end() {
    let channel = json!({ "id": "175928847299117063", "guild_id": "8", "type": 0, "name": "general" });
    let created = event("CHANNEL_CREATE", channel);
    assert_eq!((created.name.as_str(), created.occurred_at), ("conversation.created", 1_462_015_105_796));
    let thread = json!({ "id": "11", "guild_id": "8", "type": 11, "parent_id": "7", "newly_created": true });
    let location = event("THREAD_CREATE", thread.clone()).location.unwrap();
    assert_eq!((location.room.as_deref(), location.thread.as_deref()), (Some("7"), Some("11")));
    let mut old = thread.clone();
    old["newly_created"] = Value::Null;
    ignored("THREAD_CREATE", old, "thread-state");
    let left = event("THREAD_DELETE", thread);
    assert_eq!((left.name.as_str(), left.refers_to.as_deref()), ("conversation.left", Some("channel:11")));
}

#[test]
fn interactions_say_what_was_chosen_and_never_the_token() {
    let command = json!({
        "id": "9", "type": 2, "token": "t0ken-canary", "channel_id": "7", "user": { "id": "3", "username": "juno" },
        "data": { "name": "remind", "options": [
            { "name": "in", "type": 1, "options": [
                { "name": "minutes", "type": 4, "value": 9_007_199_254_740_993_u64 },
                { "name": "what", "type": 3, "value": "a\u{0}b" },
            ] },
        ] },
    });
    let event_ = event("INTERACTION_CREATE", command);
    let said = properties(&event_);
    assert_eq!(event_.subject.as_ref().unwrap().ids, ["3"], "outside a guild the user stands alone");
    assert_eq!((&said["interaction"], &said["command"]), (&json!("command"), &json!("remind")));
    assert_eq!(said["options"][0]["options"][0]["value"].to_string(), "9007199254740993");
    assert_eq!(said["options"][0]["options"][1]["value"], "a\u{fffd}b");
    assert_eq!(said["sanitized"], true);
    assert!(!format!("{event_:?}").contains("canary"));
    let form = json!({
        "id": "9", "type": 5, "token": "t0ken-canary", "user": { "id": "3" },
        "data": { "custom_id": "f", "components": [
            { "type": 1, "components": [{ "custom_id": "why", "value": "because" }] },
            { "type": 18, "component": { "custom_id": "which", "values": ["a", "b"] } },
        ] },
    });
    let fields = properties(&event("INTERACTION_CREATE", form))["fields"].clone();
    assert_eq!(
        fields,
        json!([{ "custom_id": "why", "value": "because" }, { "custom_id": "which", "values": ["a", "b"] }])
    );
}

#[test]
fn a_checkbox_is_a_flag_among_the_fields() {
    let form = json!({
        "id": "9", "type": 5, "token": "t0ken-canary", "user": { "id": "3" },
        "data": { "custom_id": "f", "components": [
            { "type": 18, "component": { "type": 23, "custom_id": "ok", "value": true } },
            { "type": 18, "component": { "type": 21, "custom_id": "one", "value": null } },
            { "type": 18, "component": { "type": 4, "custom_id": "why", "value": "a\u{0}b" } },
        ] },
    });
    let said = properties(&event("INTERACTION_CREATE", form));
    let fields = json!([{ "custom_id": "ok", "value": true }, { "custom_id": "one" }, { "custom_id": "why", "value": "a\u{fffd}b" }]);
    assert_eq!((&said["fields"], &said["sanitized"]), (&fields, &json!(true)));
}

#[test]
fn a_command_says_what_it_is_about_and_what_is_being_typed() {
    let on_message = json!({
        "id": "9", "type": 2, "user": { "id": "3" },
        "data": { "type": 3, "name": "Report", "target_id": "839760899035176311" },
    });
    assert_eq!(properties(&event("INTERACTION_CREATE", on_message))["target_id"], "839760899035176311");
    let typing = json!({
        "id": "9", "type": 4, "user": { "id": "3" },
        "data": { "name": "remind", "options": [
            { "name": "what", "type": 3, "value": "wa", "focused": true }, { "name": "in", "type": 4, "value": 5 },
        ] },
    });
    let said = properties(&event("INTERACTION_CREATE", typing));
    assert_eq!(
        said["options"],
        json!([{ "name": "what", "value": "wa", "focused": true }, { "name": "in", "value": 5 }])
    );
}

#[test]
fn what_has_no_word_is_ignored_and_what_is_new_is_counted_apart() {
    ignored("TYPING_START", json!({ "channel_id": "7" }), "not-mapped");
    ignored("SOMETHING_NEW_2027", json!(null), "unknown-kind");
}

#[test]
fn numbers_as_ids_are_refused_everywhere() {
    for (kind, payload) in [
        ("MESSAGE_CREATE", json!({ "id": "9", "channel_id": 7 })),
        ("MESSAGE_CREATE", json!({ "id": "9", "author": { "id": 3.5 } })),
        ("MESSAGE_CREATE", json!({ "id": "9", "author": { "id": "+3" } })),
        ("MESSAGE_CREATE", json!({ "id": "18446744073709551616" })),
        ("MESSAGE_DELETE_BULK", json!({ "ids": [9], "channel_id": "7" })),
        ("INTERACTION_CREATE", json!({ "id": -9, "type": 2 })),
    ] {
        let answer = answer_in(CONTEXT, kind, payload.clone());
        assert!(matches!(&answer, Answer::Malformed(reason) if reason.contains("id")), "{payload}: {answer:?}");
    }
}

#[test]
fn what_is_not_what_its_kind_promises_is_malformed() {
    for kind in [
        "MESSAGE_CREATE",
        "MESSAGE_UPDATE",
        "MESSAGE_DELETE",
        "MESSAGE_DELETE_BULK",
        "MESSAGE_REACTION_ADD",
        "MESSAGE_REACTION_REMOVE_ALL",
        "GUILD_MEMBER_ADD",
        "GUILD_MEMBER_REMOVE",
        "GUILD_CREATE",
        "GUILD_DELETE",
        "CHANNEL_CREATE",
        "THREAD_DELETE",
        "INTERACTION_CREATE",
    ] {
        for payload in [json!(null), json!([]), json!("x"), json!({}), json!({ "id": true })] {
            let answer = answer_in(CONTEXT, kind, payload.clone());
            assert!(matches!(answer, Answer::Malformed(_)), "{kind} {payload}: {answer:?}");
        }
    }
}

#[test]
fn a_replay_gives_the_same_event() {
    let reaction = json!({ "message_id": "9", "channel_id": "7", "user_id": "3", "emoji": { "name": "x" } });
    assert_eq!(event("MESSAGE_REACTION_ADD", reaction.clone()), event("MESSAGE_REACTION_ADD", reaction));
}
