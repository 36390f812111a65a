use std::pin::pin;

use futures::{FutureExt as _, poll};
use jackfield_model::clock;

use super::*;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The places of so many calls, in the order in which they were taken. Of their buckets nothing is known: one goes at a time.
fn calls<const COUNT: usize>() -> (Buckets, [Places; COUNT]) {
    let clock = clock::system();
    let buckets = Buckets::new(clock.clone());
    let places = std::array::from_fn(|nth| {
        let leaves = (CancellationToken::new(), clock.monotonic() + HOUR);
        Places::new((buckets.clone(), Ticket(nth as u64)), clock.clone(), leaves)
    });
    (buckets, places)
}

/// The request of the next place is sent and answered.
async fn send(places: &Places) {
    let mut place = places.next().await.unwrap().unwrap();
    place.departed();
    places.answered(place);
}

fn is_free(buckets: &Buckets, bucket: &str) -> bool {
    buckets.try_reserve(bucket, Ticket(u64::MAX)).is_ok()
}

#[tokio::test]
async fn two_calls_that_want_two_buckets_in_opposite_order_do_not_wait_for_each_other() {
    let (buckets, [one, two]) = calls();
    one.reserve("a", true).await.unwrap();
    two.reserve("b", true).await.unwrap();
    let mut waits = pin!(one.reserve("b", true));
    assert!(poll!(&mut waits).is_pending());
    // The first one has let go of what the second one wants.
    two.reserve("a", true).now_or_never().unwrap().unwrap();
    send(&two).await;
    two.told("b", 0, Duration::ZERO);
    waits.await.unwrap();
    // And gets it back in time for its request.
    let mut sends = pin!(send(&one));
    assert!(poll!(&mut sends).is_pending());
    send(&two).await;
    two.told("a", 0, Duration::ZERO);
    sends.await;
    send(&one).await;
    assert!(one.next().await.unwrap().is_none());
    assert!(!is_free(&buckets, "a"), "the request of the first one was answered, and nothing said of the bucket");
    one.run_ended();
    assert!(is_free(&buckets, "a"));
}

#[tokio::test]
async fn an_answered_request_holds_nothing_while_its_call_waits() {
    let (_, [one, two]) = calls();
    one.reserve("a", false).await.unwrap();
    send(&one).await;
    two.reserve("b", false).await.unwrap();
    send(&two).await;
    let mut waits = pin!(one.reserve("b", true));
    assert!(poll!(&mut waits).is_pending());
    two.reserve("a", true).now_or_never().unwrap().unwrap();
    two.run_ended();
    waits.await.unwrap();
}

#[tokio::test]
async fn what_is_there_is_taken_and_nothing_given_back_for_it() {
    let (buckets, [one]) = calls();
    one.reserve("a", true).await.unwrap();
    one.reserve("b", true).await.unwrap();
    assert!(!is_free(&buckets, "a") && !is_free(&buckets, "b"));
    one.run_ended();
    assert!(is_free(&buckets, "a") && is_free(&buckets, "b"));
}

#[tokio::test]
async fn a_place_that_was_granted_and_is_given_back_was_not_used() {
    let (buckets, [one, two]) = calls();
    let granted = one.turn("a").await.unwrap();
    one.grant(granted);
    two.reserve("b", false).await.unwrap();
    let mut waits = pin!(one.reserve("b", true));
    assert!(poll!(&mut waits).is_pending());
    assert!(is_free(&buckets, "a"));
    two.run_ended();
    waits.await.unwrap();
    assert!(!one.run_ended());
    let granted = one.turn("a").await.unwrap();
    one.grant(granted);
    one.reserve("a", false).await.unwrap();
    assert!(one.run_ended());
}

#[tokio::test]
async fn what_the_host_said_itself_is_no_news() {
    let (_, [one, two]) = calls();
    assert!(one.is_news("a"));
    two.reserve("a", false).await.unwrap();
    assert_eq!(one.reserve("a", false).await, Err(Busy { after: None }));
    assert!(!one.is_news("a") && one.is_news("b"));
    // The platform has said something since.
    one.told("a", 0, Duration::ZERO);
    assert!(one.is_news("a"));
    one.reserve("a", false).await.unwrap_err();
    two.run_ended();
    one.reserve("a", false).await.unwrap();
    assert!(one.is_news("a"), "it has a place, so a refusal would be the platform's");
    two.reserve("a", false).await.unwrap_err();
    two.run_ended();
    assert!(two.is_news("a"), "another run");
}

#[tokio::test]
async fn who_was_left_waits_no_more() {
    let (_, [one, two]) = calls();
    two.reserve("a", false).await.unwrap();
    let mut waits = pin!(one.reserve("a", true));
    assert!(poll!(&mut waits).is_pending());
    one.leaves.0.cancel();
    assert_eq!(waits.await, Err(Busy { after: None }));
}
