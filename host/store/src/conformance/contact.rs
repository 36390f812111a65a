//! People: found by key, made only when they may be, never merged, never revived.

use std::sync::Arc;

use jackfield_model::contact::{Contact, Reference, Resolution};
use jackfield_model::{PlatformId, Space, Subject};

use crate::conformance::bed::done;
use crate::conformance::sample::{batch, connection, person, said_by, space};
use crate::conformance::{Backend, Bed, End};
use crate::contact::{Created, Draft};
use crate::event::Record;

pub(super) fn platform(namespace: &str, id: &str) -> PlatformId {
    PlatformId { namespace: namespace.to_owned(), id: id.to_owned() }
}

pub(super) async fn create<B: Backend>(bed: &Bed<B>, draft: Draft) -> Contact {
    match bed.contacts.create(&space(), draft).await.unwrap() {
        Created::New(contact) => contact,
        Created::Taken { contact, key } => panic!("{contact} has its {key}"),
    }
}

/// The record of an event about this subject.
pub(super) async fn says<B: Backend>(bed: &Bed<B>, key: &str, subject: Subject) -> Record {
    let receipt = done(bed.try_commit(batch(&connection(), vec![said_by(key, subject)]), None).await);
    let record = bed.events.newest(&crate::event::Filter::default(), 1).await.unwrap().remove(0);
    assert_eq!(record.event.key, key);
    assert_eq!(receipt.conflicts, u32::from(!record.conflicts.is_empty()));
    record
}

pub(super) async fn load<B: Backend>(bed: &Bed<B>, reference: Reference) -> Contact {
    match bed.contacts.resolve(&space(), &reference).await.unwrap() {
        Resolution::Found(contact) => contact,
        other => panic!("{reference:?} means {other:?}"),
    }
}

/// A conflict is on the event; neither contact gets anything of the other, nor of the event.
pub async fn conflicts_through_a_commit<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let draft = |external_id: &str, id: &str| Draft {
        external_id: Some(external_id.to_owned()),
        ids: vec![platform("discord", id)],
        properties: r#"{"plan":"old"}"#.to_owned(),
        ..Draft::default()
    };
    let (one, two) = (create(&bed, draft("crm-1", "11")).await, create(&bed, draft("crm-2", "22")).await);
    let subject = Subject {
        external_id: Some("crm-2".to_owned()),
        email: Some("new@example.com".to_owned()),
        email_verified: true,
        properties: r#"{"plan":"new"}"#.to_owned(),
        ..person(&["11", "33"])
    };
    let record = says(&bed, "k", subject).await;
    assert_eq!((record.contact.as_deref(), &record.conflicts), (Some(one.id.as_str()), &vec![two.id.clone()]));
    assert_eq!(load(&bed, Reference::Platform(platform("discord", "11"))).await, one);
    assert_eq!(load(&bed, Reference::Platform(platform("discord", "22"))).await, two);
    for free in [Reference::Platform(platform("discord", "33")), Reference::Email("new@example.com".to_owned())] {
        assert_eq!(bed.contacts.resolve(&space(), &free).await.unwrap(), Resolution::None, "{free:?}");
    }
}

/// One normal form for creating, finding and matching; what was given is kept.
pub async fn normal_forms<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let ids = vec![platform("discord", " 42 ")];
    let (email, external_id) = (Some(" Juno@Example.COM ".to_owned()), Some(" CRM-17 ".to_owned()));
    let made = create(&bed, Draft { email, external_id, ids, properties: String::new() }).await;
    assert_eq!((made.email.as_deref(), made.properties.as_str()), (Some(" Juno@Example.COM "), "{}"));
    let text = |text: &str, namespace: Option<&str>| Reference::Text {
        text: text.to_owned(),
        namespace: namespace.map(str::to_owned),
    };
    for (reference, found) in [
        (Reference::Email("juno@example.com".to_owned()), true),
        (Reference::Email("JUNO@example.com\t".to_owned()), true),
        (Reference::Email("juno@example.co".to_owned()), false),
        (Reference::ExternalId("CRM-17".to_owned()), true),
        (Reference::ExternalId("crm-17".to_owned()), false),
        (Reference::Platform(platform("discord", "42")), true),
        (Reference::Platform(platform("slack", "42")), false),
        (text("JUNO@EXAMPLE.COM", None), true),
        (text("CRM-17", None), true),
        (text("42", None), false),
        (text("42", Some("discord")), true),
        (text("", Some("discord")), false),
    ] {
        let answer = bed.contacts.resolve(&space(), &reference).await.unwrap();
        assert_eq!(answer == Resolution::Found(made.clone()), found, "{reference:?}: {answer:?}");
    }
    // One text, read as an address before it is read as an id.
    let rival = Draft { external_id: Some("juno@example.com".to_owned()), ..Draft::default() };
    create(&bed, rival).await;
    assert_eq!(load(&bed, text("juno@example.com", None)).await, made);
}

/// A deleted contact stays deleted, never matches, and blocks nothing.
pub async fn deletion<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let draft = || Draft {
        email: Some("ops@example.com".to_owned()),
        external_id: Some("crm-30".to_owned()),
        ids: vec![platform("discord", "30")],
        properties: r#"{"since":2020}"#.to_owned(),
    };
    let old = create(&bed, draft()).await;
    let known = says(&bed, "before", person(&["30"])).await;
    assert_eq!(known.contact.as_deref(), Some(old.id.as_str()));
    let elsewhere: Space = "elsewhere".parse().unwrap();
    assert!(!bed.contacts.delete(&elsewhere, &old.id).await.unwrap());
    assert!(bed.contacts.delete(&space(), &old.id).await.unwrap());
    assert!(!bed.contacts.delete(&space(), &old.id).await.unwrap(), "a second time");
    assert!(!bed.contacts.delete(&space(), "c_nobody").await.unwrap());
    let bed = bed.reopen(End::Killed).await;
    for reference in [
        Reference::Email("ops@example.com".to_owned()),
        Reference::ExternalId("crm-30".to_owned()),
        Reference::Platform(platform("discord", "30")),
    ] {
        assert_eq!(bed.contacts.resolve(&space(), &reference).await.unwrap(), Resolution::None, "{reference:?}");
    }
    assert_eq!(bed.contacts.contacts(&space(), "", 10).await.unwrap(), []);
    assert_eq!(says(&bed, "observed", Subject { may_create: false, ..person(&["30"]) }).await.contact, None);
    let new = create(&bed, draft()).await;
    assert_ne!(new.id, old.id);
    assert_eq!(says(&bed, "after", person(&["30"])).await.contact, Some(new.id.clone()));
    assert_eq!(bed.log().await[0].contact.as_deref(), Some(old.id.as_str()), "what happened stays");
    // The same by a message: made anew, with nothing of the old one.
    assert!(bed.contacts.delete(&space(), &new.id).await.unwrap());
    let third = says(&bed, "again", person(&["30"])).await.contact.unwrap();
    let third = bed.contacts.contacts(&space(), "", 10).await.unwrap().into_iter().find(|contact| contact.id == third);
    let third = third.unwrap();
    assert_eq!((third.email, third.properties.as_str(), third.ids), (None, "{}", vec![platform("discord", "30")]));
}

/// The first messages of one new sender, all at once: one contact, and every event is linked to it.
pub async fn first_messages_in_parallel<B: Backend>() {
    let bed = Arc::new(Bed::<B>::fresh().await);
    let tasks: Vec<_> = (0..8)
        .map(|at| {
            let bed = Arc::clone(&bed);
            tokio::spawn(async move {
                let id = format!("c{}", at % 2).parse().unwrap();
                let said = said_by(&format!("k{at}"), person(&["77"]));
                done(bed.try_commit(batch(&id, vec![said]), None).await)
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let contacts = bed.contacts.contacts(&space(), "", 10).await.unwrap();
    assert_eq!(contacts.len(), 1);
    let linked = bed.log().await.into_iter().map(|record| record.contact).collect::<Vec<_>>();
    assert_eq!(linked, vec![Some(contacts[0].id.clone()); 8]);
}

/// Ids are text, whatever they look like: an odd one is not found, never an error.
pub async fn ids_are_text<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let dashes = "-".repeat(36);
    let long = "9".repeat(10_000);
    let odd = [
        "",
        "null",
        "not-a-uuid",
        dashes.as_str(),
        "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "{6f9619ff-8b86-d011-b42d-00c04fc964ff}",
        "' OR 1=1 --",
        "%",
        "a\u{0}b",
        long.as_str(),
    ];
    for id in odd {
        for reference in [
            Reference::Email(id.to_owned()),
            Reference::ExternalId(id.to_owned()),
            Reference::Platform(platform("discord", id)),
            Reference::Text { text: id.to_owned(), namespace: Some("discord".to_owned()) },
        ] {
            assert_eq!(bed.contacts.resolve(&space(), &reference).await.unwrap(), Resolution::None, "{reference:?}");
        }
    }
    for id in odd.into_iter().filter(|id| !id.is_empty()) {
        let made = create(&bed, Draft { external_id: Some(id.to_owned()), ..Draft::default() }).await;
        assert_eq!(load(&bed, Reference::ExternalId(id.to_owned())).await, made);
    }
}

/// What a match adds: free keys and properties, nothing else.
pub async fn upserts<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let start = Subject { properties: r#"{"name":"Juno","lang":"en"}"#.to_owned(), ..person(&["1"]) };
    says(&bed, "made", start).await;
    let whole = |contact: Contact| {
        let properties: serde_json::Value = serde_json::from_str(&contact.properties).unwrap();
        let ids: Vec<String> = contact.ids.into_iter().map(|id| id.id).collect();
        (contact.email, contact.external_id, ids, properties)
    };
    let more = Subject {
        email: Some("J@example.com".to_owned()),
        email_verified: true,
        external_id: Some("crm-1".to_owned()),
        properties: r#"{"lang":"de","tz":"CET"}"#.to_owned(),
        may_create: false,
        ..person(&["1", "2"])
    };
    says(&bed, "more", more.clone()).await;
    let other =
        Subject { email: Some("k@example.com".to_owned()), external_id: Some("crm-2".to_owned()), ..more.clone() };
    says(&bed, "other keys", Subject { properties: "[]".to_owned(), ..other }).await;
    let claimed = Subject { email: Some("x@example.com".to_owned()), ..person(&["9"]) };
    says(&bed, "claimed", claimed).await;
    let bed = bed.reopen(End::Killed).await;
    let juno = load(&bed, Reference::Platform(platform("discord", "2"))).await;
    let wanted = serde_json::json!({"name": "Juno", "lang": "de", "tz": "CET"});
    let ids = vec!["1".to_owned(), "2".to_owned()];
    assert_eq!(whole(juno), (Some("J@example.com".to_owned()), Some("crm-1".to_owned()), ids, wanted));
    for free in [Reference::Email("x@example.com".to_owned()), Reference::ExternalId("crm-2".to_owned())] {
        assert_eq!(bed.contacts.resolve(&space(), &free).await.unwrap(), Resolution::None, "{free:?}");
    }
    // What is late is older than what is there.
    let older = Subject { properties: r#"{"lang":"fr","born":1990}"#.to_owned(), ..person(&["1"]) };
    let late = crate::commit::Settled { late: true, ..said_by("late", older) };
    done(bed.try_commit(batch(&connection(), vec![late]), None).await);
    let juno = load(&bed, Reference::Platform(platform("discord", "1"))).await;
    assert_eq!(whole(juno).3, serde_json::json!({"name": "Juno", "lang": "de", "tz": "CET", "born": 1990}));
}

/// A draft with somebody's unique key makes nothing and says whose it is; an address may be shared.
pub async fn taken_keys<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let full = Draft {
        email: Some("a@example.com".to_owned()),
        external_id: Some("crm-1".to_owned()),
        ids: vec![platform("discord", "1"), platform("slack", "1")],
        properties: String::new(),
    };
    let made = create(&bed, full.clone()).await;
    for (case, draft, key) in [
        ("external id", Draft { ids: Vec::new(), ..full.clone() }, "external_id"),
        ("platform id", Draft { external_id: None, ids: vec![platform("slack", " 1")], ..full.clone() }, "platform_id"),
    ] {
        let taken = Created::Taken { contact: made.id.clone(), key };
        assert_eq!(bed.contacts.create(&space(), draft).await.unwrap(), taken, "{case}");
    }
    assert_eq!(bed.contacts.contacts(&space(), "", 10).await.unwrap().len(), 1);
    let shared = Draft { email: full.email, ..Draft::default() };
    let second = create(&bed, shared).await;
    let mut both = vec![made.id, second.id];
    both.sort();
    let email = Reference::Email("A@example.com".to_owned());
    assert_eq!(bed.contacts.resolve(&space(), &email).await.unwrap(), Resolution::Ambiguous(both.clone()));
    let page: Vec<String> =
        bed.contacts.contacts(&space(), &both[0], 1).await.unwrap().into_iter().map(|c| c.id).collect();
    assert_eq!(page, both[1..]);
    let wrong = Draft { properties: "[1]".to_owned(), ..Draft::default() };
    assert!(bed.contacts.create(&space(), wrong).await.is_err(), "properties are an object");
}

/// Spaces share nothing; connections of one space share everything.
pub async fn spaces_are_apart<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let elsewhere: Space = "elsewhere".parse().unwrap();
    let mut there = batch(&connection(), vec![said_by("there", person(&["1"]))]);
    there.space = elsewhere.clone();
    done(bed.try_commit(there, None).await);
    done(bed.try_commit(batch(&"c1".parse().unwrap(), vec![said_by("here", person(&["1"]))]), None).await);
    done(bed.try_commit(batch(&"c2".parse().unwrap(), vec![said_by("here", person(&["1"]))]), None).await);
    let linked: Vec<Option<String>> = bed.log().await.into_iter().map(|record| record.contact).collect();
    assert_eq!(linked[1], linked[2]);
    assert_ne!(linked[0], linked[1]);
    for at in [&space(), &elsewhere] {
        assert_eq!(bed.contacts.contacts(at, "", 10).await.unwrap().len(), 1, "{at}");
    }
}
