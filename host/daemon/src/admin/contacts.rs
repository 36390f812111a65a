//! Contacts: lists, and whom a reference means.

use axum::Json;
use axum::extract::{Query, State};
use axum::response::IntoResponse;
use jackfield_model::contact::{Contact, Reference, Resolution};
use jackfield_model::{ConnectionId, PlatformId, Space};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::failure::Failure;
use super::json::raw;
use super::server::Admin;

/// Most contacts of one answer.
const PAGE_MAX: usize = 1_000;

/// Where to look: a contact space, by its own name or by that of a connection in it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scope {
    /// The space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) space: Option<Space>,
    /// A connection in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<ConnectionId>,
}

/// Which contacts.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) space: Option<Space>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) connection: Option<ConnectionId>,
    /// With larger ids only.
    #[serde(default)]
    pub(crate) after: String,
    /// At most so many.
    pub(crate) limit: usize,
}

/// A reference, and where it is to be looked up.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    #[serde(flatten)]
    pub(crate) scope: Scope,
    pub(crate) reference: Meant,
}

/// A reference on the wire.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Meant {
    Text(String),
    Email(String),
    ExternalId(String),
    Platform(PlatformId),
}

/// A contact as it is shown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ContactDocument {
    pub(crate) id: String,
    pub(crate) email: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) ids: Vec<PlatformId>,
    pub(crate) properties: Box<RawValue>,
}

/// A list.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Contacts {
    pub(crate) space: Space,
    pub(crate) contacts: Vec<ContactDocument>,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) space: Space,
    /// `found`, `none` or `ambiguous`.
    pub(crate) resolution: String,
    pub(crate) contact: Option<ContactDocument>,
    /// Ids of the contacts that it may be.
    pub(crate) candidates: Vec<String>,
}

pub(super) async fn list(
    State(admin): State<Admin>,
    Query(wanted): Query<Wanted>,
) -> Result<impl IntoResponse, Failure> {
    let Wanted { space, connection, after, limit } = wanted;
    let (space, _) = scope(&admin, Scope { space, connection })?;
    let contacts = admin.host.stores().contacts.contacts(&space, &after, limit.clamp(1, PAGE_MAX)).await?;
    Ok(Json(Contacts { space, contacts: contacts.into_iter().map(ContactDocument::from).collect() }))
}

pub(super) async fn resolve(
    State(admin): State<Admin>,
    Json(question): Json<Question>,
) -> Result<impl IntoResponse, Failure> {
    let (space, namespace) = scope(&admin, question.scope)?;
    let reference = match question.reference {
        Meant::Text(text) => Reference::Text { text, namespace },
        Meant::Email(email) => Reference::Email(email),
        Meant::ExternalId(id) => Reference::ExternalId(id),
        Meant::Platform(id) => Reference::Platform(id),
    };
    let (resolution, contact, candidates) = match admin.host.stores().contacts.resolve(&space, &reference).await? {
        Resolution::Found(contact) => ("found", Some(contact.into()), Vec::new()),
        Resolution::None => ("none", None, Vec::new()),
        Resolution::Ambiguous(candidates) => ("ambiguous", None, candidates),
    };
    Ok(Json(Answer { space, resolution: resolution.to_owned(), contact, candidates }))
}

/// The space, and the namespace of the connector where a connection was named.
fn scope(admin: &Admin, scope: Scope) -> Result<(Space, Option<String>), Failure> {
    match scope {
        Scope { space: Some(space), connection: None } => Ok((space, None)),
        Scope { space: None, connection: Some(id) } => {
            let served = admin.served(&id)?;
            Ok((served.space.clone(), Some(served.namespace.clone())))
        }
        _ => Err(Failure::bad("name either a contact space or a connection")),
    }
}

impl From<Contact> for ContactDocument {
    fn from(contact: Contact) -> Self {
        let Contact { id, email, external_id, ids, properties } = contact;
        Self { id, email, external_id, ids, properties: raw(&properties) }
    }
}
