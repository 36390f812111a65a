//! What people write when nobody tells them: the same for the same seed, with the things that break consumers now and then
//! (mentions of the bot, emoji made of several code points, text that looks like a placeholder).

use rand::Rng as _;
use rand::rngs::StdRng;

use super::snowflake::Id;
use super::world::World;

const WORDS: [&str; 24] = [
    "deploy", "the", "relay", "is", "green", "again", "after", "lunch", "please", "look", "at", "build", "seven",
    "and", "tell", "me", "when", "tests", "pass", "thanks", "release", "tonight", "or", "tomorrow",
];
const ODDITIES: [&str; 4] = ["👩🏽‍💻", "naïve façade", "{{secret:bot-token}}", "\"quoted\"\nand on a second line"];

/// One message in so many mentions the bot, or has an oddity.
const MENTION_EVERY: u32 = 16;
const ODDITY_EVERY: u32 = 32;

const WORDS_MIN: u32 = 4;
const WORDS_MAX: u32 = 24;

pub(crate) struct Draft {
    pub(crate) channel: Id,
    pub(crate) author: Id,
    pub(crate) text: String,
}

/// The next message, the `number`th. None in a world without channels or people, which no script makes.
pub(crate) fn draft(rng: &mut StdRng, world: &World, number: u64) -> Option<Draft> {
    let guild = pick(rng, &world.guilds)?;
    let channel = *pick(rng, &guild.channels)?;
    let author = pick(rng, &world.authors)?.id;
    let mut text = format!("#{number}");
    if rng.random_ratio(1, MENTION_EVERY) {
        text.push_str(&format!(" <@{}>", world.bot.id));
    }
    for _ in 0..rng.random_range(WORDS_MIN..=WORDS_MAX) {
        text.push(' ');
        text.push_str(pick(rng, &WORDS)?);
    }
    if rng.random_ratio(1, ODDITY_EVERY) {
        text.push(' ');
        text.push_str(pick(rng, &ODDITIES)?);
    }
    Some(Draft { channel, author, text })
}

fn pick<'a, T>(rng: &mut StdRng, from: &'a [T]) -> Option<&'a T> {
    (!from.is_empty()).then(|| rng.random_range(0..from.len())).and_then(|index| from.get(index))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn the_same_seed_writes_the_same() {
        let world = World::new(1, 3, 3, 10);
        let text = |seed| {
            let mut rng = StdRng::seed_from_u64(seed);
            (0..50).map(|number| draft(&mut rng, &world, number).unwrap().text).collect::<Vec<_>>()
        };
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }
}
