//! Connections that wait for somebody.

use jackfield_model::Timestamp;

use crate::commit::Ground;
use crate::conformance::sample::connection;
use crate::conformance::{Backend, Bed, End};
use crate::parked::Record;

/// Parked under the newest fence, whatever its count; until somebody lets it go.
pub async fn until_unparked<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let record = |code: &str| Record {
        code: code.to_owned(),
        message: "the platform refuses the token".to_owned(),
        todo: "set another one".to_owned(),
        since: Timestamp(7),
        fingerprint: "f1".to_owned(),
    };
    let old = bed.term(&id).await;
    assert!(!bed.parked.park(&"other".parse().unwrap(), record("fatal"), old).await.unwrap());
    let ground = bed.term(&id).await;
    assert!(!bed.parked.park(&id, record("fatal"), old).await.unwrap(), "a stale fence parks nothing");
    assert_eq!(bed.parked.parked(&id).await.unwrap(), None);
    assert!(bed.parked.park(&id, record("fatal"), Ground { count: 99, ..ground }).await.unwrap());
    assert!(bed.parked.park(&id, record("frame-limit"), ground).await.unwrap(), "again: the newest reason counts");
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.parked.parked(&id).await.unwrap(), Some(record("frame-limit")));
    assert!(bed.parked.unpark(&id).await.unwrap());
    assert!(!bed.parked.unpark(&id).await.unwrap());
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.parked.parked(&id).await.unwrap(), None);
}
