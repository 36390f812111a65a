//! Pruning.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::Clock as _;
use jackfield_model::action::EndingKind;
use jackfield_model::limits::DEDUPE_ENTRIES_MAX;

use crate::commit::Outcome;
use crate::conformance::bed::done;
use crate::conformance::sample::{
    batch, batch_of, closing, connection, death, ended, ending, event, execution, opening, settled,
};
use crate::conformance::{Backend, Bed, End};
use crate::execution::{Closing, Filter, Opened};
use crate::retention::{Policy, Pruned};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn policy() -> Policy {
    Policy { events: HOUR, dead_letters: HOUR, executions: HOUR, dedupe_entries: DEDUPE_ENTRIES_MAX }
}

async fn fill<B: Backend>(bed: &Bed<B>, from: usize, count: usize) {
    let keys: Vec<String> = (from..from + count).map(|at| format!("{at:05}")).collect();
    for chunk in keys.chunks(64) {
        let keys: Vec<&str> = chunk.iter().map(String::as_str).collect();
        done(bed.try_commit(batch_of(&connection(), &keys), None).await);
    }
}

/// At most 512 rows a step, oldest first, until nothing is too old.
pub async fn steps<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    fill(&bed, 0, 1100).await;
    assert_eq!(bed.retention.prune(policy()).await.unwrap(), Pruned::default(), "all of it is young");
    bed.clock.pass(HOUR);
    fill(&bed, 1100, 10).await;
    let mut pruned = Vec::new();
    loop {
        let step = bed.retention.prune(policy()).await.unwrap();
        pruned.push(step.events);
        if !step.more {
            break;
        }
        assert!(pruned.len() < 10, "steps come to an end: {pruned:?}");
    }
    assert!(pruned.iter().all(|&rows| rows <= 512), "{pruned:?}");
    assert_eq!(pruned.iter().sum::<u64>(), 1100);
    let left = bed.keys().await;
    assert_eq!((left.len(), left[0].as_str()), (10, "01100"));
}

/// Nothing that a named consumer has not dealt with is pruned, however old.
pub async fn slowest_cursor<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    fill(&bed, 0, 10).await;
    let at: Vec<u64> = bed.log().await.into_iter().map(|record| record.position).collect();
    bed.clock.pass(HOUR * 10);
    bed.events.advance("fast", at[8]).await.unwrap();
    bed.events.advance("slow", at[2]).await.unwrap();
    bed.events.advance("new", 0).await.unwrap();
    assert_eq!(bed.retention.prune(policy()).await.unwrap().events, 0);
    for (case, name, position, left) in [("slow", "new", at[4], 7), ("new", "slow", at[9], 5)] {
        bed.events.advance(name, position).await.unwrap();
        bed.retention.prune(policy()).await.unwrap();
        assert_eq!(bed.keys().await.len(), left, "`{case}` is the slowest");
    }
    assert!(bed.events.forget("new").await.unwrap());
    bed.retention.prune(policy()).await.unwrap();
    assert_eq!(bed.keys().await.len(), 1, "who is forgotten holds nothing up");
}

/// Dead letters end too, and are counted.
pub async fn letters<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let dead = |payload: &str| ended("lane", payload, Outcome::Dead(death()));
    bed.commit_unbound(vec![dead("bad"), dead("worse")]).await;
    bed.clock.pass(HOUR);
    bed.commit_unbound(vec![dead("worst")]).await;
    let pruned = bed.retention.prune(policy()).await.unwrap();
    assert_eq!(pruned, Pruned { dead_letters: 2, ..Pruned::default() });
    assert_eq!(bed.dead_letters.count(None).await.unwrap(), 1);
}

/// Executions go so long after their end; what runs never does. A key lives exactly as long as its newest execution.
pub async fn executions<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let ended = |kind| Closing { finished_at: bed.clock.now(), ..closing(kind) };
    let same =
        |at, attempt, kind: Option<EndingKind>| Opened::Same { id: execution(at), attempt, ending: kind.map(ending) };
    for (at, key, kind) in
        [(1, "again", Some(EndingKind::Retry)), (2, "done", Some(EndingKind::Done)), (3, "runs", None)]
    {
        bed.executions.open(opening(at, Some(key))).await.unwrap();
        if let Some(kind) = kind {
            assert!(bed.executions.close(execution(at), ended(kind)).await.unwrap());
        }
    }
    bed.clock.pass(HOUR / 2);
    assert_eq!(bed.executions.open(opening(4, Some("again"))).await.unwrap(), Opened::New { attempt: 2, doubt: None });
    assert!(bed.executions.close(execution(4), ended(EndingKind::Done)).await.unwrap());
    bed.clock.pass(HOUR / 2 - Duration::from_millis(1));
    assert_eq!(bed.retention.prune(policy()).await.unwrap(), Pruned::default(), "all of it is young");
    bed.clock.pass(Duration::from_millis(1));
    let pruned = bed.retention.prune(policy()).await.unwrap();
    assert_eq!(pruned, Pruned { executions: 2, ..Pruned::default() });
    let all = bed.executions.executions(&Filter::default(), None, 10).await.unwrap();
    assert_eq!(all.iter().map(|row| row.id).collect::<Vec<_>>(), [execution(4), execution(3)]);
    let made = Filter { provider_id: Some("4711".to_owned()), ..Filter::default() };
    let made = bed.executions.executions(&made, None, 10).await.unwrap();
    assert_eq!(made.iter().map(|row| row.id).collect::<Vec<_>>(), [execution(4)]);
    let again = bed.executions.open(opening(5, Some("again"))).await.unwrap();
    assert_eq!(again, same(4, 2, Some(EndingKind::Done)), "its first execution is gone, its newest is not");
    assert_eq!(
        bed.executions.open(opening(5, Some("done"))).await.unwrap(),
        Opened::New { attempt: 1, doubt: None },
        "a new key"
    );
    bed.clock.pass(HOUR * 100);
    bed.retention.prune(policy()).await.unwrap();
    assert_eq!(bed.executions.open(opening(6, Some("runs"))).await.unwrap(), same(3, 1, None), "it runs for days");
    assert!(bed.executions.close(execution(3), ended(EndingKind::Done)).await.unwrap());
    assert_eq!(bed.retention.prune(policy()).await.unwrap(), Pruned::default(), "counted from its end");
    bed.clock.pass(HOUR);
    assert_eq!(bed.retention.prune(policy()).await.unwrap().executions, 1);
    let left = bed.executions.executions(&Filter::default(), None, 10).await.unwrap();
    assert_eq!(left.iter().map(|row| row.id).collect::<Vec<_>>(), [execution(5)], "what runs");
}

/// At most 512 executions a step too, oldest end first.
pub async fn execution_steps<B: Backend>() {
    const COUNT: u64 = 700;
    let bed = Arc::new(Bed::<B>::fresh().await);
    let start = bed.clock.now();
    let tasks: Vec<_> = (1..=COUNT)
        .map(|at| {
            let bed = Arc::clone(&bed);
            tokio::spawn(async move {
                bed.executions.open(opening(at, Some(&at.to_string()))).await.unwrap();
                // Those that began last ended first.
                let finished_at = start.after(Duration::from_millis(COUNT - at));
                let closing = Closing { finished_at, ..closing(EndingKind::Done) };
                assert!(bed.executions.close(execution(at), closing).await.unwrap());
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    bed.clock.pass(HOUR * 2);
    let first = bed.retention.prune(policy()).await.unwrap();
    assert!(first.executions <= 512 && first.more, "{first:?}");
    let left = bed.executions.executions(&Filter::default(), None, 1000).await.unwrap();
    let newest = execution(COUNT - first.executions);
    assert_eq!((left.len() as u64, left[0].id), (COUNT - first.executions, newest));
    let second = bed.retention.prune(policy()).await.unwrap();
    assert_eq!((first.executions + second.executions, second.more), (COUNT, false));
}

/// Positions are not used again, even when the whole log is gone; raw payloads go with their events.
pub async fn positions_go_on<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let changed = crate::commit::Admitted { event: event("changed"), sanitized: true };
    done(bed.try_commit(batch(&connection(), vec![ended("lane", "raw", Outcome::Events(vec![changed]))]), None).await);
    fill(&bed, 0, 5).await;
    let log = bed.log().await;
    let (raw, newest) = (log[0].position, log[5].position);
    assert!(bed.events.raw(raw).await.unwrap().is_some());
    bed.clock.pass(HOUR);
    assert_eq!(bed.retention.prune(policy()).await.unwrap().events, 6);
    assert_eq!(bed.events.raw(raw).await.unwrap(), None);
    let mut bed = bed;
    for end in [End::Killed, End::Clean] {
        bed = bed.reopen(end).await;
        assert_eq!(*bed.events.head().borrow(), newest);
    }
    bed.commit_unbound(vec![settled(vec![event("next")])]).await;
    assert!(bed.log().await[0].position > newest);
}
