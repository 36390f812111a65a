//! The platform's side of things: guilds, channels, people, and the messages that the REST API can still show.
//!
//! Ids depend on the position alone, so a double that is started again has the same guilds and channels, and a
//! configuration can name them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::dispatch::Dispatch;
use super::snowflake::Id;

// When the first of each was made, in milliseconds since 1970; the others follow, one a day. With odd low bits, so an id that
// went through a floating-point number is not the same any more.
const FIRST_GUILD_MS: u64 = 1_620_250_000_000;
const FIRST_CHANNEL_MS: u64 = 1_620_260_000_000;
const FIRST_DIRECT_MS: u64 = 1_650_000_000_000;
const FIRST_AUTHOR_MS: u64 = 1_568_000_000_000;
const FIRST_ROLE_MS: u64 = 1_620_255_000_000;
const BOT_MS: u64 = 1_709_370_000_000;
const DAY_MS: u64 = 86_400_000;
const LOW_BITS: u64 = 0x2_F1A7;

const GIVEN_NAMES: [&str; 8] = ["Juno", "Sam", "Ida", "Noor", "Teo", "Mika", "Ada", "Lin"];
const FAMILY_NAMES: [&str; 4] = ["Example", "Sample", "Muster", "Placeholder"];

/// Roles that every guild has beside `@everyone`: the name, and whether everybody may mention it.
const ROLES: [(&str, bool); 2] = [("oncall", true), ("staff", false)];

/// One person in so many has a nickname in the guilds.
const NICK_EVERY: u64 = 8;

/// Somebody who writes.
#[derive(Debug)]
pub(crate) struct Author {
    pub(crate) id: Id,
    pub(crate) username: String,
    pub(crate) display: Option<String>,
    /// What every guild calls them.
    pub(crate) nick: Option<String>,
    pub(crate) bot: bool,
}

#[derive(Debug)]
pub(crate) struct Guild {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) channels: Vec<Id>,
    /// Beside `@everyone`.
    pub(crate) roles: Vec<Role>,
}

#[derive(Debug)]
pub(crate) struct Role {
    pub(crate) id: Id,
    pub(crate) name: &'static str,
    pub(crate) mentionable: bool,
}

#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: Id,
    /// None for a direct message.
    pub(crate) guild: Option<Id>,
    pub(crate) recipient: Option<Id>,
    pub(crate) name: String,
    pub(crate) position: u64,
    history: VecDeque<Arc<Dispatch>>,
}

impl Channel {
    /// The newest messages that are kept, oldest first.
    pub(crate) fn history(&self) -> impl DoubleEndedIterator<Item = &Arc<Dispatch>> {
        self.history.iter()
    }

    /// A message that is kept. Ids grow, so they are in order.
    pub(crate) fn message(&self, id: Id) -> Option<&Arc<Dispatch>> {
        let at = self.history.binary_search_by_key(&Some(id), |message| message.scope.message).ok()?;
        self.history.get(at)
    }

    pub(crate) fn last_message(&self) -> Option<Id> {
        self.history.back().and_then(|message| message.scope.message)
    }
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) bot: Author,
    pub(crate) guilds: Vec<Guild>,
    pub(crate) authors: Vec<Author>,
    channels: BTreeMap<Id, Channel>,
    history_max: usize,
}

impl World {
    /// `guilds` guilds with `channels` text channels each, and a direct-message channel with each of `authors` people.
    pub(crate) fn new(guilds: u64, channels: u64, authors: u64, history_max: usize) -> Self {
        let bot = Author {
            id: Id::at(BOT_MS, LOW_BITS),
            username: "relaybot".to_owned(),
            display: None,
            nick: None,
            bot: true,
        };
        let mut world = Self { bot, guilds: Vec::new(), authors: Vec::new(), channels: BTreeMap::new(), history_max };
        for number in 0..authors {
            let author = author(number);
            let id = nth(FIRST_DIRECT_MS, number);
            world.add_channel(Channel { recipient: Some(author.id), ..channel(id, None, String::new(), 0) });
            world.authors.push(author);
        }
        for number in 0..guilds {
            let id = nth(FIRST_GUILD_MS, number);
            let (name, roles) = (format!("Example Guild {number}"), roles(number));
            let mut guild = Guild { id, name, channels: Vec::new(), roles };
            for position in 0..channels {
                let name = if position == 0 { "general".to_owned() } else { format!("channel-{position}") };
                let channel = channel(nth(FIRST_CHANNEL_MS, number * channels + position), Some(id), name, position);
                guild.channels.push(channel.id);
                world.add_channel(channel);
            }
            world.guilds.push(guild);
        }
        world
    }

    pub(crate) fn author(&self, id: Id) -> Option<&Author> {
        if id == self.bot.id { Some(&self.bot) } else { self.authors.iter().find(|author| author.id == id) }
    }

    pub(crate) fn channel(&self, id: Id) -> Option<&Channel> {
        self.channels.get(&id)
    }

    pub(crate) fn guild(&self, id: Id) -> Option<&Guild> {
        self.guilds.iter().find(|guild| guild.id == id)
    }

    /// The owner of every guild: the first author, or the bot where there is nobody else.
    pub(crate) fn owner(&self) -> Id {
        self.authors.first().map_or(self.bot.id, |author| author.id)
    }

    /// The channel of direct messages with this person.
    pub(crate) fn direct_channel(&self, recipient: Id) -> Option<Id> {
        self.channels.values().find(|channel| channel.recipient == Some(recipient)).map(|channel| channel.id)
    }

    /// Keeps a message for the REST API, and lets go of the channel's oldest beyond the maximum.
    pub(crate) fn remember(&mut self, message: &Arc<Dispatch>) {
        let Some(channel) = message.scope.channel.and_then(|id| self.channels.get_mut(&id)) else { return };
        channel.history.push_back(Arc::clone(message));
        if channel.history.len() > self.history_max {
            channel.history.pop_front();
        }
    }

    /// Puts a message in the place of the one with its id.
    pub(crate) fn replace(&mut self, message: &Arc<Dispatch>) {
        let Some(channel) = message.scope.channel.and_then(|id| self.channels.get_mut(&id)) else { return };
        let kept = channel.history.iter_mut().find(|kept| kept.scope.message == message.scope.message);
        if let Some(kept) = kept {
            *kept = Arc::clone(message);
        }
    }

    fn add_channel(&mut self, channel: Channel) {
        self.channels.insert(channel.id, channel);
    }
}

fn nth(first_ms: u64, number: u64) -> Id {
    Id::at(first_ms + number * DAY_MS, LOW_BITS + 2 * number)
}

fn roles(guild: u64) -> Vec<Role> {
    let id = |at: usize| nth(FIRST_ROLE_MS, guild * ROLES.len() as u64 + at as u64);
    let roles = ROLES.into_iter().enumerate();
    roles.map(|(at, (name, mentionable))| Role { id: id(at), name, mentionable }).collect()
}

fn channel(id: Id, guild: Option<Id>, name: String, position: u64) -> Channel {
    Channel { id, guild, recipient: None, name, position, history: VecDeque::new() }
}

fn author(number: u64) -> Author {
    let pick = |names: &[&'static str], at: u64| {
        let index = usize::try_from(at).unwrap_or(0) % names.len();
        names.get(index).copied().unwrap_or_default()
    };
    let given = pick(&GIVEN_NAMES, number);
    let family = pick(&FAMILY_NAMES, number / 8);
    Author {
        id: nth(FIRST_AUTHOR_MS, number),
        username: format!("{}.{}.{number}", given.to_lowercase(), family.to_lowercase()),
        display: Some(format!("{given} {family}")),
        nick: (number % NICK_EVERY == NICK_EVERY - 1).then(|| format!("{given} the {number}th")),
        bot: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_every_time_and_distinct() {
        let (one, two) = (World::new(2, 3, 4, 10), World::new(2, 3, 4, 10));
        let ids = |world: &World| world.channels.keys().copied().collect::<Vec<_>>();
        assert_eq!(ids(&one), ids(&two));
        assert_eq!(ids(&one).len(), 2 * 3 + 4);
    }

    #[test]
    fn ids_do_not_survive_a_floating_point_number() {
        for id in World::new(1, 5, 5, 10).channels.keys() {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "the point"
            )]
            let through_float = id.get() as f64 as u64;
            assert_ne!(through_float, id.get());
        }
    }
}
