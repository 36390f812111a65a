//! The component's own stack, which is small so that fresh instances are quick: the deepest payload that is taken fits on it.
//! Natively frames have other sizes, so only the component itself can show it.

use std::sync::Arc;

use jackfield_engine::transform::Received;
use jackfield_model::Dispatch;
use jackfield_model::event::Answer;
use jackfield_tests::guest;
use jackfield_tests::sandbox::{Bench, received};

/// A command with options in options: what the connector reads recursively.
fn command(depth: usize) -> Received {
    let (open, close) = (r#"{"name":"a","options":["#.repeat(depth), "]}".repeat(depth));
    let text = format!(r#"{{"d":{{"id":"1","type":2,"data":{{"name":"c","options":[{open}{close}]}}}}}}"#);
    let plain = received(&text);
    let dispatch = Dispatch { kind: "INTERACTION_CREATE".to_owned(), ..(*plain.dispatch).clone() };
    Received { dispatch: Arc::new(dispatch), ..plain }
}

#[tokio::test]
async fn the_deepest_payload_fits_on_the_stack() {
    let bench = Bench::new(guest::DISCORD).await;
    let pool = bench.pool();
    let mut deepest = 0;
    for depth in 1..200 {
        let answers =
            pool.transform(&[command(depth)]).await.unwrap_or_else(|failure| panic!("depth {depth}: {failure}"));
        match answers.as_slice() {
            [Answer::Events(_)] => deepest = depth,
            [Answer::Malformed(_)] => {}
            other => panic!("depth {depth}: {other:?}"),
        }
    }
    assert!((55..70).contains(&deepest), "options nested {deepest} deep were the deepest that were taken");
}
