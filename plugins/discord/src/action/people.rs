//! Who is meant, as an id.
//!
//! A handle is display text: it can be given up and taken by a stranger. So nothing is ever bound to one; where a caller
//! has no more than that, it is looked up when the call is made, has to be the whole username of exactly one member of the
//! guild that the caller names, and what is written then goes to the id.

use std::fmt;

use jackfield_sdk::action::ActionFault;
use jackfield_sdk::contacts::{Contact, Reference, Resolution};
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::request::{self, MEMBERS_MAX};
use super::run::{Miss, Run};
use crate::describe::ID;
use crate::wire::{Id, Text};

/// A person, as a caller names one.
#[derive(Debug)]
pub(super) enum Person<'a> {
    User(Id<'a>),
    Member { username: String, guild: Id<'a> },
    Contact(Reference),
}

impl<'de: 'a, 'a> Deserialize<'de> for Person<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Named;

        impl<'de> Visitor<'de> for Named {
            type Value = Person<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a user's id as a string of digits, a contact, or a username with its guild_id")
            }

            fn visit_borrowed_str<E: Error>(self, digits: &'de str) -> Result<Person<'de>, E> {
                Id::deserialize(BorrowedStrDeserializer::new(digits)).map(Person::User)
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Person<'de>, M::Error> {
                match Keys::deserialize(MapAccessDeserializer::new(map))? {
                    Keys {
                        username: Some(username),
                        guild_id: Some(guild),
                        contact: None,
                        email: None,
                        external_id: None,
                    } => Ok(Person::Member { username, guild }),
                    Keys { contact: Some(name), username: None, guild_id: None, email: None, external_id: None } => {
                        Ok(Person::Contact(Reference::Text(name)))
                    }
                    Keys { email: Some(name), username: None, guild_id: None, contact: None, external_id: None } => {
                        Ok(Person::Contact(Reference::Email(name)))
                    }
                    Keys { external_id: Some(name), username: None, guild_id: None, contact: None, email: None } => {
                        Ok(Person::Contact(Reference::ExternalId(name)))
                    }
                    _ => Err(M::Error::custom("a person who is not named in exactly one way")),
                }
            }
        }

        deserializer.deserialize_any(Named)
    }
}

/// All ways to name a person; exactly one of them is meant.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Keys<'a> {
    contact: Option<String>,
    email: Option<String>,
    external_id: Option<String>,
    username: Option<String>,
    #[serde(borrow)]
    guild_id: Option<Id<'a>>,
}

/// The user's id.
///
/// # Errors
///
/// `rejected` when nobody is meant or more than one could be, and whatever kept it from being found out.
pub(super) fn find(run: &mut Run<'_>, person: &Person<'_>) -> Result<String, ActionFault> {
    let reference = match person {
        Person::User(id) => return Ok(id.to_string()),
        Person::Member { username, guild } => return member(run, username, *guild).map_err(|miss| miss.fault),
        Person::Contact(reference) => reference,
    };
    let name = match reference {
        Reference::Text(name) | Reference::Email(name) | Reference::ExternalId(name) => name,
        Reference::Platform(id) => &id.id,
    };
    match run.host.resolve(reference) {
        Ok(Resolution::Found(contact)) => user_of(name, &contact),
        Ok(Resolution::None) => rejected(format!("no contact is `{name}`")),
        Ok(Resolution::Ambiguous(ids)) => {
            rejected(format!("more than one contact could be `{name}`: {}", ids.join(", ")))
        }
        Err(fault) => Err(run.refused(fault).fault),
    }
}

fn rejected(why: String) -> Result<String, ActionFault> {
    Err(ActionFault::Rejected(why))
}

/// The one user that a contact is on Discord.
fn user_of(name: &str, contact: &Contact) -> Result<String, ActionFault> {
    let users: Vec<&str> = contact.ids.iter().filter(|id| id.namespace == ID).map(|id| id.id.as_str()).collect();
    match users.as_slice() {
        [user] if Id::parse(user).is_some() => Ok((*user).to_owned()),
        [] | [_] => rejected(format!("the contact `{name}` is nobody on Discord that is known")),
        _ => rejected(format!("the contact `{name}` is several users: name one of {}", users.join(", "))),
    }
}

#[derive(Deserialize)]
struct Member<'a> {
    #[serde(borrow)]
    user: User<'a>,
}

#[derive(Deserialize)]
struct User<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    username: Text<'a>,
}

/// The one member of a guild with exactly this username. Discord finds whatever begins so, nicknames too.
fn member(run: &mut Run<'_>, username: &str, guild: Id<'_>) -> Result<String, Miss> {
    let answer = run.look(&request::search_members(guild, username))?;
    let members = answer.body.as_text().and_then(|body| serde_json::from_str::<Vec<Member<'_>>>(body).ok());
    let Some(members) = members else {
        return Err(run.lost("Discord's answer is no list of members".to_owned()));
    };
    if members.len() >= MEMBERS_MAX {
        return Err(Miss::rejected(format!(
            "too many members of guild {guild} have names that begin with `{username}`: name the user's id"
        )));
    }
    let exact: Vec<&str> = members
        .iter()
        .filter(|member| member.user.username.as_str() == username)
        .map(|member| member.user.id.as_str())
        .collect();
    match exact.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(Miss::rejected(format!("no member of guild {guild} has the username `{username}`"))),
        several => Err(Miss::rejected(format!(
            "several members of guild {guild} have the username `{username}`: name one of {}",
            several.join(", ")
        ))),
    }
}
