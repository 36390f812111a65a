//! The checker: what a platform made against what a log has. It trusts no counter of the host.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::Value;

/// What became of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Messages that the platform made.
    pub made: u64,
    /// Events that the log has of them.
    pub events: u64,
    /// Messages without an event.
    pub lost: u64,
    /// Events beyond the first of a message, and events of no message.
    pub doubled: u64,
    /// Events that stand behind one of a later message of their lane.
    pub reordered: u64,
}

impl Account {
    /// Compares `made` (ids by lane, in order) with the ids of events (in the order of the log).
    #[must_use]
    pub fn of<'a>(made: &BTreeMap<String, Vec<String>>, events: impl IntoIterator<Item = &'a str>) -> Self {
        let mut places: HashMap<&str, (&str, usize)> = HashMap::new();
        for (lane, ids) in made {
            places.extend(ids.iter().enumerate().map(|(place, id)| (id.as_str(), (lane.as_str(), place))));
        }
        let mut account = Self { made: places.len() as u64, ..Self::default() };
        let mut seen: HashMap<&str, ()> = HashMap::new();
        let mut furthest: HashMap<&str, usize> = HashMap::new();
        for id in events {
            account.events += 1;
            let Some((lane, place)) = places.get(id).copied() else {
                account.doubled += 1;
                continue;
            };
            if seen.insert(id, ()).is_some() {
                account.doubled += 1;
                continue;
            }
            let ahead = furthest.entry(lane).or_insert(place);
            account.reordered += u64::from(place < *ahead);
            *ahead = place.max(*ahead);
        }
        account.lost = account.made - seen.len() as u64;
        account
    }

    /// Every message is one event, in order.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost == 0 && self.doubled == 0 && self.reordered == 0
    }

    /// Adds another account.
    pub fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.events += other.events;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.reordered += other.reordered;
    }
}

/// The id of the Discord message that an event document is of: the last part of its key.
#[must_use]
pub fn message_id(event: &Value) -> &str {
    event["key"].as_str().unwrap_or_default().rsplit(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(events: &[&str]) -> (u64, u64, u64) {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let made = BTreeMap::from([("a".to_owned(), ids(&["1", "2", "3"])), ("b".to_owned(), ids(&["4", "5"]))]);
        let account = Account::of(&made, events.iter().copied());
        assert_eq!(account.is_whole(), [account.lost, account.doubled, account.reordered] == [0; 3]);
        (account.lost, account.doubled, account.reordered)
    }

    #[test]
    fn what_is_missing_doubled_or_out_of_order_is_counted() {
        assert_eq!(account(&["4", "1", "2", "5", "3"]), (0, 0, 0));
        assert_eq!(account(&["4", "1", "3"]), (2, 0, 0));
        assert_eq!(account(&["4", "1", "2", "2", "5", "3", "99"]), (0, 2, 0));
        assert_eq!(account(&["5", "4", "3", "1", "2"]), (0, 0, 3));
    }
}
