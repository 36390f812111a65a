//! What an inbound does while its store is slow, refuses, or is written to by somebody else.

use std::sync::Arc;
use std::time::Duration;

use jackfield::inbound::Entry;
use jackfield_model::{Blob, Generation, Timestamp, Transport};
use jackfield_store::checkpoint::Checkpoint;
use jackfield_store::commit::{Batch, Reception};
use jackfield_store::event::Filter;
use jackfield_store::inbox::Row;
use jackfield_store::state::Write;
use jackfield_tests::faults::Answer;
use jackfield_tests::guest;
use jackfield_tests::processes::PATIENCE;
use jackfield_tests::way_in::{Ground, line, until};

/// How long nothing more has to happen before it does not. Only where something must not come.
const SILENCE: Duration = Duration::from_millis(500);

fn checkpoint() -> Checkpoint {
    Checkpoint { bytes: Blob::from("1"), format: 1, generation: Generation(1), stored_at: Timestamp(1) }
}

/// The sockets are held while a checkpoint can't be stored, and let go once it is: no commit has to come by for that, since
/// none does while nothing is read.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_can_not_be_stored_holds_the_sockets_no_longer_than_that() {
    let ground = Ground::new();
    let way_in = ground.start(guest::SESSION_ECHO).await;
    ground.faults.refuse_checkpoints(true);
    way_in.inbound.checkpoint(checkpoint());
    until("it is held", || way_in.inbound.pressure()).await;
    ground.faults.refuse_checkpoints(false);
    way_in.settled().await;
    until("it flows", || !way_in.inbound.pressure()).await;
    assert_eq!(ground.stores.checkpoints.load(&Ground::connection()).await.unwrap(), Some(checkpoint()));
}

/// Pages of the inbox end early when they get heavy. Whatever that makes of it, all is settled before a session starts.
#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_is_read_to_its_end_whatever_a_page_weighs() {
    const ROWS: usize = 24;
    let ground = Ground::new();
    let ballast = "x".repeat(900_000);
    for id in 0..ROWS {
        let reception = Reception { at: Timestamp(1), via: Transport::Socket, by: Generation(1) };
        let dispatch = Arc::new(line("lane", id, &ballast));
        let batch = Batch {
            connection: Ground::connection(),
            space: "people".parse().unwrap(),
            namespace: "echo".to_owned(),
            settled: Vec::new(),
            parked: vec![Row { dispatch, reception, attempts: 0, late: false }],
            attempts: Vec::new(),
            state: Vec::new(),
        };
        ground.stores.commits.commit(batch, None).await.unwrap();
    }
    let way_in = ground.start(guest::SESSION_ECHO).await;
    way_in.inbound.drained().await.unwrap();
    assert_eq!(ground.stores.inbox.depth(&Ground::connection()).await.unwrap().rows, 0);
    assert_eq!(way_in.facts.known().counters.events, ROWS as u64);
}

/// Somebody says that rows came in while a commit that writes rows is under way. Its own are in the store by then, and are not
/// taken for others'.
#[tokio::test(flavor = "multi_thread")]
async fn rows_are_taken_up_between_two_commits() {
    let ground = Ground::new();
    let way_in = ground.start(guest::SESSION_ECHO).await;
    ground.faults.answer(Answer::Held);
    // Its first failure asks for a row.
    way_in.say("lane", 1, "poison");
    until("the row's commit is under way", || ground.faults.held() == 1).await;
    until("it is given up", || way_in.facts.known().counters.transform_traps == 3).await;
    way_in.inbound.rows();
    way_in.say("beside", 2, "behind the order");
    until("the order was heard", || way_in.facts.known().counters.dispatches == 2).await;
    ground.faults.answer(Answer::Honest);
    way_in.settled().await;
    // Behind whatever is in its lane.
    way_in.say("lane", 3, "last");
    way_in.settled().await;
    let known = way_in.facts.known();
    assert_eq!((known.counters.transform_traps, known.counters.dead_letters, known.counters.events), (3, 1, 2));
    assert_eq!(ground.stores.inbox.depth(&Ground::connection()).await.unwrap().rows, 0);
}

/// Rows that did come by another way are taken up.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_come_by_another_way_are_settled() {
    let ground = Ground::new();
    let way_in = ground.start(guest::SESSION_ECHO_FIXED).await;
    way_in.inbound.drained().await.unwrap();
    let reception = Reception { at: Timestamp(1), via: Transport::Socket, by: Generation(1) };
    let row = Row { dispatch: Arc::new(line("lane", 1, "poison")), reception, attempts: 0, late: true };
    let batch = Batch {
        connection: Ground::connection(),
        space: "people".parse().unwrap(),
        namespace: "echo".to_owned(),
        settled: Vec::new(),
        parked: vec![row],
        attempts: Vec::new(),
        state: Vec::new(),
    };
    ground.stores.commits.commit(batch, None).await.unwrap();
    way_in.inbound.rows();
    until("it is settled", || way_in.facts.known().counters.events == 1).await;
    let page = ground.stores.events.page(&Filter::default(), 0, 10).await.unwrap();
    assert!(page.len() == 1 && page[0].late, "{page:#?}");
}

/// While a commit does not come back, no more is transformed than the next two take.
#[tokio::test(flavor = "multi_thread")]
async fn answers_that_wait_for_their_commit_are_bounded() {
    const LINES: usize = 150;
    const BYTES: usize = 100_000;
    /// One commit under way, two that wait, and two batches under way meanwhile; each 1 MiB, and one dispatch over it.
    const MOST: u64 = 5 * (10 + 1);
    let ground = Ground::new();
    let way_in = ground.start(guest::SESSION_ECHO).await;
    ground.faults.answer(Answer::Held);
    let text = format!("ignored {}", "x".repeat(BYTES));
    (0..LINES).for_each(|id| way_in.say(&format!("lane-{id}"), id, &text));
    let answered = || way_in.facts.known().ignored.get("asked").copied().unwrap_or_default();
    until("some are answered", || answered() >= 20).await;
    let mut seen = 0;
    while seen != answered() {
        seen = answered();
        tokio::time::sleep(SILENCE).await;
    }
    assert!(seen <= MOST, "{seen} of {LINES} are answered");
    ground.faults.answer(Answer::Honest);
    way_in.settled().await;
    assert_eq!(answered(), LINES as u64);
}

/// What is handed over counts at once, not when somebody comes to look at it: nobody is called on and on meanwhile.
#[tokio::test]
async fn what_is_handed_over_counts_before_it_is_looked_at() {
    const BYTES: usize = 500_000;
    /// A quarter of what is held at most.
    const MOST: usize = 4 * 1024 * 1024;
    let ground = Ground::new();
    let way_in = ground.start(guest::SESSION_ECHO).await;
    way_in.inbound.drained().await.unwrap();
    let text = format!("ignored {}", "x".repeat(BYTES));
    // On one thread nobody looks while this does not wait.
    let handed = (0..20)
        .take_while(|id| {
            !way_in.inbound.overload() && {
                way_in.say("lane", *id, &text);
                true
            }
        })
        .count();
    assert_eq!(handed, MOST.div_ceil(BYTES));
    // Nothing else is new: there is no mark, and the sockets were never held.
    let news = tokio::time::timeout(PATIENCE, way_in.inbound.news()).await.expect("that it is looked at is told");
    assert!(news.marks.is_empty() && !way_in.inbound.overload() && !way_in.inbound.pressure(), "{news:?}");
    assert_eq!(way_in.facts.known().counters.dispatches, handed as u64);
    way_in.inbound.checkpoint(Checkpoint { bytes: Blob::from("x".repeat(MOST).as_str()), ..checkpoint() });
    assert!(way_in.inbound.overload(), "checkpoints count too");
    way_in.settled().await;
    assert!(!way_in.inbound.overload());
}

/// Changes of the session's map that wait for their commit count as what is held does.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_the_map_that_wait_for_their_commit_are_bounded() {
    const BYTES: usize = 60_000;
    let ground = Ground::new();
    let way_in = ground.start(guest::SESSION_ECHO).await;
    ground.faults.answer(Answer::Held);
    let value = Blob::from("x".repeat(BYTES).as_str());
    let change = || Entry::State(Write::Set { key: "shoe".to_owned(), value: value.clone() });
    until("the sockets are held", || {
        way_in.inbound.submit(vec![change(), change()]);
        way_in.inbound.pressure()
    })
    .await;
    until("it is not called any more", || {
        way_in.inbound.submit(vec![change(), change()]);
        way_in.inbound.overload()
    })
    .await;
    ground.faults.answer(Answer::Honest);
    way_in.settled().await;
    assert!(!way_in.inbound.pressure() && !way_in.inbound.overload());
}
