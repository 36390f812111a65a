//! `contacts`: list, resolve.

use std::process::ExitCode;

use super::arguments::{Contacts, Reference, Scope};
use super::exit::Failure;
use super::printer::Printer;
use super::table::table;
use crate::admin::Client;
use crate::admin::contacts::{self as wire, Answer, ContactDocument, Meant, Question, Wanted};
use crate::text;

pub(super) async fn run(host: &Client, command: Contacts, printer: &Printer) -> Result<ExitCode, Failure> {
    match command {
        Contacts::List { scope: Scope { space, connection }, after, limit } => {
            let wanted = Wanted { space, connection, after, limit: usize::try_from(limit).unwrap_or(usize::MAX) };
            let list: wire::Contacts = host.get("/v0/contacts", &wanted).await?;
            printer.result(&list, || match list.contacts.as_slice() {
                [] => format!("no contacts in {}", list.space),
                contacts => rows(contacts),
            })?;
        }
        Contacts::Resolve { scope: Scope { space, connection }, reference } => {
            let question = Question { scope: wire::Scope { space, connection }, reference: meant(reference) };
            let answer: Answer = host.post("/v0/contacts/resolve", &question).await?;
            printer.result(&answer, || match (&answer.contact, answer.candidates.as_slice()) {
                (Some(contact), _) => rows(std::slice::from_ref(contact)),
                (None, []) => format!("nobody in {}", answer.space),
                (None, candidates) => format!("ambiguous in {}: {}", answer.space, candidates.join(", ")),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn meant(reference: Reference) -> Meant {
    match reference {
        Reference { email: Some(email), .. } => Meant::Email(email),
        Reference { external_id: Some(id), .. } => Meant::ExternalId(id),
        Reference { platform: Some(id), .. } => Meant::Platform(id),
        Reference { text, .. } => Meant::Text(text.unwrap_or_default()),
    }
}

fn rows(contacts: &[ContactDocument]) -> String {
    let row = |contact: &ContactDocument| {
        let ids: Vec<String> = contact.ids.iter().map(|id| format!("{}:{}", id.namespace, id.id)).collect();
        vec![
            contact.id.clone(),
            contact.email.clone().unwrap_or_default(),
            contact.external_id.clone().unwrap_or_default(),
            ids.join(" "),
            text::line(contact.properties.get(), usize::MAX),
        ]
    };
    table(&["ID", "EMAIL", "EXTERNAL ID", "PLATFORM IDS", "PROPERTIES"], &contacts.iter().map(row).collect::<Vec<_>>())
}
