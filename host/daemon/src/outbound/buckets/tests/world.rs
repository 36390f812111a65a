//! Tasks and timers on a clock that stands still while anybody has something to do, then jumps to the next timer.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use jackfield_model::Timestamp;
use jackfield_model::clock::{self, Clock, Monotonic};

use super::super::Buckets;

#[derive(Clone)]
pub(super) struct World {
    began: Monotonic,
    state: Arc<Mutex<State>>,
}

struct State {
    now: Duration,
    sleeps: u64,
    timers: BTreeMap<(Duration, u64), Waker>,
}

impl World {
    pub(super) fn new() -> Self {
        let state = State { now: Duration::ZERO, sleeps: 0, timers: BTreeMap::new() };
        Self { began: clock::system().monotonic(), state: Arc::new(Mutex::new(state)) }
    }

    pub(super) fn buckets(&self) -> Buckets {
        let world = self.clone();
        Buckets::with_timer(Arc::new(self.clone()), move |wait| Box::pin(world.sleep(wait)))
    }

    /// Since the beginning.
    pub(super) fn now(&self) -> Duration {
        self.state.lock().unwrap().now
    }

    pub(super) fn at(&self, since: Duration) -> Monotonic {
        self.began + since
    }

    pub(super) fn sleep(&self, wait: Duration) -> Sleep {
        let mut state = self.state.lock().unwrap();
        state.sleeps += 1;
        Sleep { world: self.clone(), key: (state.now + wait, state.sleeps) }
    }

    /// Lets time pass, for what nobody waits for.
    pub(super) fn pass(&self, time: Duration) {
        let mut state = self.state.lock().unwrap();
        state.now += time;
        let now = state.now;
        let later = state.timers.split_off(&(now, u64::MAX));
        for (_, waker) in std::mem::replace(&mut state.timers, later) {
            waker.wake();
        }
    }

    /// Runs tasks to their end. Whoever waits for nothing that will ever come is a failure.
    pub(super) fn run(&self, tasks: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
        let mut tasks: Vec<_> = tasks.into_iter().map(|task| Some((task, Bell::rung()))).collect();
        loop {
            let mut busy = false;
            for slot in &mut tasks {
                let Some((task, bell)) = slot else { continue };
                if bell.take() == 0 {
                    continue;
                }
                busy = true;
                if task.as_mut().poll(&mut Context::from_waker(&bell.clone().into())).is_ready() {
                    *slot = None;
                }
            }
            if busy {
                continue;
            }
            let left = tasks.iter().flatten().count();
            if left == 0 {
                return;
            }
            let next = self.state.lock().unwrap().timers.first_key_value().map(|((at, _), _)| *at);
            let next = next.unwrap_or_else(|| panic!("{left} tasks wait for ever"));
            self.pass(next.saturating_sub(self.now()));
        }
    }
}

impl Clock for World {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000).after(World::now(self))
    }

    fn monotonic(&self) -> Monotonic {
        self.at(World::now(self))
    }
}

pub(super) struct Sleep {
    world: World,
    key: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.world.state.lock().unwrap();
        if state.now >= self.key.0 {
            return Poll::Ready(());
        }
        state.timers.insert(self.key, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.world.state.lock().unwrap().timers.remove(&self.key);
    }
}

/// Counts how often a task was woken.
#[derive(Default)]
pub(super) struct Bell(AtomicUsize);

impl Bell {
    pub(super) fn rung() -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(1)))
    }

    /// How often since the last time.
    pub(super) fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
