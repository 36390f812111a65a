//! Whom a text addresses.

use serde::Serialize;

use super::message::{Member, User, member, user};
use crate::discord::rest::Allowed;
use crate::discord::snowflake::Id;
use crate::discord::world::World;

/// What a message says about whom it addresses.
#[derive(Serialize)]
pub(super) struct Mentions<'a> {
    mentions: Vec<Mentioned<'a>>,
    mention_roles: Vec<Id>,
    mention_everyone: bool,
}

/// A user, and in a guild the member that they are.
#[derive(Serialize)]
struct Mentioned<'a> {
    #[serde(flatten)]
    user: User<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<Member<'a>>,
}

impl<'a> Mentions<'a> {
    /// What this text addresses, as far as it may; and the author of the message that it answers.
    pub(super) fn of(content: &str, allowed: &Allowed, replied: Option<Id>, in_guild: bool, world: &'a World) -> Self {
        let mut users: Vec<Id> = users(content).into_iter().filter(|id| allowed.users.includes(*id)).collect();
        if let Some(replied) = replied.filter(|id| allowed.replied_user && !users.contains(id)) {
            users.push(replied);
        }
        let known = users.into_iter().filter_map(|id| world.author(id));
        Self {
            mentions: known
                .map(|author| Mentioned { user: user(author), member: in_guild.then(|| member(author)) })
                .collect(),
            mention_roles: roles(content).into_iter().filter(|id| allowed.roles.includes(*id)).collect(),
            mention_everyone: in_guild && allowed.everyone && everyone(content),
        }
    }

    pub(super) fn includes(&self, id: Id) -> bool {
        self.mentions.iter().any(|mentioned| mentioned.user.id == id)
    }
}

/// Whether it calls everybody, or everybody who is there.
fn everyone(content: &str) -> bool {
    content.contains("@everyone") || content.contains("@here")
}

fn users(content: &str) -> Vec<Id> {
    ids(content, |inside| inside.strip_prefix('!').unwrap_or(inside).parse().ok())
}

fn roles(content: &str) -> Vec<Id> {
    ids(content, |inside| inside.strip_prefix('&')?.parse().ok())
}

/// The distinct ids between `<@` and `>`, in the order of their first appearance.
fn ids(content: &str, id: impl Fn(&str) -> Option<Id>) -> Vec<Id> {
    let mut found = Vec::new();
    for rest in content.split("<@").skip(1) {
        let mentioned = rest.split_once('>').and_then(|(inside, _)| id(inside));
        if let Some(mentioned) = mentioned.filter(|mentioned| !found.contains(mentioned)) {
            found.push(mentioned);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_read_from_the_text() {
        let text = "<@12> and <@!13>, <@12> again, role <@&14>, broken <@x> <@15";
        assert_eq!(users(text), [Id::new(12), Id::new(13)]);
        assert_eq!(roles(text), [Id::new(14)]);
        assert!(everyone("hi @here") && !everyone(text));
    }
}
