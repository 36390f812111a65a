//! Many callers against a whole platform: answers out of order and lost, callers that leave, a refusal of everything.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use proptest::prelude::*;

use super::super::{Buckets, EVERYTHING, Ticket};
use super::platform::{Answer, Platform};
use super::world::World;
use super::{HOUR, ms};

/// How a request of a caller goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Answered,
    /// Never reaches the platform; nobody knows.
    LostThere,
    /// Counted, and the answer is lost.
    LostBack,
    /// Its place is not used.
    Unused,
}

#[derive(Clone, Debug)]
struct Caller {
    bucket: usize,
    arrives: Duration,
    /// How long it waits.
    patience: Option<Duration>,
    /// Leaves without a word after so long, wherever it is.
    leaves: Option<Duration>,
    /// Each with the time there and the time back.
    requests: Vec<(Fate, Duration, Duration)>,
}

#[derive(Clone, Debug)]
struct Scenario {
    limits: Vec<(u32, Duration)>,
    callers: Vec<Caller>,
    closed: Option<(Duration, Duration)>,
}

/// What happened.
#[derive(Default, Debug)]
struct Log {
    /// Bucket, ticket, when.
    departures: Vec<(usize, u64, Duration)>,
    refusals: Vec<Refusal>,
    /// Requests on the way, by bucket.
    on_the_way: BTreeMap<usize, u32>,
    /// Requests that set out and had no answer, by bucket.
    lost: BTreeMap<usize, usize>,
    waiting: Vec<BTreeSet<u64>>,
    done: BTreeSet<u64>,
    given_up: BTreeSet<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refusal {
    bucket: usize,
    everything: bool,
    /// When the request set out.
    sets_out: Duration,
    /// How many others of the bucket were on the way then.
    others: u32,
    /// When it was heard.
    heard: Duration,
}

struct Stage<'a> {
    world: World,
    buckets: Buckets,
    platform: Platform,
    log: RefCell<Log>,
    scenario: &'a Scenario,
}

fn name(bucket: usize) -> String {
    format!("bucket {bucket}")
}

impl Stage<'_> {
    async fn call(&self, ticket: u64, caller: &Caller) {
        self.world.sleep(caller.arrives).await;
        let work = pin!(self.work(ticket, caller));
        match caller.leaves {
            None => work.await,
            Some(after) => either(work, self.world.sleep(after)).await,
        }
        self.log.borrow_mut().waiting[caller.bucket].remove(&ticket);
    }

    async fn work(&self, ticket: u64, caller: &Caller) {
        let until = self.world.now() + caller.patience.unwrap_or(HOUR);
        for (fate, there, back) in &caller.requests {
            // As an executor does: until it is answered with something else than a refusal.
            while !self.request(ticket, caller.bucket, until, (*fate, *there, *back)).await {
                if self.log.borrow().given_up.contains(&ticket) {
                    return;
                }
            }
        }
        self.log.borrow_mut().done.insert(ticket);
    }

    /// One request. Says whether it was taken.
    async fn request(
        &self,
        ticket: u64,
        bucket: usize,
        until: Duration,
        (fate, there, back): (Fate, Duration, Duration),
    ) -> bool {
        let name = name(bucket);
        let mut place = match self.buckets.try_reserve(&name, Ticket(ticket)) {
            Ok(place) => place,
            Err(_) => {
                self.log.borrow_mut().waiting[bucket].insert(ticket);
                let turn = self.buckets.turn(&name, Ticket(ticket), self.world.at(until)).await;
                let mut log = self.log.borrow_mut();
                match turn {
                    Ok(place) => {
                        assert!(self.world.now() < until, "a place after the deadline");
                        place
                    }
                    Err(busy) => {
                        log.waiting[bucket].remove(&ticket);
                        log.given_up.insert(ticket);
                        let left = until.saturating_sub(self.world.now());
                        assert!(left.is_zero() || busy.after.is_some_and(|after| after >= left), "{busy:?} {left:?}");
                        return false;
                    }
                }
            }
        };
        let sets_out = self.world.now();
        {
            let mut log = self.log.borrow_mut();
            let before: Vec<u64> = log.waiting[bucket].range(..ticket).copied().collect();
            assert!(before.is_empty(), "{ticket} went before {before:?}");
            log.waiting[bucket].remove(&ticket);
            log.departures.push((bucket, ticket, sets_out));
        }
        if fate == Fate::Unused {
            self.world.sleep(there).await;
            return true;
        }
        place.departed();
        let flight = Flight::new(self, bucket);
        let arrival = Arrival { stage: self, name: &name, at: Some((fate != Fate::LostThere, sets_out + there)) };
        self.world.sleep(there).await;
        let answer = arrival.now();
        self.world.sleep(back).await;
        match answer.filter(|_| fate == Fate::Answered) {
            Some(Answer::Done { remaining, resets_in }) => {
                place.told(remaining, resets_in);
                flight.answered();
                true
            }
            Some(Answer::Refused { after, everything }) => {
                let (others, heard) = (flight.others, self.world.now());
                self.log.borrow_mut().refusals.push(Refusal { bucket, everything, sets_out, others, heard });
                flight.answered();
                self.buckets.pause(if everything { EVERYTHING } else { &name }, after);
                drop(place);
                false
            }
            None => true,
        }
    }
}

/// Counts a request while it is on the way.
struct Flight<'a> {
    stage: &'a Stage<'a>,
    bucket: usize,
    others: u32,
    lost: bool,
}

impl<'a> Flight<'a> {
    fn new(stage: &'a Stage<'a>, bucket: usize) -> Self {
        let mut log = stage.log.borrow_mut();
        let count = log.on_the_way.entry(bucket).or_default();
        *count += 1;
        Self { stage, bucket, others: *count - 1, lost: true }
    }

    fn answered(mut self) {
        self.lost = false;
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut log = self.stage.log.borrow_mut();
        *log.on_the_way.get_mut(&self.bucket).unwrap() -= 1;
        *log.lost.entry(self.bucket).or_default() += usize::from(self.lost);
    }
}

/// A request until it arrives. It arrives even if whoever sent it has left, as what is on the wire does.
struct Arrival<'a> {
    stage: &'a Stage<'a>,
    name: &'a str,
    at: Option<(bool, Duration)>,
}

impl Arrival<'_> {
    fn now(mut self) -> Option<Answer> {
        let (arrives, _) = self.at.take()?;
        arrives.then(|| self.stage.platform.request(self.name, self.stage.world.now()))
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if let Some((true, at)) = self.at {
            self.stage.platform.arrives_later(self.name, at);
        }
    }
}

async fn either(work: Pin<&mut impl Future<Output = ()>>, other: impl Future<Output = ()>) {
    let (mut work, mut other) = (work, pin!(other));
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => other.as_mut().poll(cx),
    })
    .await;
}

fn run(scenario: &Scenario) -> Log {
    let world = World::new();
    let mut platform = Platform::default();
    for (at, (capacity, window)) in scenario.limits.iter().enumerate() {
        platform = platform.limit(&name(at), *capacity, *window);
    }
    if let Some((from, to)) = scenario.closed {
        platform = platform.closed(from, to);
    }
    let log = Log { waiting: vec![BTreeSet::new(); scenario.limits.len()], ..Log::default() };
    let stage = Stage { buckets: world.buckets(), world: world.clone(), platform, log: RefCell::new(log), scenario };
    let tasks = stage.scenario.callers.iter().enumerate();
    let tasks =
        tasks.map(|(ticket, caller)| Box::pin(stage.call(ticket as u64, caller)) as Pin<Box<dyn Future<Output = ()>>>);
    world.run(tasks.collect());
    for level in stage.buckets.levels(usize::MAX) {
        assert_eq!((level.waiting, level.outstanding), (0, 0), "{level:?}");
    }
    stage.log.into_inner()
}

/// Mostly quick, now and then slow.
fn latency(slowest: u64) -> impl Strategy<Value = Duration> {
    prop_oneof![9 => 1..120_u64, 1 => 1..slowest].prop_map(ms)
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        20 => Just(Fate::Answered),
        1 => Just(Fate::LostThere),
        1 => Just(Fate::LostBack),
        1 => Just(Fate::Unused),
    ]
}

fn caller(buckets: usize, span: u64) -> impl Strategy<Value = Caller> {
    let request = (fate(), latency(300), latency(600));
    (
        0..buckets,
        0..span,
        prop::option::weighted(0.2, (1..5_000_u64).prop_map(ms)),
        prop::option::weighted(0.1, (0..5_000_u64).prop_map(ms)),
        prop::collection::vec(request, 1..4),
    )
        .prop_map(|(bucket, arrives, patience, leaves, requests)| Caller {
            bucket,
            arrives: ms(arrives),
            patience,
            leaves,
            requests,
        })
}

/// From far below the time that a request takes, where every answer is older than the window it is for, to far above.
fn window() -> impl Strategy<Value = u64> {
    prop_oneof![1 => 20..300_u64, 1 => 300..1_000_u64, 2 => 1_000..3_000_u64]
}

fn limits() -> impl Strategy<Value = Vec<(u32, Duration)>> {
    prop::collection::vec((1..8_u32, window().prop_map(ms)), 1..4)
}

/// One bucket, and more callers than it has places, all at once and all answered, some as slowly as that.
fn crowd() -> impl Strategy<Value = Scenario> {
    (1..8_u32, window(), 1..450_u64).prop_flat_map(|(capacity, window, slowest)| {
        prop::collection::vec((1..=slowest, 1..=slowest), 20..120).prop_map(move |times| {
            let limits = vec![(capacity, ms(window))];
            let callers = times.into_iter().map(|(there, back)| plain(0, ms(there), ms(back))).collect();
            Scenario { limits, callers, closed: None }
        })
    })
}

/// A caller who is there at once and stays until his one request is answered.
fn plain(bucket: usize, there: Duration, back: Duration) -> Caller {
    let requests = vec![(Fate::Answered, there, back)];
    Caller { bucket, arrives: ms(0), patience: None, leaves: None, requests }
}

fn scenario() -> impl Strategy<Value = Scenario> {
    (limits(), prop::sample::select(vec![1_u64, 2_000, 20_000]))
        .prop_flat_map(|(limits, span)| {
            let callers = prop::collection::vec(caller(limits.len(), span), 1..60);
            (Just(limits), callers)
        })
        .prop_map(|(limits, mut callers)| {
            // Tickets are the order of arrival.
            callers.sort_by_key(|caller| caller.arrives);
            Scenario { limits, callers, closed: None }
        })
}

fn everybody_ended(scenario: &Scenario, log: &Log) -> Result<(), TestCaseError> {
    for (ticket, caller) in scenario.callers.iter().enumerate() {
        let ticket = ticket as u64;
        let ended = log.done.contains(&ticket)
            || caller.leaves.is_some()
            || caller.patience.is_some() && log.given_up.contains(&ticket);
        prop_assert!(ended, "{ticket} starved: {caller:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// By the platform's own count nothing is sent that it refuses. Only where an answer is lost, the next one may have to ask
    /// whether the window is over: alone, and once for each that was lost.
    #[test]
    fn the_platform_never_refuses(scenario in scenario()) {
        let log = run(&scenario);
        for bucket in 0..scenario.limits.len() {
            let refusals: Vec<_> = log.refusals.iter().filter(|refusal| refusal.bucket == bucket).collect();
            prop_assert!(refusals.iter().all(|refusal| refusal.others == 0), "{:?}", refusals);
            prop_assert!(refusals.len() <= log.lost.get(&bucket).copied().unwrap_or(0), "{:?}", refusals);
        }
        everybody_ended(&scenario, &log)?;
    }

    /// No place is idle for longer than it takes to know that it is there: a window, and the slowest request there and back.
    #[test]
    fn what_can_be_used_is_used(scenario in crowd()) {
        let log = run(&scenario);
        let (capacity, window) = scenario.limits[0];
        let slowest = scenario.callers.iter().map(|caller| caller.requests[0].1 + caller.requests[0].2).max().unwrap();
        // The first one asks alone.
        let windows = (scenario.callers.len() as u32 - 1).div_ceil(capacity);
        let last = log.departures.iter().map(|(.., at)| *at).max().unwrap();
        prop_assert!(last <= slowest + windows * (window + slowest), "{:?} of {:?} each", last, window + slowest);
        prop_assert_eq!(&log.refusals, &[]);
        let order: Vec<u64> = log.departures.iter().map(|(_, ticket, _)| *ticket).collect();
        prop_assert_eq!(order, (0..scenario.callers.len() as u64).collect::<Vec<_>>());
    }

    /// One bucket alone, and among others that are flooded: not a millisecond's difference.
    #[test]
    fn buckets_do_not_notice_each_other(scenario in scenario()) {
        let all = run(&scenario);
        for bucket in 0..scenario.limits.len() {
            // The others leave before they begin, so that the tickets stay the same.
            let callers = scenario.callers.iter().cloned().map(|caller| match caller.bucket == bucket {
                true => caller,
                false => Caller { requests: Vec::new(), ..caller },
            });
            let alone = run(&Scenario { callers: callers.collect(), ..scenario.clone() });
            let among: Vec<_> = all.departures.iter().filter(|(other, ..)| *other == bucket).collect();
            prop_assert_eq!(among, alone.departures.iter().collect::<Vec<_>>());
        }
    }

    /// For a time it refuses everything: who set out before the first heard of it may hear the same, and nobody else.
    #[test]
    fn a_refusal_of_everything_is_heard_once(scenario in scenario(), from in 0..6_000_u64, long in 1..6_000_u64) {
        let scenario = Scenario { closed: Some((ms(from), ms(from + long))), ..scenario };
        let log = run(&scenario);
        let refusals: Vec<_> = log.refusals.iter().filter(|refusal| refusal.everything).collect();
        let heard = refusals.iter().map(|refusal| refusal.heard).min();
        for refusal in &refusals {
            prop_assert!(Some(refusal.sets_out) <= heard, "{:?}", refusals);
        }
        everybody_ended(&scenario, &log)?;
    }
}

/// The case that the rules were made for.
#[test]
fn two_hundred_callers_of_a_bucket_of_five_a_second() {
    let caller = |bucket, n: u64| plain(bucket, ms(5 + n * 7 % 60), ms(5 + n * 13 % 60));
    let mut callers: Vec<Caller> = (0..200).map(|n| caller(0, n)).collect();
    callers.extend((0..20).map(|n| Caller { arrives: ms(n * 250), ..caller(1, n) }));
    let log = run(&Scenario { limits: vec![(5, ms(1000)), (5, ms(1000))], callers, closed: None });
    assert_eq!(log.refusals, []);
    let of = |bucket| log.departures.iter().filter(move |(other, ..)| *other == bucket);
    let tickets: Vec<u64> = of(0).map(|(_, ticket, _)| *ticket).collect();
    assert_eq!(tickets, (0..200).collect::<Vec<_>>(), "in order, each once");
    let last = of(0).map(|(.., at)| *at).max().unwrap();
    assert!((ms(39_000)..ms(42_500)).contains(&last), "forty windows and the time on the way: {last:?}");
    let mut delays = BTreeMap::new();
    for (_, ticket, at) in of(1) {
        delays.insert(*ticket, *at - ms((ticket - 200) * 250));
    }
    assert_eq!(delays.len(), 20);
    assert!(delays.values().all(|delay| *delay < ms(200)), "below its limit nobody waits: {delays:?}");
}
