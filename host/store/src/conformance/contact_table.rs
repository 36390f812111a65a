//! Look-ups against the contacts of `tests/contact_resolution.json`: through `resolve` where there is one key, through a
//! commit where there are several.

use std::collections::HashMap;

use jackfield_model::contact::{Reference, Resolution};
use jackfield_model::{Sender, Subject};
use serde::Deserialize;

use crate::conformance::contact::{create, load, platform, says};
use crate::conformance::sample::{person, space};
use crate::conformance::{Backend, Bed};
use crate::contact::Draft;

const TABLE: &str = include_str!("../../tests/contact_resolution.json");

#[derive(Deserialize)]
struct Table {
    existing: Vec<Existing>,
    lookups: Vec<Lookup>,
}

#[derive(Deserialize)]
struct Existing {
    contact: String,
    email: Option<String>,
    external_id: Option<String>,
    platform: Vec<(String, String)>,
    #[serde(default)]
    deleted: bool,
}

#[derive(Deserialize)]
struct Lookup {
    row: String,
    r#in: Key,
}

#[derive(Deserialize)]
struct Key {
    email: Option<String>,
    external_id: Option<String>,
    platform: Option<(String, String)>,
}

/// The table's contacts, with the ids that the store gave them.
struct People<B> {
    bed: Bed<B>,
    names: HashMap<String, String>,
    table: Table,
}

impl<B: Backend> People<B> {
    async fn of_the_table() -> Self {
        let bed = Bed::<B>::fresh().await;
        let table: Table = serde_json::from_str(TABLE).unwrap();
        let mut names = HashMap::new();
        for existing in &table.existing {
            let ids = existing.platform.iter().map(|(namespace, id)| platform(namespace, id)).collect();
            let (email, external_id) = (existing.email.clone(), existing.external_id.clone());
            let contact = create(&bed, Draft { email, external_id, ids, properties: String::new() }).await;
            if existing.deleted {
                assert!(bed.contacts.delete(&space(), &contact.id).await.unwrap());
            }
            names.insert(contact.id, existing.contact.clone());
        }
        Self { bed, names, table }
    }

    fn name(&self, id: &str) -> String {
        self.names.get(id).cloned().unwrap_or_else(|| "new".to_owned())
    }

    /// Whom a reference means, in the table's names.
    async fn resolve(&self, reference: Reference) -> String {
        match self.bed.contacts.resolve(&space(), &reference).await.unwrap() {
            Resolution::None => "none".to_owned(),
            Resolution::Found(contact) => self.name(&contact.id),
            Resolution::Ambiguous(ids) => {
                assert!(ids.is_sorted(), "smallest first: {ids:?}");
                let mut names: Vec<String> = ids.iter().map(|id| self.name(id)).collect();
                names.sort();
                format!("ambiguous {}", names.join(" "))
            }
        }
    }

    async fn count(&self) -> usize {
        self.bed.contacts.contacts(&space(), "", 100).await.unwrap().len()
    }

    /// What a commit makes of a subject, in the table's names: contact and conflicts.
    async fn says(&self, key: &str, subject: Subject) -> (String, Vec<String>) {
        let record = says(&self.bed, key, subject).await;
        let contact = record.contact.map_or_else(|| "none".to_owned(), |id| self.name(&id));
        let mut conflicts: Vec<String> = record.conflicts.iter().map(|id| self.name(id)).collect();
        conflicts.sort();
        (contact, conflicts)
    }
}

/// Every row of the table: one key through `resolve`, several through a commit.
pub async fn resolution<B: Backend>() {
    let people = People::<B>::of_the_table().await;
    let before = people.count().await;
    for Lookup { row, r#in: Key { email, external_id, platform } } in &people.table.lookups {
        let answer = match (email, external_id, platform) {
            (Some(email), None, None) => people.resolve(Reference::Email(email.clone())).await,
            (None, Some(id), None) => people.resolve(Reference::ExternalId(id.clone())).await,
            (email, external_id, platform) => {
                let ids: Vec<&str> = platform.iter().map(|(_, id)| id.as_str()).collect();
                let keys = Subject {
                    email: email.clone(),
                    email_verified: true,
                    external_id: external_id.clone(),
                    ..person(&ids)
                };
                let (contact, conflicts) = people.says(row, keys).await;
                [vec![contact], conflicts].concat().join(" conflicts with ")
            }
        };
        let wanted = match row.as_str() {
            "case" | "strong_first" => "c1",
            "not_uuid" | "deleted" | "empty" => "none",
            "conflict" => "c1 conflicts with c2",
            other => panic!("what is right for {other}?"),
        };
        assert_eq!(answer, wanted, "{row}");
    }
    assert_eq!(people.count().await, before, "no row makes or merges a contact");
    let c1 = load(&people.bed, Reference::ExternalId("crm-17".to_owned())).await;
    assert_eq!(c1.email.as_deref(), Some("juno@example.com"), "a key is never replaced");
}

/// Keys of a subject against the table: strongest first, only what is vouched for, only who may be looked up.
pub async fn subjects<B: Backend>() {
    let people = People::<B>::of_the_table().await;
    let juno = "620939583227628061";
    let plain = || Subject { may_create: false, ..person(&[]) };
    let mail = |email: &str, email_verified| Subject { email: Some(email.to_owned()), email_verified, ..plain() };
    let external = |id: &str| Subject { external_id: Some(id.to_owned()), ..plain() };
    let ids = |ids: &[&str]| Subject { may_create: false, ..person(ids) };
    let sender = |sender| Subject { sender, may_create: true, ..person(&[juno]) };
    let cases: Vec<(&str, Subject, &str, &[&str])> = vec![
        ("platform id", ids(&[juno]), "c1", &[]),
        ("one known id of two", ids(&["999", juno]), "c1", &[]),
        ("unknown id, not allowed to make one", ids(&["1"]), "none", &[]),
        ("external id", external(" crm-17 "), "c1", &[]),
        ("external id of a deleted contact", external("crm-30"), "none", &[]),
        ("vouched address", mail("SAM+news@Example.ORG", true), "c2", &[]),
        ("address that nobody vouches for", mail("sam+news@example.org", false), "none", &[]),
        ("address of two", mail("team@example.com", true), "none", &["c4", "c5"]),
        (
            "address of two, one of them by a stronger key",
            Subject { external_id: Some("crm-41".into()), ..mail("team@example.com", true) },
            "c4",
            &[],
        ),
        (
            "address of two, both others",
            Subject { ids: vec![juno.into()], ..mail("team@example.com", true) },
            "c1",
            &["c4", "c5"],
        ),
        ("two strong keys", Subject { external_id: Some("crm-41".into()), ..ids(&[juno]) }, "c1", &["c4"]),
        (
            "a claimed address against a strong key",
            Subject { ids: vec![juno.into()], ..mail("sam+news@example.org", false) },
            "c1",
            &[],
        ),
        ("no key at all", person(&["", " "]), "none", &[]),
        ("a bot", sender(Sender::Bot), "none", &[]),
        ("a webhook", sender(Sender::Webhook), "none", &[]),
        ("a channel", sender(Sender::Channel), "none", &[]),
        ("an anonymous sender", sender(Sender::Anonymous), "none", &[]),
        ("the platform itself", sender(Sender::System), "none", &[]),
        ("our own account", Subject { is_self: true, ..person(&[juno]) }, "none", &[]),
        (
            "the display name of somebody",
            Subject { display_name: Some("juno@example.com".into()), ..ids(&["2"]) },
            "none",
            &[],
        ),
    ];
    let before = people.count().await;
    for (case, subject, contact, conflicts) in cases {
        let (found, others) = people.says(case, subject).await;
        assert_eq!(
            (found.as_str(), others),
            (contact, conflicts.iter().map(|&name| name.to_owned()).collect()),
            "{case}"
        );
    }
    assert_eq!(people.count().await, before);
}
