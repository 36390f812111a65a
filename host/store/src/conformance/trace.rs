//! What happened to a message.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::action::EndingKind;
use jackfield_model::{Blob, ConnectionId, Dispatch, Event};

use crate::commit::{Outcome, Settled};
use crate::conformance::bed::done;
use crate::conformance::sample::{batch, closing, connection, death, ended, event, execution, opening, row, settled};
use crate::conformance::{Backend, Bed, End};
use crate::inbox::Row;
use crate::trace::{Found, Trail};

/// A trail, by what its items are called, and whether there may be more.
#[derive(Debug, Default, PartialEq)]
struct Short {
    events: Vec<String>,
    waiting: Vec<String>,
    dead_letters: Vec<String>,
    executions: Vec<u64>,
    more: Vec<&'static str>,
}

async fn trace<B: Backend>(bed: &Bed<B>, text: &str, limit: usize) -> Short {
    fn split<T, S>(
        name: &'static str,
        found: Found<T>,
        short: impl Fn(T) -> S,
        more: &mut Vec<&'static str>,
    ) -> Vec<S> {
        more.extend(found.more.then_some(name));
        found.items.into_iter().map(short).collect()
    }
    let Trail { events, waiting, dead_letters, executions } = bed.trace.trace(text, limit).await.unwrap();
    let number = |id: jackfield_model::ExecutionId| (1..100_000).find(|&at| execution(at) == id).unwrap();
    let mut more = Vec::new();
    Short {
        events: split("events", events, |record| record.event.key, &mut more),
        waiting: split("waiting", waiting, |waiting| waiting.row.dispatch.lane.clone(), &mut more),
        dead_letters: split("dead letters", dead_letters, |letter| letter.dispatch.lane.clone(), &mut more),
        executions: split("executions", executions, |execution| number(execution.id), &mut more),
        more,
    }
}

/// Dispatches in which the text stands somewhere, or nowhere: in the lane, in which nobody looks, is what they are called.
fn dispatches() -> Vec<Dispatch> {
    let dispatch = |lane: &str, payload: Blob, context: &str| Dispatch {
        payload,
        context: context.to_owned(),
        ..(*crate::conformance::dispatch(lane, "")).clone()
    };
    let binary = [&[0, 0xff][..], b"4711", &[0xfe]].concat();
    vec![
        dispatch("payload", Blob::from(r#"{"id":"4711"}"#), "{}"),
        dispatch("4711", Blob::from(r#"{"id":"4712"}"#), "{}"),
        dispatch("context", Blob::from("{}"), r#"{"about":4711}"#),
        dispatch("binary", Blob::Binary(binary.into()), "{}"),
        dispatch("behind a zero", Blob::from("\u{0}4711"), "{}"),
        dispatch("apart", Blob::from("47"), "11"),
    ]
}

/// Everything that is about a text is found, wherever it stands, and nothing else.
pub async fn finds<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let (id, other): (ConnectionId, ConnectionId) = (connection(), "other".parse().unwrap());
    let referring = |key: &str, to: &str| Event { refers_to: Some(to.to_owned()), ..event(key) };
    let events = vec![
        event("4711"),
        event("1:4711"),
        event("14711"),
        event("4711:1"),
        referring("1:4711:edited", "1:4711"),
        referring("5", "14711"),
        referring("6", "4711"),
    ];
    let mut sent = batch(&id, vec![settled(events)]);
    for dispatch in dispatches().into_iter().map(Arc::new) {
        sent.settled.push(Settled { dispatch: Arc::clone(&dispatch), ..ended("", "", Outcome::Dead(death())) });
        sent.parked.push(Row { dispatch, attempts: 3, late: true, ..row("", "") });
    }
    done(bed.try_commit(sent, None).await);
    let mut elsewhere = batch(&other, vec![settled(vec![event("2:4711")])]);
    elsewhere.parked.push(row("of another connection", "4711"));
    done(bed.try_commit(elsewhere, None).await);
    for (at, key, kind) in [
        (1, Some("4711"), EndingKind::Rejected),
        (2, Some("4712"), EndingKind::Done),
        (3, None, EndingKind::Partial),
        (4, Some("47110"), EndingKind::Rejected),
        (5, None, EndingKind::Unknown),
    ] {
        bed.executions.open(opening(at, key)).await.unwrap();
        bed.executions.close(execution(at), closing(kind)).await.unwrap();
    }
    let bed = bed.reopen(End::Killed).await;
    let strings = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let of_dispatches = ["behind a zero", "binary", "context", "payload"];
    let wanted = Short {
        events: strings(&["2:4711", "6", "1:4711:edited", "1:4711", "4711"]),
        waiting: strings(&[&["of another connection"][..], &of_dispatches].concat()),
        dead_letters: strings(&of_dispatches),
        executions: vec![3, 2, 1],
        more: Vec::new(),
    };
    assert_eq!(trace(&bed, "4711", 100).await, wanted);
    let exact = Short { events: strings(&["1:4711:edited", "1:4711"]), ..Short::default() };
    assert_eq!(trace(&bed, "1:4711", 100).await, exact);
    let by_id = Short { executions: vec![5], ..Short::default() };
    assert_eq!(trace(&bed, &execution(5).to_string(), 100).await, by_id);
    for nothing in ["", "4713", "%", "____", "4%1", "47111", "'", "\u{0}"] {
        let found = trace(&bed, nothing, 100).await;
        let wanted = if nothing == "\u{0}" { strings(&["behind a zero", "binary"]) } else { Vec::new() };
        assert_eq!((found.events.len(), found.executions.len()), (0, 0), "{nothing}");
        assert_eq!((&found.waiting, &found.dead_letters), (&wanted, &wanted), "{nothing}");
    }
    let Trail { events, waiting, dead_letters, executions } = bed.trace.trace("4711", 100).await.unwrap();
    let log = bed.log().await;
    assert!(events.items.iter().all(|record| log.contains(record)), "records are as in the log");
    assert_eq!(events.items[0].connection, other);
    let rows = bed.inbox.waiting(&id, crate::inbox::RowId(0), 100).await.unwrap();
    let newest = waiting.items[1].clone();
    assert_eq!(newest.connection, id);
    assert!(rows.contains(&(newest.id, newest.row)), "rows are as in the inbox");
    for letter in dead_letters.items {
        assert_eq!(bed.dead_letters.letter(letter.id).await.unwrap(), Some(letter));
    }
    for execution in executions.items {
        assert_eq!(bed.executions.execution(execution.id).await.unwrap(), Some(execution));
    }
}

/// Newest first, and no more of each kind than were asked for, however long the lists are.
pub async fn ends_early<B: Backend>() {
    const ROUNDS: usize = 320;
    let bed = Bed::<B>::fresh().await;
    for at in 0..ROUNDS {
        // Longer than any step. Every fifth round is about it.
        let about = if at % 5 == 0 { "it" } else { "that" };
        let events = (0..60).map(|event_at| event(&format!("{at}-{event_at}:that")));
        let mut sent = batch(&connection(), vec![settled(events.collect())]);
        sent.settled.push(settled(vec![event(&format!("{at}:{about}"))]));
        sent.settled.push(ended(&at.to_string(), about, Outcome::Dead(death())));
        sent.parked.push(row(&at.to_string(), about));
        done(bed.try_commit(sent, None).await);
        if at < 20 {
            bed.executions.open(opening(at as u64 + 1, Some(about))).await.unwrap();
            bed.executions.close(execution(at as u64 + 1), closing(EndingKind::Retry)).await.unwrap();
        }
    }
    let numbers: Vec<usize> = (0..ROUNDS).filter(|at| at % 5 == 0).rev().collect();
    let wanted = |limit: usize, more: Vec<&'static str>| {
        let numbers: Vec<usize> = numbers.iter().take(limit).copied().collect();
        let lanes: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        Short {
            events: numbers.iter().map(|at| format!("{at}:it")).collect(),
            waiting: lanes.clone(),
            dead_letters: lanes,
            executions: [16, 11, 6, 1].into_iter().take(limit).collect(),
            more,
        }
    };
    let all = vec!["events", "waiting", "dead letters", "executions"];
    assert_eq!(trace(&bed, "it", 3).await, wanted(3, all.clone()));
    assert_eq!(trace(&bed, "it", 0).await, wanted(1, all));
    assert_eq!(trace(&bed, "it", 40).await, wanted(40, vec!["events", "waiting", "dead letters"]));
    assert_eq!(trace(&bed, "it", 1000).await, wanted(ROUNDS, Vec::new()));
    assert_eq!(trace(&bed, "neither", 1000).await, Short::default());
    // What was pruned is not missed: the search ends where the log begins.
    bed.clock.pass(Duration::from_secs(60));
    let kept = Duration::from_secs(1);
    let policy = crate::retention::Policy {
        events: kept,
        dead_letters: kept,
        executions: kept,
        dedupe_entries: jackfield_model::limits::DEDUPE_ENTRIES_MAX,
    };
    while bed.retention.prune(policy).await.unwrap().more {}
    let waiting = wanted(ROUNDS, Vec::new()).waiting;
    assert_eq!(trace(&bed, "it", 1000).await, Short { waiting, ..Short::default() });
}

/// A list of heavy items is short: it is held in memory.
pub async fn heavy<B: Backend>() {
    const MIB: usize = 1024 * 1024;
    const ROWS: usize = 24;
    let bed = Bed::<B>::fresh().await;
    for at in 0..ROWS {
        let payload = format!("{}4711", "x".repeat(MIB - 4));
        let mut sent = batch(&connection(), vec![ended(&at.to_string(), &payload, Outcome::Dead(death()))]);
        sent.parked.push(row(&at.to_string(), &payload));
        done(bed.try_commit(sent, None).await);
    }
    let found = trace(&bed, "4711", 1000).await;
    assert_eq!(found.more, ["waiting", "dead letters"]);
    for lanes in [found.waiting, found.dead_letters] {
        assert!((1..ROWS).contains(&lanes.len()), "{lanes:?}");
        assert_eq!(lanes[0], (ROWS - 1).to_string());
    }
}
