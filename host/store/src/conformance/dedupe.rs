//! What was seen already, and for how long that is known.

use std::time::Duration;

use jackfield_model::{ConnectionId, Event};

use crate::commit::Stored;
use crate::conformance::bed::done;
use crate::conformance::sample::{batch, connection, event, recurring, settled};
use crate::conformance::{Backend, Bed, End};
use crate::retention::Policy;

/// What makes two events the same one.
pub async fn table<B: Backend>() {
    let other: ConnectionId = "other".parse().unwrap();
    let named = |name: &str, event: Event| Event { name: name.to_owned(), ..event };
    let later = Event { occurred_at: jackfield_model::Timestamp(5), ..event("k") };
    let reworded = Event { properties: "{}".to_owned(), ..event("k") };
    let mut bed = Bed::<B>::fresh().await;
    for (case, first, second, elsewhere, known) in [
        ("the same thing", event("k"), event("k"), false, true),
        ("the same thing in other words", event("k"), reworded, false, true),
        ("one thing whose time is told differently", event("k"), later, false, true),
        ("another key", event("k"), event("K"), false, false),
        ("another name", event("k"), named("message.edited", event("k")), false, false),
        ("parts that read the same together", named("ab", event("c")), named("a", event("bc")), false, false),
        ("another connection", event("k"), event("k"), true, false),
        ("again at the same time", recurring("k", 7), recurring("k", 7), false, true),
        ("again at another time", recurring("k", 7), recurring("k", 8), false, false),
    ] {
        for (round, end) in [None, Some(End::Clean), Some(End::Killed)].into_iter().enumerate() {
            let tag = |mut event: Event| {
                event.key = format!("{case}/{round}/{}", event.key);
                event
            };
            bed.commit_unbound(vec![settled(vec![tag(first.clone())])]).await;
            if let Some(end) = end {
                bed = bed.reopen(end).await;
            }
            let id = if elsewhere { other.clone() } else { connection() };
            let again = batch(&id, vec![settled(vec![tag(second.clone())])]);
            let receipt = done(bed.try_commit(again, None).await);
            assert_eq!(receipt.events[0] == [Stored::Known], known, "{case}, then {end:?}");
        }
    }
}

/// A known event is skipped; its dispatch's other events are not.
pub async fn within_a_batch<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let twice = vec![settled(vec![event("a"), event("a"), event("b")]), settled(vec![event("b"), event("c")])];
    let known: Vec<Vec<bool>> = bed
        .commit_unbound(twice)
        .await
        .events
        .into_iter()
        .map(|events| events.into_iter().map(|stored| stored == Stored::Known).collect())
        .collect();
    assert_eq!(known, [vec![false, true, false], vec![true, false]]);
    assert_eq!(bed.keys().await, ["a", "b", "c"]);
}

/// The window is counted in entries, per connection; what has left it is new again.
pub async fn window<B: Backend>() {
    let other: ConnectionId = "other".parse().unwrap();
    let mut bed = Bed::<B>::with_window(4).await;
    for key in ["a", "b", "c", "d", "e"] {
        bed.commit_unbound(vec![settled(vec![event(key)])]).await;
    }
    for at in 0..10 {
        let foreign = batch(&other, vec![settled(vec![event(&format!("foreign {at}"))])]);
        done(bed.try_commit(foreign, None).await);
    }
    for end in [End::Killed, End::Clean] {
        bed = bed.reopen(end).await;
        let receipt = bed.commit_unbound(["b", "c", "d", "e"].map(|key| settled(vec![event(key)])).into()).await;
        assert!(receipt.events.iter().flatten().all(|&stored| stored == Stored::Known), "{end:?}: {receipt:?}");
    }
    let forgotten = bed.commit_unbound(vec![settled(vec![event("a")])]).await;
    assert!(matches!(forgotten.events[0][..], [Stored::New(_)]), "`a` was the fifth newest");
    // `a` came back, so `b` is the fifth newest now.
    let bed = bed.reopen(End::Killed).await;
    let receipt = bed.commit_unbound(["a", "b"].map(|key| settled(vec![event(key)])).into()).await;
    assert!(
        matches!((&receipt.events[0][..], &receipt.events[1][..]), ([Stored::Known], [Stored::New(_)])),
        "{receipt:?}"
    );
}

/// Pruning an event does not forget it while it is inside the window.
pub async fn outlives_events<B: Backend>() {
    let mut bed = Bed::<B>::with_window(4).await;
    for key in ["a", "b", "c", "d", "e"] {
        bed.commit_unbound(vec![settled(vec![event(key)])]).await;
    }
    bed.clock.pass(Duration::from_secs(60));
    let policy =
        Policy { events: Duration::ZERO, dead_letters: Duration::MAX, executions: Duration::MAX, dedupe_entries: 4 };
    assert_eq!(bed.retention.prune(policy).await.unwrap().events, 5);
    assert_eq!(bed.keys().await, Vec::<String>::new());
    for end in [End::Killed, End::Clean] {
        bed = bed.reopen(end).await;
        let receipt = bed.commit_unbound(["b", "c", "d", "e"].map(|key| settled(vec![event(key)])).into()).await;
        assert!(receipt.events.iter().flatten().all(|&stored| stored == Stored::Known), "{end:?}: {receipt:?}");
        bed.retention.prune(policy).await.unwrap();
    }
    // Half of the window from the log, half from what was pruned.
    bed.commit_unbound(["f", "g"].map(|key| settled(vec![event(key)])).into()).await;
    bed.retention.prune(Policy { events: Duration::MAX, ..policy }).await.unwrap();
    let bed = bed.reopen(End::Killed).await;
    let known = ["b", "c", "d", "e", "f", "g"].map(|key| settled(vec![event(key)]));
    let mut seen = Vec::new();
    for one in known.into_iter().rev() {
        let receipt = bed.commit_unbound(vec![one]).await;
        seen.push(receipt.events[0] == [Stored::Known]);
    }
    // Newest first: g, f, e, d are inside; c is not, and pushes the others on.
    assert_eq!(seen[..5], [true, true, true, true, false]);
}
