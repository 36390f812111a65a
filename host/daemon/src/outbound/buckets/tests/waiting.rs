//! Turns: order, deadlines, waiters that leave, and who is woken.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::super::{Buckets, Busy, EVERYTHING, Place, Ticket};
use super::world::{Bell, World};
use super::{HOUR, answered, free, ms, sent};

type Turn<'a> = Pin<Box<dyn Future<Output = Result<Place, Busy>> + 'a>>;

/// Somebody who waits, polled by hand.
struct Caller<'a> {
    turn: Turn<'a>,
    bell: Arc<Bell>,
}

impl<'a> Caller<'a> {
    fn new(world: &World, buckets: &'a Buckets, bucket: &'a str, ticket: u64, within: std::time::Duration) -> Self {
        let until = world.at(world.now() + within);
        let turn = Box::pin(buckets.turn(bucket, Ticket(ticket), until));
        let mut caller = Self { turn, bell: Bell::rung() };
        caller.bell.take();
        assert!(caller.poll().is_pending());
        caller
    }

    fn poll(&mut self) -> Poll<Result<Place, Busy>> {
        self.turn.as_mut().poll(&mut Context::from_waker(&self.bell.clone().into()))
    }

    fn woken(&self) -> bool {
        self.bell.take() > 0
    }

    fn goes(&mut self) -> Place {
        assert!(self.woken(), "nobody woke it");
        match self.poll() {
            Poll::Ready(Ok(place)) => place,
            other => panic!("{other:?}"),
        }
    }

    fn is_told(&mut self) -> Busy {
        assert!(self.woken(), "nobody woke it");
        match self.poll() {
            Poll::Ready(Err(busy)) => busy,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_smallest_ticket_goes_first_whenever_it_came() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let mut later = Caller::new(&world, &buckets, "a", 7, HOUR);
    let mut earlier = Caller::new(&world, &buckets, "a", 3, HOUR);
    later.woken();
    drop(place);
    assert!(!later.woken());
    let place = earlier.goes();
    later.woken();
    assert!(later.poll().is_pending());
    drop(place);
    drop(later.goes());
}

#[test]
fn nobody_overtakes_one_that_waits_except_with_a_smaller_ticket() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let _waiter = Caller::new(&world, &buckets, "a", 5, HOUR);
    drop(place);
    assert!(buckets.try_reserve("a", Ticket(6)).is_err(), "the place is for the waiter, even before it takes it");
    assert!(buckets.try_reserve("a", Ticket(4)).is_ok());
    assert_eq!(free(&buckets, "b"), 1);
}

#[test]
fn only_those_are_woken_who_can_go() {
    let world = World::new();
    let buckets = world.buckets();
    let mut place = Some(sent(&buckets, "a"));
    let mut callers: Vec<_> = (1..=100).map(|n| Caller::new(&world, &buckets, "a", n, HOUR)).collect();
    for at in 0..callers.len() {
        assert_eq!(callers.iter().filter(|caller| caller.woken()).count(), usize::from(at > 0), "only to be the first");
        drop(place.take());
        let woken: Vec<usize> = (at..callers.len()).filter(|n| callers[*n].bell.take() > 0).collect();
        assert_eq!(woken, [at]);
        let Poll::Ready(Ok(taken)) = callers[at].poll() else { panic!("{at} has no place") };
        place = Some(taken);
        if let Some(next) = callers.get_mut(at + 1) {
            assert!(next.poll().is_pending());
        }
    }
}

#[test]
fn several_places_at_once_go_to_as_many() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let mut callers: Vec<_> = (1..=9).map(|n| Caller::new(&world, &buckets, "a", n, HOUR)).collect();
    place.told(4, ms(1000));
    let mut places = Vec::new();
    for caller in &mut callers[..4] {
        places.push(caller.goes());
    }
    assert!(callers[4].woken(), "it is first now, and has to watch the clock");
    assert!(callers[4].poll().is_pending());
    assert!(callers[5..].iter().all(|caller| !caller.woken()));
    drop(places);
}

#[test]
fn the_end_of_a_window_wakes_the_first() {
    let world = World::new();
    let buckets = world.buckets();
    answered(&buckets, "a", 0, ms(400));
    let mut first = Caller::new(&world, &buckets, "a", 1, HOUR);
    world.pass(ms(399));
    assert!(!first.woken());
    world.pass(ms(1));
    drop(first.goes());
}

#[test]
fn the_end_of_a_window_that_may_be_over_wakes_the_first() {
    let world = World::new();
    let buckets = world.buckets();
    answered(&buckets, "a", 1, ms(1000));
    let slow = sent(&buckets, "a");
    world.pass(ms(1000));
    let next = sent(&buckets, "a");
    slow.told(0, ms(50));
    // One of two is left, and the slow one may have it: but not for longer than its own window.
    next.told(1, ms(900));
    let mut first = Caller::new(&world, &buckets, "a", 1, HOUR);
    world.pass(ms(50));
    drop(first.goes());
}

#[test]
fn an_end_that_becomes_known_is_noticed() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let mut first = Caller::new(&world, &buckets, "a", 1, HOUR);
    place.told(0, ms(100));
    assert!(first.woken());
    assert!(first.poll().is_pending());
    world.pass(ms(100));
    drop(first.goes());
}

#[test]
fn a_waiter_that_leaves_is_no_loss() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let first = Caller::new(&world, &buckets, "a", 1, HOUR);
    let second = Caller::new(&world, &buckets, "a", 2, HOUR);
    let mut third = Caller::new(&world, &buckets, "a", 3, HOUR);
    drop(second);
    drop(place);
    // It was woken, and leaves before it takes the place.
    assert!(first.woken());
    drop(first);
    let place = third.goes();
    drop(third);
    assert_eq!(free(&buckets, "a"), 0);
    drop(place);
    assert_eq!(free(&buckets, "a"), 1);
}

#[test]
fn the_first_leaves_and_the_next_one_watches_the_clock() {
    let world = World::new();
    let buckets = world.buckets();
    answered(&buckets, "a", 0, ms(400));
    let first = Caller::new(&world, &buckets, "a", 1, HOUR);
    let mut second = Caller::new(&world, &buckets, "a", 2, HOUR);
    drop(first);
    second.woken();
    assert!(second.poll().is_pending());
    world.pass(ms(400));
    drop(second.goes());
}

#[test]
fn too_late_is_said_at_once() {
    let world = World::new();
    let buckets = world.buckets();
    answered(&buckets, "a", 0, ms(400));
    let turn = |ticket, within| {
        let mut turn = Box::pin(buckets.turn("a", Ticket(ticket), world.at(within)));
        turn.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).map(Result::unwrap_err)
    };
    assert_eq!(turn(1, ms(400)), Poll::Ready(Busy { after: Some(ms(400)) }));
    assert!(turn(1, ms(401)).is_pending());
}

#[test]
fn too_late_is_said_as_soon_as_it_is_known() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let mut callers: Vec<_> = (1..=12).map(|n| Caller::new(&world, &buckets, "a", n, ms(1_500))).collect();
    place.told(4, ms(1000));
    // Four go now, five in a second, and the others would have to wait for two.
    let late: Vec<Busy> = callers[9..].iter_mut().map(Caller::is_told).collect();
    assert_eq!(late, [Busy { after: Some(ms(2000)) }; 3]);
    let places: Vec<_> = callers[..4].iter_mut().map(Caller::goes).collect();
    assert!(callers[5..9].iter().all(|caller| !caller.woken()));
    drop(places);
}

#[test]
fn those_that_will_leave_are_not_waited_for() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let mut patient = Vec::new();
    let mut hasty = Vec::new();
    for n in 1..=10 {
        hasty.push(Caller::new(&world, &buckets, "a", n, ms(500)));
    }
    patient.push(Caller::new(&world, &buckets, "a", 11, ms(1_500)));
    place.told(0, ms(1000));
    for caller in &mut hasty {
        caller.is_told();
    }
    assert!(patient[0].woken());
    assert!(patient[0].poll().is_pending(), "it is the first of the next window");
    world.pass(ms(1000));
    drop(patient[0].goes());
}

#[test]
fn a_pause_that_is_too_long_is_said_to_all_that_wait() {
    let world = World::new();
    let buckets = world.buckets();
    let (place, other) = (sent(&buckets, "a"), sent(&buckets, "b"));
    let mut in_a = Caller::new(&world, &buckets, "a", 1, ms(500));
    let mut in_b = Caller::new(&world, &buckets, "b", 2, ms(5_000));
    buckets.pause(EVERYTHING, ms(600));
    assert_eq!(in_a.is_told(), Busy { after: Some(ms(600)) });
    in_b.woken();
    assert!(in_b.poll().is_pending());
    buckets.pause("b", ms(6_000));
    assert_eq!(in_b.is_told(), Busy { after: Some(ms(6_000)) });
    drop((place, other));
}

#[test]
fn without_any_knowledge_it_ends_at_the_deadline() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let mut caller = Caller::new(&world, &buckets, "a", 1, ms(500));
    world.pass(ms(499));
    assert!(!caller.woken());
    world.pass(ms(1));
    assert_eq!(caller.is_told(), Busy { after: None });
    drop(place);
}

#[test]
fn a_place_is_not_given_after_the_deadline() {
    let world = World::new();
    let buckets = world.buckets();
    let place = sent(&buckets, "a");
    let mut late = Caller::new(&world, &buckets, "a", 1, ms(500));
    let mut next = Caller::new(&world, &buckets, "a", 2, HOUR);
    world.pass(ms(600));
    drop(place);
    late.is_told();
    drop(next.goes());
}

#[test]
fn whoever_waits_for_everything_goes_when_the_pause_is_over_and_in_order() {
    let world = World::new();
    let buckets = world.buckets();
    buckets.pause(EVERYTHING, ms(300));
    let went = RefCell::new(Vec::new());
    let caller = |bucket: &'static str, ticket: u64| {
        let (world, buckets, went) = (&world, &buckets, &went);
        Box::pin(async move {
            let place = buckets.turn(bucket, Ticket(ticket), world.at(HOUR)).await.unwrap();
            went.borrow_mut().push((world.now(), ticket));
            drop(place);
        }) as Pin<Box<dyn Future<Output = ()>>>
    };
    world.run(vec![caller(EVERYTHING, 3), caller(EVERYTHING, 1), caller("a", 2), caller(EVERYTHING, 4)]);
    let mut went = went.into_inner();
    assert!(went.iter().all(|(at, _)| *at == ms(300)), "{went:?}");
    went.retain(|(_, ticket)| *ticket != 2);
    assert_eq!(went.iter().map(|(_, ticket)| *ticket).collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!(buckets.levels(9), []);
}

#[test]
fn what_can_be_sent_between_threads_is() {
    fn check<T: Send>(_: T) {}
    let world = World::new();
    let buckets = world.buckets();
    check(buckets.turn("a", Ticket(1), world.at(HOUR)));
    check(sent(&buckets, "a"));
}

/// On the machine's clock and tokio's timers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_timers_wake_the_first() {
    let clock = jackfield_model::clock::system();
    let buckets = Buckets::new(clock.clone());
    let (began, until) = (clock.monotonic(), clock.monotonic() + HOUR);
    answered(&buckets, "a", 0, ms(50));
    let tasks: Vec<_> = (1..=20)
        .map(|ticket| {
            let buckets = buckets.clone();
            tokio::spawn(async move { buckets.turn("a", Ticket(ticket), until).await.map(drop) })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert!(clock.monotonic() - began >= ms(50));
}
