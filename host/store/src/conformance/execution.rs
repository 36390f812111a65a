//! The ledger of actions, and the keys under which callers submit them.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::action::{Ending, EndingKind, Outcome};
use jackfield_model::{Clock as _, ConnectionId, Digest, ExecutionId, Generation, Timestamp};

use crate::conformance::sample::{closing, connection, ending, execution, opening};
use crate::conformance::{Backend, Bed, End};
use crate::execution::{Closing, Execution, Filter, Opened, Opening, Repeats, Request, Surface};

const FIRST: Opened = Opened::New { attempt: 1, doubt: None };

fn same(id: ExecutionId, attempt: u32, ending: Option<Ending>) -> Opened {
    Opened::Same { id, attempt, ending }
}

/// When `opening(1, …)` is submitted.
fn first_submitted() -> Timestamp {
    opening(1, None).submitted_at
}

async fn ids<B: Backend>(bed: &Bed<B>, filter: &Filter, before: Option<ExecutionId>, limit: usize) -> Vec<ExecutionId> {
    let rows = bed.executions.executions(filter, before, limit).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

/// A row is whole and durable when it is opened, and when it is closed.
pub async fn rows<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let asked = Opening {
        surface: Surface::Library,
        caller: "odd \u{0} caller".to_owned(),
        args: r#"{"text":"[secret:bot-token] é"}"#.to_owned(),
        approved: Some("ops".to_owned()),
        attempt: 7,
        generation: Generation(u64::MAX),
        ..opening(1, Some("k"))
    };
    assert_eq!(bed.executions.open(asked.clone()).await.unwrap(), Opened::New { attempt: 7, doubt: None });
    let running = Execution {
        id: asked.id,
        connection: asked.connection.clone(),
        generation: asked.generation,
        digest: asked.digest,
        action: asked.action.clone(),
        surface: asked.surface,
        caller: asked.caller.clone(),
        key: asked.key.clone(),
        attempt: 7,
        approved: asked.approved.clone(),
        args: asked.args.clone(),
        submitted_at: asked.submitted_at,
        started_at: None,
        finished_at: None,
        waited_ms: 0,
        outcome: None,
        reason: None,
        result: String::new(),
        provider_ids: Vec::new(),
        notes: Vec::new(),
        requests: Vec::new(),
    };
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.executions.execution(asked.id).await.unwrap(), Some(running.clone()));
    let request = |status: Option<u16>| Request {
        at: Timestamp(5),
        method: "POST".to_owned(),
        target: "https://discord.com/api/v10/channels/1/messages".to_owned(),
        left: status.is_some(),
        status,
        fault: status.is_none().then(|| "refused".to_owned()),
        ms: 12,
    };
    let ended = Closing {
        ending: Ending::Partial(Outcome { provider_ids: strings(&["2", "1", "2"]), ..Outcome::default() }),
        result: r#"{"id":"1"}"#.to_owned(),
        notes: strings(&["a trap", "again"]),
        requests: vec![request(None), request(Some(429))],
        waited_ms: 99,
        started_at: Some(Timestamp(4)),
        finished_at: Timestamp(6),
    };
    assert!(bed.executions.close(asked.id, ended.clone()).await.unwrap());
    let bed = bed.reopen(End::Killed).await;
    let wanted = Execution {
        started_at: ended.started_at,
        finished_at: Some(ended.finished_at),
        waited_ms: ended.waited_ms,
        outcome: Some(EndingKind::Partial),
        result: ended.result,
        provider_ids: strings(&["2", "1", "2"]),
        notes: ended.notes,
        requests: ended.requests,
        ..running
    };
    assert_eq!(bed.executions.execution(asked.id).await.unwrap(), Some(wanted));
    assert_eq!(bed.executions.execution(execution(2)).await.unwrap(), None);
    assert!(bed.executions.open(opening(1, None)).await.is_err(), "an id is used once");
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// The first ending stays, in the ledger and under the key.
pub async fn ends_once<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    assert!(!bed.executions.close(execution(1), closing(EndingKind::Done)).await.unwrap(), "it was never opened");
    bed.executions.open(opening(1, Some("k"))).await.unwrap();
    bed.executions.open(opening(2, None)).await.unwrap();
    for id in [execution(1), execution(2)] {
        assert!(bed.executions.close(id, closing(EndingKind::Rejected)).await.unwrap());
        assert!(!bed.executions.close(id, closing(EndingKind::Done)).await.unwrap());
        let row = bed.executions.execution(id).await.unwrap().unwrap();
        assert_eq!((row.outcome, row.reason.as_deref()), (Some(EndingKind::Rejected), Some("because")));
        assert_eq!(row.provider_ids, Vec::<String>::new());
    }
    let again = bed.executions.open(opening(3, Some("k"))).await.unwrap();
    assert_eq!(again, same(execution(1), 1, Some(ending(EndingKind::Rejected))));
    assert_eq!(bed.executions.execution(execution(3)).await.unwrap(), None, "what was refused left no row");
}

/// What every ending means for the same request under the same key, and for another one.
pub async fn submissions<B: Backend>() {
    for (kind, repeats, again) in [
        (EndingKind::Done, Repeats::Always, false),
        (EndingKind::Partial, Repeats::Always, false),
        (EndingKind::Rejected, Repeats::Always, false),
        (EndingKind::Retry, Repeats::Never, true),
        (EndingKind::Unauthorized, Repeats::Never, true),
        (EndingKind::Unknown, Repeats::Never, false),
        (EndingKind::Unknown, Repeats::Always, true),
    ] {
        let bed = Bed::<B>::fresh().await;
        let first = opening(1, Some("k"));
        let next = Opening { repeats, ..opening(2, Some("k")) };
        let other = Opening { args_digest: Digest::of(b"other"), repeats, ..opening(3, Some("k")) };
        assert_eq!(bed.executions.open(first.clone()).await.unwrap(), FIRST);
        let bed = bed.reopen(End::Killed).await;
        assert_eq!(bed.executions.open(next.clone()).await.unwrap(), same(first.id, 1, None), "it runs");
        let conflict = Opened::Conflict { id: first.id };
        assert_eq!(bed.executions.open(other.clone()).await.unwrap(), conflict, "it runs");
        bed.executions.close(first.id, closing(kind)).await.unwrap();
        let bed = bed.reopen(End::Killed).await;
        assert_eq!(bed.executions.open(other.clone()).await.unwrap(), conflict, "{kind:?}");
        let opened = bed.executions.open(next.clone()).await.unwrap();
        if !again {
            assert_eq!(opened, same(first.id, 1, Some(ending(kind))), "{kind:?}, {repeats:?}");
            continue;
        }
        let doubt = (kind == EndingKind::Unknown).then(first_submitted);
        assert_eq!(opened, Opened::New { attempt: 2, doubt }, "{kind:?}, {repeats:?}");
        let bed = bed.reopen(End::Killed).await;
        assert_eq!(bed.executions.open(opening(4, Some("k"))).await.unwrap(), same(next.id, 2, None), "{kind:?}");
        assert_eq!(bed.executions.open(other).await.unwrap(), Opened::Conflict { id: next.id }, "{kind:?}");
        bed.executions.close(next.id, closing(EndingKind::Done)).await.unwrap();
        let told = same(next.id, 2, Some(ending(EndingKind::Done)));
        assert_eq!(bed.executions.open(opening(4, Some("k"))).await.unwrap(), told, "{kind:?}");
        assert_eq!(ids(&bed, &Filter::default(), None, 10).await, [next.id, first.id]);
    }
}

/// An attempt that certainly did nothing does not make up for one before it that may have.
pub async fn doubt<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let attempt = |at, repeats| Opening { repeats, ..opening(at, Some("k")) };
    let (never, always) = (Repeats::Never, Repeats::Always);
    bed.executions.open(attempt(1, always)).await.unwrap();
    bed.executions.close(execution(1), closing(EndingKind::Unknown)).await.unwrap();
    bed.executions.open(attempt(2, always)).await.unwrap();
    bed.executions.close(execution(2), closing(EndingKind::Retry)).await.unwrap();
    let bed = bed.reopen(End::Killed).await;
    match bed.executions.open(attempt(3, never)).await.unwrap() {
        Opened::Same { id, attempt: 2, ending: Some(Ending::Unknown { .. }) } => assert_eq!(id, execution(2)),
        other => panic!("{other:?}"),
    }
    let doubt = Some(first_submitted());
    assert_eq!(bed.executions.open(attempt(4, always)).await.unwrap(), Opened::New { attempt: 3, doubt });
    bed.executions.close(execution(4), closing(EndingKind::Done)).await.unwrap();
    let told = same(execution(4), 3, Some(ending(EndingKind::Done)));
    assert_eq!(bed.executions.open(attempt(5, never)).await.unwrap(), told, "done is done");
}

/// A platform knows a key for a while, counted from the first attempt that may have done it, and no longer.
pub async fn windows<B: Backend>() {
    const WINDOW: Duration = Duration::from_secs(120);
    let bed = Bed::<B>::fresh().await;
    let attempt = |at| Opening { repeats: Repeats::Within(WINDOW), ..opening(at, Some("k")) };
    let window = u64::try_from(WINDOW.as_millis()).unwrap();
    let second = 1_000;
    // An attempt that did nothing is no beginning.
    bed.executions.open(attempt(1)).await.unwrap();
    bed.executions.close(execution(1), closing(EndingKind::Retry)).await.unwrap();
    assert_eq!(bed.executions.open(attempt(second)).await.unwrap(), Opened::New { attempt: 2, doubt: None });
    bed.executions.close(execution(second), closing(EndingKind::Unknown)).await.unwrap();
    let bed = bed.reopen(End::Killed).await;
    let doubt = Some(attempt(second).submitted_at);
    let last = second + window - 1;
    for (at, counted, kind) in [(last - 1, 3, EndingKind::Unknown), (last, 4, EndingKind::Retry)] {
        let opened = bed.executions.open(attempt(at)).await.unwrap();
        assert_eq!(opened, Opened::New { attempt: counted, doubt }, "{at}");
        bed.executions.close(execution(at), closing(kind)).await.unwrap();
    }
    match bed.executions.open(attempt(last + 1)).await.unwrap() {
        Opened::Same { id, attempt: 4, ending: Some(Ending::Unknown { .. }) } => assert_eq!(id, execution(last)),
        other => panic!("{other:?}"),
    }
}

/// Keys of connections and of actions have nothing to do with each other; without a key nothing is the same.
pub async fn keys_are_apart<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let other: ConnectionId = "other".parse().unwrap();
    let openings = [
        opening(1, Some("k")),
        opening(2, Some("K")),
        opening(3, Some("k\u{0}")),
        opening(4, Some("")),
        opening(5, None),
        opening(6, None),
        Opening { action: "edit-message".to_owned(), ..opening(7, Some("k")) },
        Opening { connection: other, ..opening(8, Some("k")) },
    ];
    for opening in openings {
        let id = opening.id;
        assert_eq!(bed.executions.open(opening).await.unwrap(), FIRST, "{id}");
    }
}

/// The store counts, and so does the caller: the larger number counts.
pub async fn attempts<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let attempt = |at, attempt| Opening { attempt, ..opening(at, Some("k")) };
    for (at, said, counted) in [(1, 0, 1), (2, 1, 2), (3, 9, 9), (4, 3, 10), (5, u32::MAX, u32::MAX), (6, 1, u32::MAX)]
    {
        let opened = bed.executions.open(attempt(at, said)).await.unwrap();
        assert_eq!(opened, Opened::New { attempt: counted, doubt: None }, "attempt {at}, said to be {said}");
        assert_eq!(bed.executions.execution(execution(at)).await.unwrap().unwrap().attempt, counted);
        bed.executions.close(execution(at), closing(EndingKind::Retry)).await.unwrap();
    }
    let keyless = Opening { key: None, ..attempt(7, 0) };
    assert_eq!(bed.executions.open(keyless).await.unwrap(), FIRST);
}

/// Of a hundred that submit the same at once one runs, and the others are told which.
pub async fn concurrent<B: Backend>() {
    const CALLERS: u64 = 100;
    let bed = Arc::new(Bed::<B>::fresh().await);
    let tasks: Vec<_> = (1..=CALLERS)
        .map(|at| {
            let bed = Arc::clone(&bed);
            tokio::spawn(async move { (execution(at), bed.executions.open(opening(at, Some("k"))).await.unwrap()) })
        })
        .collect();
    let (mut new, mut told) = (Vec::new(), Vec::new());
    for task in tasks {
        match task.await.unwrap() {
            (id, Opened::New { attempt: 1, .. }) => new.push(id),
            (_, Opened::Same { id, ending: None, .. }) => told.push(id),
            (id, other) => panic!("{id}: {other:?}"),
        }
    }
    assert_eq!(new.len(), 1, "{new:?}");
    assert!(told.iter().all(|&id| id == new[0]), "{told:?}");
    assert_eq!(ids(&bed, &Filter::default(), None, 1000).await, new);
}

/// What a dead process left open has an unknown outcome, in the ledger and under its key; nothing else changes.
pub async fn interrupted<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    for at in 1..=4 {
        bed.executions.open(opening(at, (at % 2 == 0).then_some(["", "k1", "k2"][at as usize / 2]))).await.unwrap();
    }
    for at in [3, 4] {
        bed.executions.close(execution(at), closing(EndingKind::Done)).await.unwrap();
    }
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.executions.interrupted("the host ended").await.unwrap(), 2);
    assert_eq!(bed.executions.interrupted("again").await.unwrap(), 0);
    let bed = bed.reopen(End::Killed).await;
    let reason = || Some("the host ended".to_owned());
    for (at, outcome, reason) in [
        (1, EndingKind::Unknown, reason()),
        (2, EndingKind::Unknown, reason()),
        (3, EndingKind::Done, None),
        (4, EndingKind::Done, None),
    ] {
        let row = bed.executions.execution(execution(at)).await.unwrap().unwrap();
        assert_eq!((row.outcome, row.reason), (Some(outcome), reason), "{at}");
        assert_eq!(row.finished_at, Some(if outcome == EndingKind::Unknown { bed.clock.now() } else { Timestamp(3) }));
    }
    assert!(!bed.executions.close(execution(2), closing(EndingKind::Done)).await.unwrap(), "too late");
    let unknown = Ending::Unknown { reason: "the host ended".to_owned() };
    assert_eq!(bed.executions.open(opening(5, Some("k1"))).await.unwrap(), same(execution(2), 1, Some(unknown)));
    let done = Some(ending(EndingKind::Done));
    assert_eq!(bed.executions.open(opening(5, Some("k2"))).await.unwrap(), same(execution(4), 1, done));
    let repeats = Opening { repeats: Repeats::Always, ..opening(5, Some("k1")) };
    let doubt = Some(opening(2, None).submitted_at);
    assert_eq!(bed.executions.open(repeats).await.unwrap(), Opened::New { attempt: 2, doubt });
}

/// Newest first, by everything that a filter can say, page by page.
pub async fn pages<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let other: ConnectionId = "other".parse().unwrap();
    // Opened out of order: ids say the order, not the time of writing.
    for at in [4, 2, 6, 1, 5, 3] {
        let mut opening = opening(at, (at > 3).then_some("k"));
        if at % 2 == 0 {
            opening.connection = other.clone();
        }
        if at % 3 == 0 {
            opening.action = "edit-message".to_owned();
        }
        assert!(matches!(bed.executions.open(opening).await.unwrap(), Opened::New { .. } | Opened::Same { .. }));
        bed.executions.close(execution(at), closing(EndingKind::Retry)).await.unwrap();
    }
    let made = |ids: &[&str]| Closing {
        ending: Ending::Done(Outcome { provider_ids: strings(ids), ..Outcome::default() }),
        ..closing(EndingKind::Done)
    };
    for (at, ids) in [(7, &["m1", "m2"][..]), (8, &["m2"]), (9, &["M1"])] {
        bed.executions.open(opening(at, None)).await.unwrap();
        bed.executions.close(execution(at), made(ids)).await.unwrap();
    }
    bed.executions.open(opening(10, None)).await.unwrap();
    let bed = bed.reopen(End::Killed).await;
    let all = Filter::default();
    let edits = Filter { action: Some("edit-message".to_owned()), ..all.clone() };
    let of_other = Filter { connection: Some(other.clone()), ..all.clone() };
    let keyed = Filter { key: Some("k".to_owned()), ..all.clone() };
    let done = Filter { outcome: Some(EndingKind::Done), ..all.clone() };
    let made = |id: &str| Filter { provider_id: Some(id.to_owned()), ..Filter::default() };
    let both = |one: &Filter, connection: &ConnectionId| Filter { connection: Some(connection.clone()), ..one.clone() };
    for (filter, wanted) in [
        (all.clone(), &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1][..]),
        (edits.clone(), &[6, 3]),
        (of_other.clone(), &[6, 4, 2]),
        (keyed.clone(), &[6, 5, 4]),
        (done.clone(), &[9, 8, 7]),
        (made("m2"), &[8, 7]),
        (made("m1"), &[7]),
        (made("m"), &[]),
        (both(&edits, &other), &[6]),
        (both(&keyed, &connection()), &[5]),
        (both(&made("m2"), &other), &[]),
        (both(&all, &"unknown".parse().unwrap()), &[]),
        (
            Filter { outcome: Some(EndingKind::Retry), action: edits.action.clone(), key: keyed.key.clone(), ..all },
            &[6],
        ),
    ] {
        let wanted: Vec<ExecutionId> = wanted.iter().map(|&at| execution(at)).collect();
        assert_eq!(ids(&bed, &filter, None, 100).await, wanted, "{filter:?}");
        let mut paged = Vec::new();
        while let next = ids(&bed, &filter, paged.last().copied(), 2).await
            && !next.is_empty()
        {
            assert!(next.len() <= 2, "{filter:?}");
            paged.extend(next);
        }
        assert_eq!(paged, wanted, "{filter:?}, page by page");
    }
}

/// One among thousands is found too, wherever it stands.
pub async fn rare<B: Backend>() {
    const ROWS: u64 = 9000;
    let bed = Arc::new(Bed::<B>::fresh().await);
    let rare = [1, 2, 4000, ROWS];
    let tasks: Vec<_> = (1..=ROWS)
        .map(|at| {
            let bed = Arc::clone(&bed);
            let action = if rare.contains(&at) { "edit-message" } else { "send-message" };
            let opening = Opening { action: action.to_owned(), ..opening(at, None) };
            tokio::spawn(async move { bed.executions.open(opening).await.unwrap() })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), FIRST);
    }
    let edits = Filter { action: Some("edit-message".to_owned()), ..Filter::default() };
    let newest_first: Vec<ExecutionId> = rare.into_iter().rev().map(execution).collect();
    for filter in [edits.clone(), Filter { connection: Some(connection()), ..edits }] {
        assert_eq!(ids(&bed, &filter, None, 100).await, newest_first, "{filter:?}");
        assert_eq!(ids(&bed, &filter, None, 3).await, newest_first[..3], "{filter:?}");
        assert_eq!(ids(&bed, &filter, Some(execution(4000)), 100).await, newest_first[2..], "{filter:?}");
    }
}
