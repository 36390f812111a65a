//! Commits: under the fence, counted, whole.

use std::sync::Arc;

use jackfield_model::{Blob, Clock as _, ConnectionId, Epoch, Fence, Token};

use crate::commit::{Admitted, Commit, Ground, Outcome, Receipt, Stored};
use crate::conformance::bed::{TTL, done, fence};
use crate::conformance::sample::{batch, batch_of, connection, death, dispatch, ended, event, reception, row, settled};
use crate::conformance::{Backend, Bed, End};
use crate::event::Filter;
use crate::inbox::RowId;
use crate::lease::Acquire;
use crate::state::Write;

/// A batch with something for every table.
fn full(connection: &ConnectionId) -> crate::commit::Batch {
    let mut full = batch_of(connection, &["a", "b"]);
    full.settled.push(ended("lane", "bad", Outcome::Dead(death())));
    full.settled.push(ended("lane", "dull", Outcome::Ignored));
    full.parked.push(row("slow", "later"));
    full.state.push(Write::Set { key: "cursor".to_owned(), value: Blob::from("7") });
    full
}

async fn is_empty<B: Backend>(bed: &Bed<B>, connection: &ConnectionId) {
    assert_eq!(bed.keys().await, Vec::<String>::new());
    assert_eq!(bed.dead_letters.count(None).await.unwrap(), 0);
    assert_eq!(bed.inbox.depth(connection).await.unwrap().rows, 0);
    assert_eq!(bed.state.size(connection).await.unwrap(), 0);
}

/// Only the newest pair of epoch and token writes, and what is refused leaves no trace.
pub async fn refuses_stale_grants<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let stranger = Ground { fence: fence(1, 1), count: 0 };
    assert_eq!(bed.try_commit(full(&id), Some(stranger)).await, Commit::Fenced, "nobody was ever granted it");
    let old = bed.term(&id).await.fence;
    let new = bed.term(&id).await.fence;
    assert!(new.epoch > old.epoch);
    for (case, stale) in [
        ("an earlier grant", old),
        ("the right token in an earlier epoch", Fence { epoch: old.epoch, ..new }),
        ("the right epoch with another token", Fence { token: old.token, ..new }),
        ("a token that differs in one bit", Fence { token: Token(new.token.0 ^ 1), ..new }),
        ("an epoch to come", Fence { epoch: Epoch(new.epoch.0 + 1), ..new }),
        ("no epoch", Fence { epoch: Epoch(0), ..new }),
    ] {
        let refused = bed.try_commit(full(&id), Some(Ground { fence: stale, count: 0 })).await;
        assert_eq!(refused, Commit::Fenced, "{case}");
        is_empty(&bed, &id).await;
    }
    bed.leases.release(&id, new).await.unwrap();
    done(bed.try_commit(full(&id), Some(Ground { fence: new, count: 0 })).await);
    let other: ConnectionId = "other".parse().unwrap();
    let foreign = bed.try_commit(full(&other), Some(Ground { fence: new, count: 1 })).await;
    assert_eq!(foreign, Commit::Fenced, "a grant is of one connection");
}

/// A batch builds on the count before it; a lost answer is found out by sending the batch again.
pub async fn counts<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    bed.commit(batch_of(&id, &["a"]), &mut ground).await;
    bed.commit(batch_of(&id, &["b", "c"]), &mut ground).await;
    let fence = ground.fence;
    let at = |count| Some(Ground { fence, count });
    for (case, keys, count, ended) in [
        ("its own answer was lost", &["b", "c"][..], 1, Commit::Repeated),
        ("part of it was never committed", &["b", "d"], 1, Commit::Gap),
        ("two batches ago", &["a"], 0, Commit::Gap),
        ("one was skipped", &["d"], 3, Commit::Gap),
        ("far ahead", &["d"], u64::MAX, Commit::Gap),
    ] {
        assert_eq!(bed.try_commit(batch_of(&id, keys), at(count)).await, ended, "{case}");
        assert_eq!(bed.keys().await, ["a", "b", "c"], "{case}");
    }
    bed.commit(batch_of(&id, &["d"]), &mut ground).await;
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.try_commit(batch_of(&id, &["d"]), at(2)).await, Commit::Repeated, "the count outlives the process");
    bed.commit(batch_of(&id, &["e"]), &mut ground).await;
    assert_eq!(bed.keys().await, ["a", "b", "c", "d", "e"]);
    let mut next = bed.term(&id).await;
    bed.commit(batch_of(&id, &["f"]), &mut next).await;
    assert_eq!(next.count, 1, "a new grant counts from 0");
}

/// A batch without events is recognised by its count alone, and writes its letters and rows once.
pub async fn repeats_without_events<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let ground = bed.term(&id).await;
    let mut sent = batch(&id, vec![ended("lane", "bad", Outcome::Dead(death()))]);
    sent.parked.push(row("slow", "later"));
    done(bed.try_commit(sent.clone(), Some(ground)).await);
    assert_eq!(bed.try_commit(sent, Some(ground)).await, Commit::Repeated);
    assert_eq!(bed.dead_letters.count(Some(&id)).await.unwrap(), 1);
    assert_eq!(bed.inbox.depth(&id).await.unwrap().rows, 1);
}

/// Everything of a batch arrives, with the stamps of host and grant.
pub async fn writes_all_of_it<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    let mut sent = full(&id);
    let (lane, late) = ("odd lane \u{0}\u{1F600}".to_owned(), true);
    let odd = crate::conformance::recurring("k\u{0}ey", u64::MAX);
    let odd =
        jackfield_model::Event { refers_to: Some("a".to_owned()), properties: r#"{"n":1.0e400}"#.to_owned(), ..odd };
    let mut dispatch = (*dispatch(&lane, "{}")).clone();
    dispatch.kind = "X".to_owned();
    sent.settled.push(crate::commit::Settled { dispatch: Arc::new(dispatch), late, ..settled(vec![odd.clone()]) });
    let receipt = bed.commit(sent, &mut ground).await;
    let bed = bed.reopen(End::Killed).await;
    let log = bed.log().await;
    let positions: Vec<u64> = log.iter().map(|record| record.position).collect();
    let stored = |at: usize| vec![Stored::New(positions[at])];
    assert_eq!(receipt.events, [stored(0), stored(1), vec![], vec![], stored(2)]);
    assert!(positions.is_sorted_by(|one, next| one < next));
    let (first, last) = (&log[0], &log[2]);
    assert_eq!(first.event, event("a"));
    assert_eq!((&first.connection, first.epoch, first.late, first.sanitized), (&id, ground.fence.epoch, false, false));
    assert_eq!((first.via, first.received_at, first.submitted_by), (reception().via, reception().at, reception().by));
    assert_eq!((first.transformed_by.0, first.kind.as_str(), first.lane.as_str()), (3, "MESSAGE_CREATE", "lane"));
    assert_eq!((first.contact.as_deref(), first.conflicts.len()), (None, 0));
    assert!(first.stored_at <= bed.clock.now());
    assert_eq!((&last.event, last.lane.as_str(), last.late), (&odd, lane.as_str(), true));
    let waiting = bed.inbox.waiting(&id, RowId(0), 10).await.unwrap();
    assert_eq!(waiting, [(receipt.rows[0], row("slow", "later"))]);
    assert_eq!(bed.dead_letters.count(Some(&id)).await.unwrap(), 1);
    assert_eq!(bed.state.get(&id, "cursor").await.unwrap(), Some(Blob::from("7")));
}

/// Webhooks and actions hold no lease: deduped, epoch 0, and no session notices them.
pub async fn unbound<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    bed.commit(batch_of(&id, &["a"]), &mut ground).await;
    let receipt = bed.commit_unbound(vec![settled(vec![event("a")]), settled(vec![event("b")])]).await;
    assert_eq!(receipt.events[0], [Stored::Known]);
    bed.commit(batch_of(&id, &["b", "c"]), &mut ground).await;
    let log = bed.log().await;
    let epochs: Vec<(&str, u64)> = log.iter().map(|record| (record.event.key.as_str(), record.epoch.0)).collect();
    let epoch = ground.fence.epoch.0;
    assert_eq!(epochs, [("a", epoch), ("b", 0), ("c", epoch)]);
}

/// An unbound batch is whole too: it writes everything that a session's does, moves no count and survives.
pub async fn unbound_is_whole<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    bed.commit(batch_of(&id, &["first"]), &mut ground).await;
    let receipt = done(bed.try_commit(full(&id), None).await);
    assert_eq!(bed.leases.standing(&id).await.unwrap().unwrap().epoch, ground.fence.epoch);
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.keys().await, ["first", "a", "b"]);
    assert_eq!(bed.inbox.waiting(&id, RowId(0), 10).await.unwrap(), [(receipt.rows[0], row("slow", "later"))]);
    assert_eq!(bed.dead_letters.count(Some(&id)).await.unwrap(), 1);
    assert_eq!(bed.state.get(&id, "cursor").await.unwrap(), Some(Blob::from("7")));
    bed.commit(batch_of(&id, &["next"]), &mut ground).await;
    let other: ConnectionId = "other".parse().unwrap();
    done(bed.try_commit(full(&other), None).await);
    assert_eq!(bed.state.get(&other, "cursor").await.unwrap(), Some(Blob::from("7")), "of a connection never heard of");
    assert_eq!(bed.leases.standing(&other).await.unwrap(), None, "it has no lease by that");
}

/// Many connections at once: each in its own order, none hurt by another's refusal.
pub async fn shares_groups<B: Backend>() {
    const CONNECTIONS: usize = 8;
    const BATCHES: usize = 20;
    let bed = Arc::new(Bed::<B>::fresh().await);
    let ids: Vec<ConnectionId> = (0..CONNECTIONS).map(|at| format!("c{at}").parse().unwrap()).collect();
    let mut tasks = Vec::new();
    for id in ids.clone() {
        let bed = Arc::clone(&bed);
        tasks.push(tokio::spawn(async move {
            let token = Token(9);
            let Acquire::Granted { epoch } = bed.leases.acquire(&id, token, TTL).await.unwrap() else { panic!("held") };
            let mut ground = Ground { fence: Fence { epoch, token }, count: 0 };
            for at in 0..BATCHES {
                let stale = Ground { fence: fence(99, 9), count: ground.count };
                let refused = bed.try_commit(batch_of(&id, &["never"]), Some(stale));
                let keys = [format!("{at:03}-0"), format!("{at:03}-1")];
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                let (refused, receipt) = tokio::join!(refused, bed.commit(batch_of(&id, &keys), &mut ground));
                assert_eq!(refused, Commit::Fenced);
                assert_eq!(receipt.events.len(), 2);
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    for id in ids {
        let log = bed.log_of(&Filter { connection: Some(id.clone()), name: None }).await;
        let keys: Vec<String> = log.into_iter().map(|record| record.event.key).collect();
        let wanted: Vec<String> = (0..BATCHES).flat_map(|at| [format!("{at:03}-0"), format!("{at:03}-1")]).collect();
        assert_eq!(keys, wanted, "{id}");
    }
}

/// The end of an inbox row is what marks a dispatch without events as settled.
pub async fn ends_rows_once<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut parking = batch(&id, Vec::new());
    parking.parked.push(row("lane", "bad"));
    let Receipt { rows, .. } = done(bed.try_commit(parking, None).await);
    let died = crate::commit::Settled { row: Some(rows[0]), ..ended("lane", "bad", Outcome::Dead(death())) };
    for _ in 0..2 {
        bed.commit_unbound(vec![died.clone()]).await;
        assert_eq!(bed.dead_letters.count(None).await.unwrap(), 1);
        assert_eq!(bed.inbox.depth(&id).await.unwrap().rows, 0);
    }
}

/// Where text had to be changed, the payload is kept beside the event.
pub async fn keeps_raw_payloads<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let changed = |key: &str| Admitted { event: event(key), sanitized: true };
    let clean = |key: &str| Admitted { event: event(key), sanitized: false };
    let events = vec![clean("a"), changed("b"), clean("c"), changed("d")];
    bed.commit_unbound(vec![
        settled(vec![event("before")]),
        ended("lane", "raw \\u0000", Outcome::Events(events)),
        ended("lane", "other", Outcome::Events(vec![changed("e")])),
    ])
    .await;
    let mut raw = Vec::new();
    for record in bed.log().await {
        raw.push((record.event.key, record.sanitized, bed.events.raw(record.position).await.unwrap()));
    }
    let kept = |key: &str, payload: &str| (key.to_owned(), true, Some(Blob::from(payload)));
    let none = |key: &str| (key.to_owned(), false, None);
    let (b, d, e) = (kept("b", "raw \\u0000"), kept("d", "raw \\u0000"), kept("e", "other"));
    assert_eq!(raw, [none("before"), none("a"), b, none("c"), d, e]);
    assert_eq!(bed.events.raw(1 << 40).await.unwrap(), None);
}
