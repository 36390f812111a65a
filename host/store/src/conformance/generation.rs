//! Generations, and the key of names.

use std::collections::BTreeSet;
use std::sync::Arc;

use jackfield_model::{ConnectionId, Digest, Generation};

use crate::conformance::sample::connection;
use crate::conformance::{Backend, Bed, End};
use crate::generation::{NamingKey, Serving};

/// The newest digest keeps its number; any other gets the next one, an earlier one of the connection too.
pub async fn numbers_grow<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let other: ConnectionId = "other".parse().unwrap();
    let [old, new] = [Digest::of(b"old"), Digest::of(b"new")];
    assert_eq!(bed.generations.serving().await.unwrap(), []);
    for (end, id, digest, number) in [
        (None, connection(), old, 1),
        (None, connection(), old, 1),
        (Some(End::Killed), connection(), old, 1),
        (None, other.clone(), old, 1),
        (Some(End::Killed), connection(), new, 2),
        (Some(End::Clean), connection(), new, 2),
        (None, connection(), old, 3),
        (Some(End::Killed), other.clone(), new, 2),
    ] {
        if let Some(end) = end {
            bed = bed.reopen(end).await;
        }
        assert_eq!(bed.generations.number(&id, digest).await.unwrap(), Generation(number), "{id} {digest}");
    }
    let bed = bed.reopen(End::Killed).await;
    let serving = |digest, number| Serving { digest, number: Generation(number) };
    assert_eq!(bed.generations.serving().await.unwrap(), [(connection(), serving(old, 3)), (other, serving(new, 2))]);
}

/// Whoever asks at the same time gets the same answer for the same code, and another for other code.
pub async fn at_once<B: Backend>() {
    let bed = Arc::new(Bed::<B>::fresh().await);
    let ask = |digest| {
        let bed = Arc::clone(&bed);
        tokio::spawn(async move { bed.generations.number(&connection(), digest).await.unwrap() })
    };
    let same: Vec<_> = (0..20).map(|_| ask(Digest::of(b"same"))).collect();
    for answer in same {
        assert_eq!(answer.await.unwrap(), Generation(1));
    }
    let others: Vec<_> = (0..20_u8).map(|at| ask(Digest::of(&[at]))).collect();
    let mut numbers = BTreeSet::new();
    for answer in others {
        numbers.insert(answer.await.unwrap().0);
    }
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), (2..22).collect::<Vec<_>>());
}

/// The first key stays, whatever is offered later.
pub async fn naming_key<B: Backend>() {
    let key = |text: &str| NamingKey(text.to_owned());
    let bed = Bed::<B>::fresh().await;
    assert_eq!(bed.generations.naming_key(key("first")).await.unwrap(), key("first"));
    assert_eq!(bed.generations.naming_key(key("second")).await.unwrap(), key("first"));
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.generations.naming_key(key("third")).await.unwrap(), key("first"));
    assert!(!format!("{:?}", key("secret")).contains("secret"));
}
