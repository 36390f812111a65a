//! Connectors' locks that somebody in this process holds. Beside the file, and taken back with a transaction.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jackfield_model::{ExecutionId, Monotonic};

/// One lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) owner: ExecutionId,
    pub(super) fence: u64,
    /// On the monotonic clock, so that no clock step ends or prolongs it.
    pub(super) until: Monotonic,
}

/// The locks of all connections.
#[derive(Debug, Default)]
pub(super) struct Grants {
    of: HashMap<i64, Held>,
    /// Locks as they were, oldest change first.
    before: Vec<(i64, Arc<str>, Option<Grant>)>,
}

/// The locks of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Held {
    by_key: HashMap<Arc<str>, Grant>,
    by_owner: HashMap<ExecutionId, HashSet<Arc<str>>>,
    by_end: BTreeSet<(Monotonic, Arc<str>)>,
}

impl Grants {
    /// Forgets what has lapsed. Nothing brings that back, so it is not taken back with a transaction.
    pub(super) fn lapse(&mut self, connection: i64, now: Monotonic) {
        let Some(held) = self.of.get_mut(&connection) else { return };
        while let Some((_, key)) = held.by_end.first().filter(|(until, _)| *until <= now).cloned() {
            held.put(&key, None);
        }
    }

    /// Who holds this one.
    pub(super) fn get(&self, connection: i64, key: &str) -> Option<Grant> {
        self.of.get(&connection)?.by_key.get(key).copied()
    }

    /// How many are held.
    pub(super) fn count(&self, connection: i64) -> usize {
        self.of.get(&connection).map_or(0, |held| held.by_key.len())
    }

    /// What this owner holds.
    pub(super) fn keys(&self, connection: i64, owner: ExecutionId) -> Vec<Arc<str>> {
        let keys = self.of.get(&connection).and_then(|held| held.by_owner.get(&owner));
        keys.into_iter().flatten().cloned().collect()
    }

    /// Grants one or ends it.
    pub(super) fn set(&mut self, connection: i64, key: &str, grant: Option<Grant>) {
        let key = Arc::from(key);
        let before = self.of.entry(connection).or_default().put(&key, grant);
        self.before.push((connection, key, before));
    }

    /// COMMIT returned.
    pub(super) fn keep(&mut self) {
        self.before.clear();
    }

    /// There was no COMMIT.
    pub(super) fn undo(&mut self) {
        for (connection, key, before) in self.before.drain(..).rev() {
            self.of.entry(connection).or_default().put(&key, before);
        }
    }
}

impl Held {
    /// The only place that changes anything, so that the three always agree. Says what was before.
    fn put(&mut self, key: &Arc<str>, grant: Option<Grant>) -> Option<Grant> {
        let before = match grant {
            Some(grant) => self.by_key.insert(Arc::clone(key), grant),
            None => self.by_key.remove(key),
        };
        if let Some(Grant { owner, until, .. }) = before {
            self.by_end.remove(&(until, Arc::clone(key)));
            if let Some(keys) = self.by_owner.get_mut(&owner) {
                keys.remove(key);
                if keys.is_empty() {
                    self.by_owner.remove(&owner);
                }
            }
        }
        if let Some(Grant { owner, until, .. }) = grant {
            self.by_end.insert((until, Arc::clone(key)));
            self.by_owner.entry(owner).or_default().insert(Arc::clone(key));
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jackfield_model::clock::SystemClock;
    use jackfield_model::{Clock as _, Timestamp};

    use super::*;

    const CONNECTION: i64 = 1;

    fn owner(at: u64) -> ExecutionId {
        ExecutionId::new(Timestamp(at), 0)
    }

    /// The three ways to a lock agree.
    fn is_sound(grants: &Grants) {
        let held = grants.of.get(&CONNECTION).cloned().unwrap_or_default();
        let mut again = Held::default();
        for (key, grant) in &held.by_key {
            again.put(key, Some(*grant));
        }
        assert_eq!(held, again);
    }

    /// Whatever a transaction did to locks is undone with it, but for what lapsed meanwhile.
    #[test]
    fn undone_with_the_transaction() {
        let now = SystemClock.monotonic();
        let seconds = |seconds| now + Duration::from_secs(seconds);
        let grant = |at, fence, until| Some(Grant { owner: owner(at), fence, until: seconds(until) });
        let mut grants = Grants::default();
        for (key, grant) in [("a", grant(1, 1, 10)), ("b", grant(1, 2, 20)), ("c", grant(2, 3, 30))] {
            grants.set(CONNECTION, key, grant);
        }
        grants.keep();
        grants.undo();
        assert_eq!(grants.count(CONNECTION), 3, "what was kept is not undone");
        grants.set(CONNECTION, "a", grant(1, 1, 99));
        grants.set(CONNECTION, "a", None);
        grants.set(CONNECTION, "a", grant(3, 4, 5));
        grants.set(CONNECTION, "b", None);
        grants.set(CONNECTION, "new", grant(2, 5, 50));
        is_sound(&grants);
        grants.lapse(CONNECTION, seconds(5));
        assert_eq!(grants.get(CONNECTION, "a"), None, "its time is over");
        is_sound(&grants);
        grants.undo();
        is_sound(&grants);
        assert_eq!(grants.get(CONNECTION, "a"), grant(1, 1, 10));
        assert_eq!(grants.get(CONNECTION, "b"), grant(1, 2, 20));
        assert_eq!((grants.get(CONNECTION, "new"), grants.count(CONNECTION)), (None, 3));
        let mut keys = grants.keys(CONNECTION, owner(1));
        keys.sort();
        assert_eq!(keys, [Arc::from("a"), Arc::from("b")]);
        grants.lapse(CONNECTION, seconds(20));
        is_sound(&grants);
        assert_eq!((grants.count(CONNECTION), grants.keys(CONNECTION, owner(1)).len()), (1, 0));
    }
}
