//! The tasks that carry out a script: the pace, the floods, and the steps by the clock.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, sleep_until};

use super::faults::{Flood, Target};
use super::script::{Pace, Start};
use super::shared::Shared;
use crate::clock;

/// Messages made under one lock. Small, so that sockets get their turn.
const CHUNK: u64 = 64;

/// How often a pace above one a tick makes its messages.
const TICK: Duration = Duration::from_millis(5);

pub(crate) fn spawn(shared: &Arc<Shared>, floods: mpsc::UnboundedReceiver<Flood>) {
    until_stop(shared, pace(Arc::clone(shared)));
    until_stop(shared, steps(Arc::clone(shared)));
    until_stop(shared, pour(Arc::clone(shared), floods));
}

fn until_stop(shared: &Arc<Shared>, work: impl Future<Output = ()> + Send + 'static) {
    let stop = shared.stop.clone();
    shared.tasks.spawn(async move {
        _ = stop.run_until_cancelled(work).await;
    });
}

async fn pace(shared: Arc<Shared>) {
    started(&shared).await;
    let messages = shared.script.messages.unwrap_or(u64::MAX);
    make(&shared, messages, shared.script.rate).await;
}

async fn steps(shared: Arc<Shared>) {
    let timed = shared.lock().steps.timed();
    started(&shared).await;
    let start = clock::now();
    for (ms, action) in timed {
        sleep_until(start + Duration::from_millis(ms)).await;
        shared.lock().perform(&action, Target::All);
    }
}

/// Floods run side by side.
async fn pour(shared: Arc<Shared>, mut floods: mpsc::UnboundedReceiver<Flood>) {
    while let Some(Flood { messages, per_second }) = floods.recv().await {
        let pace = per_second.map_or(Pace::Burst, |rate| Pace::PerSecond(f64::from(rate)));
        let flooded = Arc::clone(&shared);
        until_stop(&shared, async move { make(&flooded, messages, pace).await });
    }
}

async fn started(shared: &Shared) {
    if shared.script.start == Start::FirstReady {
        // The sender lives as long as this task.
        _ = shared.started.subscribe().wait_for(|started| *started).await;
    }
}

/// Makes messages at this pace. What a pause or a full socket held up is not made up for.
async fn make(shared: &Shared, messages: u64, pace: Pace) {
    let mut left = messages;
    let mut owed = 0.0_f64;
    let mut last = clock::now();
    while left > 0 {
        let due = match pace {
            Pace::Burst => left,
            Pace::PerSecond(rate) => {
                sleep(Duration::from_secs_f64((1.0 / rate).clamp(TICK.as_secs_f64(), 1.0))).await;
                owed += last.elapsed().as_secs_f64() * rate;
                last = clock::now();
                whole(owed).min(left)
            }
        };
        let mut made = 0;
        while made < due {
            let chunk = CHUNK.min(due - made);
            let held_up = open(shared).await;
            shared.lock().post_composed(chunk);
            tokio::task::yield_now().await;
            made += chunk;
            if held_up {
                last = clock::now();
            }
        }
        left -= made;
        #[allow(clippy::cast_precision_loss, reason = "a tick makes far fewer than 2^52 messages")]
        let paid = made as f64;
        owed -= paid;
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate, and 0 is right below 0"
)]
fn whole(owed: f64) -> u64 {
    owed as u64
}

/// Waits for the end of a pause and for room. Says whether it waited out a pause.
async fn open(shared: &Shared) -> bool {
    let mut held_up = false;
    loop {
        let (until, now) = {
            let state = shared.lock();
            (state.faults.paused_until_ms(), state.now_ms())
        };
        if until <= now {
            break;
        }
        held_up = true;
        sleep(Duration::from_millis(until - now)).await;
    }
    shared.room().await;
    held_up
}
