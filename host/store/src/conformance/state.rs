//! A connection's own map.

use jackfield_model::{Blob, ConnectionId};

use crate::commit::{Commit, Ground};
use crate::conformance::sample::{batch, connection};
use crate::conformance::{Backend, Bed, End};
use crate::state::Write;

fn set(key: &str, value: Blob) -> Write {
    Write::Set { key: key.to_owned(), value }
}

fn delete(key: &str) -> Write {
    Write::Delete { key: key.to_owned() }
}

/// Writes take effect in order, sizes are bytes, and maps of connections are apart.
pub async fn order_and_size<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let (id, other): (ConnectionId, ConnectionId) = (connection(), "other".parse().unwrap());
    let mut ground = bed.term(&id).await;
    let mut sent = batch(&id, Vec::new());
    sent.state = vec![
        set("é", Blob::from("ä")),
        set("gone", Blob::from("x")),
        delete("gone"),
        delete("never there"),
        set("twice", Blob::from("1")),
        set("twice", Blob::Binary(vec![0, 0xff].into())),
        set("back", Blob::from("1")),
        delete("back"),
        set("back", Blob::from("2")),
    ];
    bed.commit(sent, &mut ground).await;
    let bed = bed.reopen(End::Killed).await;
    for (key, value) in [
        ("é", Some(Blob::from("ä"))),
        ("gone", None),
        ("twice", Some(Blob::Binary(vec![0, 0xff].into()))),
        ("back", Some(Blob::from("2"))),
    ] {
        assert_eq!(bed.state.get(&id, key).await.unwrap(), value, "{key}");
        assert_eq!(bed.state.get(&other, key).await.unwrap(), None, "{key} of another connection");
    }
    assert_eq!(bed.state.size(&id).await.unwrap(), (2 + 2) + (5 + 2) + (4 + 1));
    assert_eq!(bed.state.size(&other).await.unwrap(), 0);
}

/// State goes with the batch that carries it, and only with it.
pub async fn under_the_fence<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let old = bed.term(&id).await;
    let new = bed.term(&id).await;
    let mut sent = batch(&id, Vec::new());
    sent.state = vec![set("k", Blob::from("v"))];
    assert_eq!(bed.try_commit(sent.clone(), Some(old)).await, Commit::Fenced);
    assert_eq!(bed.try_commit(sent.clone(), Some(Ground { count: 1, ..new })).await, Commit::Gap);
    assert_eq!(bed.state.get(&id, "k").await.unwrap(), None);
    assert!(matches!(bed.try_commit(sent, Some(new)).await, Commit::Done(_)));
    assert_eq!(bed.state.get(&id, "k").await.unwrap(), Some(Blob::from("v")));
}

/// Without a fence too: the one that is committed last stays, and a session's own count does not move.
pub async fn unbound<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    let batch_with = |writes: Vec<Write>| crate::commit::Batch { state: writes, ..batch(&id, Vec::new()) };
    bed.commit(batch_with(vec![set("k", Blob::from("session")), set("own", Blob::from("1"))]), &mut ground).await;
    let action = batch_with(vec![set("k", Blob::from("action")), set("new", Blob::from("2"))]);
    assert!(matches!(bed.try_commit(action, None).await, Commit::Done(_)));
    let mut bed = bed.reopen(End::Killed).await;
    for (key, value) in [("k", "action"), ("own", "1"), ("new", "2")] {
        assert_eq!(bed.state.get(&id, key).await.unwrap(), Some(Blob::from(value)), "{key}");
    }
    bed.commit(batch_with(vec![set("k", Blob::from("session")), delete("new")]), &mut ground).await;
    bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.state.get(&id, "k").await.unwrap(), Some(Blob::from("session")));
    assert!(matches!(bed.try_commit(batch_with(vec![delete("k")]), None).await, Commit::Done(_)));
    assert_eq!(bed.state.size(&id).await.unwrap(), (3 + 1));
}
