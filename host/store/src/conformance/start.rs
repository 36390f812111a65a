//! The start budget.

use std::time::Duration;

use jackfield_model::session::{Spend, StartBudget};
use jackfield_model::{Clock as _, Timestamp};

use crate::conformance::{Backend, Bed, End};

const KEY: &str = "credential";
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

fn budget(starts: u32) -> StartBudget {
    StartBudget { starts, window: WINDOW }
}

async fn spend<B: Backend>(bed: &Bed<B>, starts: u32) -> Spend {
    bed.starts.spend(KEY, budget(starts)).await.unwrap()
}

fn refused(until: Timestamp) -> Spend {
    Spend::Refused { until }
}

/// So many starts in any window, each counted until it leaves it.
pub async fn window<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let first = bed.clock.now();
    assert_eq!(spend(&bed, 0).await, refused(first.after(WINDOW)), "no start at all");
    assert_eq!(spend(&bed, 2).await, Spend::Spent);
    bed.clock.pass(HOUR);
    assert_eq!(spend(&bed, 2).await, Spend::Spent);
    assert_eq!(spend(&bed, 2).await, refused(first.after(WINDOW)));
    assert_eq!(
        bed.starts.spend("another", budget(2)).await.unwrap(),
        Spend::Spent,
        "keys have nothing to do with each other"
    );
    assert_eq!(bed.starts.left(KEY, budget(2)).await.unwrap().spent, 2, "what was refused is not counted");
    assert_eq!(
        spend(&bed, 1).await,
        refused(first.after(HOUR).after(WINDOW)),
        "a smaller budget looks at newer starts"
    );
    bed.clock.pass(WINDOW - HOUR);
    assert_eq!(bed.starts.left(KEY, budget(2)).await.unwrap().spent, 1);
    assert_eq!(spend(&bed, 2).await, Spend::Spent);
    assert_eq!(spend(&bed, 2).await, refused(first.after(HOUR).after(WINDOW)));
}

/// What the platform says counts down, and the smaller of the two wins.
pub async fn platform<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    bed.starts.platform_left(KEY, 2, HOUR).await.unwrap();
    let resets = bed.clock.now().after(HOUR);
    assert_eq!(spend(&bed, 100).await, Spend::Spent);
    assert_eq!(spend(&bed, 100).await, Spend::Spent);
    assert_eq!(spend(&bed, 100).await, refused(resets), "the platform's count is used up");
    let left = bed.starts.left(KEY, budget(100)).await.unwrap();
    assert_eq!((left.spent, left.platform_remaining, left.platform_resets_at), (2, Some(0), Some(resets)));
    let first = bed.clock.now();
    assert_eq!(spend(&bed, 2).await, refused(first.after(WINDOW)), "both are: the later one");
    bed.clock.pass(HOUR);
    let left = bed.starts.left(KEY, budget(100)).await.unwrap();
    assert_eq!((left.platform_remaining, left.platform_resets_at), (None, None), "its count began anew");
    assert_eq!(spend(&bed, 100).await, Spend::Spent);
    bed.starts.platform_left(KEY, 50, HOUR).await.unwrap();
    assert!(matches!(spend(&bed, 3).await, Spend::Refused { .. }), "ours is used up");
    let left = bed.starts.left(KEY, budget(3)).await.unwrap();
    assert_eq!(left.platform_remaining, Some(50), "what was refused counts nothing down");
}

/// A crash gives no start back.
pub async fn survives<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    bed.starts.platform_left(KEY, 4, WINDOW).await.unwrap();
    for round in 0..3 {
        assert_eq!(spend(&bed, 3).await, Spend::Spent, "round {round}");
        bed = bed.reopen(if round == 1 { End::Clean } else { End::Killed }).await;
    }
    assert!(matches!(spend(&bed, 3).await, Spend::Refused { .. }));
    let left = bed.starts.left(KEY, budget(3)).await.unwrap();
    assert_eq!((left.spent, left.platform_remaining), (3, Some(1)));
}

/// A clock that is set back makes the budget tighter for one window, never wider, and never blocks for longer than that.
pub async fn clock_steps<B: Backend>() {
    for back in [HOUR, WINDOW * 2, WINDOW * 3650] {
        let bed = Bed::<B>::fresh().await;
        assert_eq!(spend(&bed, 2).await, Spend::Spent);
        assert_eq!(spend(&bed, 2).await, Spend::Spent);
        bed.starts.platform_left(KEY, 0, HOUR).await.unwrap();
        let now = bed.clock.now().before(back);
        bed.clock.set(now);
        assert_eq!(bed.starts.left(KEY, budget(2)).await.unwrap().spent, 2, "{back:?} back");
        assert_eq!(spend(&bed, 2).await, refused(now.after(WINDOW)), "{back:?} back");
        bed.clock.pass(WINDOW);
        assert_eq!(spend(&bed, 2).await, Spend::Spent, "{back:?} back, one window later");
    }
}
