//! The log, read side, and its cursors.

use std::time::Duration;

use jackfield_model::{Clock as _, ConnectionId, Event};
use tokio::time::timeout;

use crate::conformance::bed::done;
use crate::conformance::sample::{batch, batch_of, connection, event, settled};
use crate::conformance::{Backend, Bed, End};
use crate::event::{Filter, Record};

/// Longer than any write takes on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn keys(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.event.key.as_str()).collect()
}

/// By position, oldest first, none twice and none left out.
pub async fn pages<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    assert_eq!(keys(&bed.events.page(&Filter::default(), 0, 10).await.unwrap()), Vec::<&str>::new());
    let all: Vec<String> = (0..250).map(|at| format!("{at:03}")).collect();
    for chunk in all.chunks(50) {
        let keys: Vec<&str> = chunk.iter().map(String::as_str).collect();
        done(bed.try_commit(batch_of(&connection(), &keys), None).await);
    }
    assert_eq!(bed.keys().await, all);
    let page = bed.events.page(&Filter::default(), 0, 3).await.unwrap();
    assert_eq!(keys(&page), ["000", "001", "002"]);
    let next = bed.events.page(&Filter::default(), page[2].position, 2).await.unwrap();
    assert_eq!(keys(&next), ["003", "004"]);
    assert_eq!(keys(&bed.events.newest(&Filter::default(), 2).await.unwrap()), ["248", "249"]);
    assert_eq!(bed.events.newest(&Filter::default(), 1000).await.unwrap().len(), 250);
    for none in [bed.events.page(&Filter::default(), u64::MAX, 3), bed.events.page(&Filter::default(), 0, 0)] {
        assert_eq!(none.await.unwrap(), []);
    }
}

/// By connection and by name, each alone and both.
pub async fn filters<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let (left, right): (ConnectionId, ConnectionId) = ("left".parse().unwrap(), "right".parse().unwrap());
    for (id, name, key) in [
        (&left, "message.created", "a"),
        (&right, "message.created", "b"),
        (&left, "reaction.added", "c"),
        (&right, "reaction.added", "d"),
        (&left, "message.created", "e"),
    ] {
        let named = Event { name: name.to_owned(), ..event(key) };
        done(bed.try_commit(batch(id, vec![settled(vec![named])]), None).await);
    }
    let of = |connection: Option<&ConnectionId>, name: Option<&str>| Filter {
        connection: connection.cloned(),
        name: name.map(str::to_owned),
    };
    let unknown: ConnectionId = "unknown".parse().unwrap();
    let cases: [(Filter, &[&str]); 6] = [
        (of(None, None), &["a", "b", "c", "d", "e"]),
        (of(Some(&left), None), &["a", "c", "e"]),
        (of(None, Some("reaction.added")), &["c", "d"]),
        (of(Some(&left), Some("message.created")), &["a", "e"]),
        (of(None, Some("nothing")), &[]),
        (of(Some(&unknown), None), &[]),
    ];
    for (filter, wanted) in cases {
        assert_eq!(keys(&bed.log_of(&filter).await), wanted, "{filter:?}");
        let newest = bed.events.newest(&filter, 2).await.unwrap();
        assert_eq!(keys(&newest), wanted[wanted.len().saturating_sub(2)..], "the newest of {filter:?}");
    }
}

/// Whoever waits for the head sees every event up to it.
pub async fn head_follows<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let mut head = bed.events.head();
    let before = *head.borrow_and_update();
    bed.commit_unbound(vec![settled(vec![event("a"), event("b")])]).await;
    timeout(PATIENCE, head.changed()).await.unwrap().unwrap();
    let now = *head.borrow_and_update();
    assert!(now > before);
    assert_eq!(bed.log().await.last().unwrap().position, now);
    bed.commit_unbound(vec![settled(vec![event("a")])]).await;
    assert!(!head.has_changed().unwrap(), "nothing new, nothing said");
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(*bed.events.head().borrow(), now);
}

/// Cursors move forward only, and never past the head.
pub async fn cursors<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    bed.commit_unbound(vec![settled(vec![event("a"), event("b"), event("c")])]).await;
    let at: Vec<u64> = bed.log().await.into_iter().map(|record| record.position).collect();
    let position = async |name: &str| bed.events.cursor(name).await.unwrap().map(|cursor| cursor.position);
    assert_eq!(position("mine").await, None);
    for (to, is) in [(0, 0), (at[1], at[1]), (at[0], at[1]), (at[2] + 1000, at[2])] {
        bed.clock.pass(Duration::from_secs(1));
        bed.events.advance("mine", to).await.unwrap();
        assert_eq!(position("mine").await, Some(is), "to {to}");
    }
    assert_eq!(bed.events.cursor("mine").await.unwrap().unwrap().moved_at, bed.clock.now());
    bed.events.advance("another", at[0]).await.unwrap();
    let bed = bed.reopen(End::Killed).await;
    let all: Vec<(String, u64)> =
        bed.events.cursors().await.unwrap().into_iter().map(|cursor| (cursor.name, cursor.position)).collect();
    assert_eq!(all, [("another".to_owned(), at[0]), ("mine".to_owned(), at[2])]);
    assert!(bed.events.forget("another").await.unwrap());
    assert!(!bed.events.forget("another").await.unwrap());
    assert_eq!(bed.events.cursors().await.unwrap().len(), 1);
}
