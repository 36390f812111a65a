//! What could not be settled, and its two ways out.

use std::sync::Arc;
use std::time::Duration;

use jackfield_model::{Blob, Clock as _, Dispatch, Generation};

use crate::commit::{Death, Outcome, Settled, Stage};
use crate::conformance::bed::done;
use crate::conformance::sample::{admitted, batch, connection, death, ended, event, reception, row, settled};
use crate::conformance::{Backend, Bed, End};
use crate::dead_letter::Letter;
use crate::inbox::RowId;

async fn letters<B: Backend>(bed: &Bed<B>) -> Vec<Letter> {
    bed.dead_letters.letters(None, 0, 100).await.unwrap()
}

/// One that can't be settled stops nobody: 99 through, 1 kept with everything that is needed to try again.
pub async fn one_bad_among_many<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    let mut all: Vec<Settled> = (0..100).map(|at| settled(vec![event(&format!("k{at}"))])).collect();
    let bytes = Blob::Binary(vec![0xff, 0xfe, 0].into());
    let dispatch = Dispatch { payload: bytes, ..(*ended("lane 7", "", Outcome::Ignored).dispatch).clone() };
    let stages = [Stage::Transform, Stage::Ingest, Stage::Runtime];
    all[50].outcome = Outcome::Dead(death());
    all[50].dispatch = Arc::new(dispatch.clone());
    for chunk in all.chunks(50) {
        bed.commit(batch(&id, chunk.to_vec()), &mut ground).await;
    }
    let died_at = bed.clock.now();
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.keys().await.len(), 99);
    let letter = &letters(&bed).await[0];
    let wanted = Letter {
        id: letter.id,
        connection: id,
        dispatch: Arc::new(dispatch),
        reception: reception(),
        death: death(),
        died_at,
        repeats: 0,
    };
    assert_eq!(*letter, wanted);
    assert_eq!(bed.dead_letters.letter(letter.id).await.unwrap(), Some(wanted));
    for stage in stages {
        let died = Outcome::Dead(Death { stage, ..death() });
        bed.commit_unbound(vec![ended("lane", &format!("bad in {stage:?}"), died)]).await;
        assert_eq!(letters(&bed).await.pop().unwrap().death.stage, stage);
    }
}

/// Redriven: behind what its lane did meanwhile, marked late, as it was received; and an event that says so.
pub async fn redrive<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let id = connection();
    bed.commit_unbound(vec![ended("lane", "one", Outcome::Dead(death()))]).await;
    let mut meanwhile = batch(&id, vec![settled(vec![event("meanwhile")])]);
    meanwhile.parked.push(row("lane", "two"));
    let waiting = done(bed.try_commit(meanwhile, None).await).rows[0];
    let letter = letters(&bed).await.remove(0);
    let redriven = bed.dead_letters.redrive(letter.id).await.unwrap().unwrap();
    assert!(redriven > waiting);
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.dead_letters.redrive(letter.id).await.unwrap(), None, "once");
    assert_eq!(bed.dead_letters.count(None).await.unwrap(), 0);
    let rows = bed.inbox.waiting(&id, RowId(0), 10).await.unwrap();
    let late = crate::inbox::Row { late: true, ..row("lane", "one") };
    assert_eq!(rows, [(waiting, row("lane", "two")), (redriven, late.clone())]);
    let outcome = Outcome::Events(vec![admitted(event("one"))]);
    let (dispatch, reception) = (late.dispatch, late.reception);
    bed.commit_unbound(vec![Settled {
        row: Some(redriven),
        late: true,
        dispatch,
        reception,
        ..ended("lane", "", outcome)
    }])
    .await;
    let log: Vec<(String, bool)> = bed.log().await.into_iter().map(|record| (record.event.key, record.late)).collect();
    assert_eq!(log, [("meanwhile".to_owned(), false), ("one".to_owned(), true)]);
    assert_eq!(bed.inbox.depth(&id).await.unwrap().rows, 1);
}

/// Listed by number and connection; discarded for good; numbers are not used again.
pub async fn ways_out<B: Backend>() {
    let bed = Bed::<B>::fresh().await;
    let other = "other".parse().unwrap();
    for (id, payload) in [(&connection(), "bad"), (&other, "bad"), (&connection(), "worse")] {
        done(bed.try_commit(batch(id, vec![ended("lane", payload, Outcome::Dead(death()))]), None).await);
    }
    let ids: Vec<u64> = letters(&bed).await.into_iter().map(|letter| letter.id).collect();
    assert!(ids.is_sorted_by(|one, next| one < next));
    let of_other = bed.dead_letters.letters(Some(&other), 0, 10).await.unwrap();
    assert_eq!(of_other.iter().map(|letter| letter.id).collect::<Vec<_>>(), ids[1..2]);
    let after = bed.dead_letters.letters(None, ids[0], 1).await.unwrap();
    assert_eq!(after.iter().map(|letter| letter.id).collect::<Vec<_>>(), ids[1..2]);
    let counts = [None, Some(&connection()), Some(&other), Some(&"unknown".parse().unwrap())];
    for (id, count) in counts.into_iter().zip([3, 2, 1, 0]) {
        assert_eq!(bed.dead_letters.count(id).await.unwrap(), count, "{id:?}");
    }
    assert!(bed.dead_letters.discard(ids[2]).await.unwrap());
    assert!(!bed.dead_letters.discard(ids[2]).await.unwrap());
    let bed = bed.reopen(End::Killed).await;
    assert_eq!(bed.dead_letters.letter(ids[2]).await.unwrap(), None);
    assert_eq!(bed.dead_letters.redrive(ids[2]).await.unwrap(), None);
    bed.commit_unbound(vec![ended("lane", "worse", Outcome::Dead(death()))]).await;
    assert!(letters(&bed).await.pop().unwrap().id > ids[2]);
}

/// A dispatch that comes again is counted on its letter, whatever it died of this time; one that differs in anything is another.
pub async fn repeats<B: Backend>() {
    let mut bed = Bed::<B>::fresh().await;
    let id = connection();
    let mut ground = bed.term(&id).await;
    let first = ended("lane", "bad", Outcome::Dead(death()));
    let first_at = bed.clock.now();
    assert_eq!(bed.commit(batch(&id, vec![first.clone()]), &mut ground).await.repeats, 0);
    for end in [End::Killed, End::Clean] {
        bed = bed.reopen(end).await;
        bed.clock.pass(Duration::from_secs(1));
        let again = Outcome::Dead(Death { stage: Stage::Runtime, error: "another".to_owned(), ..death() });
        let again = Settled { outcome: again, late: true, transformed_by: Generation(9), ..first.clone() };
        assert_eq!(bed.commit(batch(&id, vec![again]), &mut ground).await.repeats, 1);
    }
    let twice = bed.commit(batch(&id, vec![first.clone(), first.clone()]), &mut ground).await;
    assert_eq!(twice.repeats, 2, "within a batch too");
    let letter = letters(&bed).await.remove(0);
    assert_eq!((letter.repeats, &letter.death, letter.died_at), (4, &death(), first_at), "it says how it died first");
    assert_eq!(bed.dead_letters.count(None).await.unwrap(), 1);

    let other = |change: fn(&mut Dispatch)| {
        let mut dispatch = (*first.dispatch).clone();
        change(&mut dispatch);
        Settled { dispatch: Arc::new(dispatch), ..first.clone() }
    };
    let others = vec![
        other(|dispatch| dispatch.kind.push('s')),
        other(|dispatch| dispatch.lane.push('s')),
        other(|dispatch| dispatch.context = r#"{"a":1}"#.to_owned()),
        other(|dispatch| dispatch.payload = Blob::from("bade")),
        // The same letters in a row, cut elsewhere.
        other(|dispatch| {
            dispatch.kind.pop();
            dispatch.lane.insert(0, 'E');
        }),
    ];
    let count = others.len() as u64;
    assert_eq!(bed.commit(batch(&id, others), &mut ground).await.repeats, 0);
    let elsewhere = done(bed.try_commit(batch(&"other".parse().unwrap(), vec![first.clone()]), None).await);
    assert_eq!(elsewhere.repeats, 0, "connections have nothing to do with each other");
    assert_eq!(bed.dead_letters.count(None).await.unwrap(), 1 + count + 1);

    // Redriven or discarded it is gone, and the next one is a letter of its own.
    assert!(bed.dead_letters.redrive(letter.id).await.unwrap().is_some());
    assert_eq!(bed.commit(batch(&id, vec![first.clone()]), &mut ground).await.repeats, 0);
    let newest = letters(&bed).await.pop().unwrap();
    assert!(newest.id > letter.id && newest.repeats == 0);
    assert!(bed.dead_letters.discard(newest.id).await.unwrap());
    assert_eq!(bed.commit(batch(&id, vec![first]), &mut ground).await.repeats, 0);
}
