//! Wakers and keys are foreign code: none of it runs under the lock.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::*;
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::limiter::Exponential;
use crate::priority_queue::PriorityQueue;
use crate::runtime::probe::{Probe, Probing};

fn pends<F: Future>(future: Pin<&mut F>, probe: &Arc<Probe>) {
    let waker = Waker::from(Arc::clone(probe));
    assert!(future.poll(&mut Context::from_waker(&waker)).is_pending());
}

/// Makes a queue and a waker that calls it.
fn asked() -> (Arc<WorkQueue<u8>>, Arc<Probe>) {
    let (queue, probe) = (Arc::new(WorkQueue::new(&System::new())), Arc::<Probe>::default());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    (queue, probe)
}

#[test]
fn a_call_that_returns_wakes_tasks_without_the_lock() {
    let (queue, probe) = asked();
    let mut getter = pin!(queue.take_async());
    pends(getter.as_mut(), &probe);
    queue.add(1);
    assert_eq!(probe.ends(), (1, 1));
}

#[test]
fn a_thread_that_goes_to_sleep_wakes_tasks_without_the_lock() {
    let (queue, probe) = asked();
    queue.add(1);
    let (token, _) = queue.take().expect("one item waits");
    let mut getter = pin!(queue.take_async());
    pends(getter.as_mut(), &probe);
    let draining = Arc::clone(&queue);
    let drain = System::new().spawn("drain", move || draining.shut_down_with_drain());
    while !queue.is_shutting_down() {
        std::thread::yield_now();
    }
    assert!(queue.done(token));
    System::new().join(drain).expect("it does not panic");
    assert_eq!(probe.ends(), (1, 1));
}

#[test]
fn a_task_that_goes_to_sleep_wakes_tasks_without_the_lock() {
    let (queue, probe) = asked();
    queue.add(1);
    let (token, _) = queue.take().expect("one item waits");
    let (mut getter, mut drain) = (pin!(queue.take_async()), pin!(queue.drain_async()));
    pends(getter.as_mut(), &probe);
    pends(drain.as_mut(), &Arc::default());
    assert_eq!(probe.ends(), (1, 1));
    assert!(queue.done(token));
}

#[test]
fn keys_that_a_work_queue_needs_no_more_are_dropped_without_the_lock() {
    let (queue, probe) = (Arc::new(WorkQueue::new(&System::new())), Arc::<Probe>::default());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    let key = || Probing(1, Arc::clone(&probe));
    queue.add(key());
    queue.add(key()); // it is there already
    queue.done(queue.take().expect("one item waits").0); // the consumer's and the queue's
    queue.shut_down();
    queue.add(key());
    assert_eq!(probe.ends(), (4, 4));
}

#[test]
fn keys_that_a_delaying_queue_needs_no_more_are_dropped_without_the_lock() {
    const LATER: Duration = Duration::from_secs(1);
    let (queue, probe) = (Arc::new(DelayingQueue::new(&Manual::new())), Arc::<Probe>::default());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    let key = |number| Probing(number, Arc::clone(&probe));
    queue.add_after(key(1), LATER);
    queue.add_after(key(1), LATER); // it waits already
    queue.add_after(key(2), LATER);
    queue.shut_down(); // both will never come
    queue.add_after(key(3), LATER);
    assert_eq!(probe.ends(), (4, 4));

    let (queue, probe) = (Arc::new(DelayingQueue::new(&Manual::new())), Arc::<Probe>::default());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    queue.add_after(Probing(1, Arc::clone(&probe)), LATER);
    queue.shut_down_with_drain();
    assert_eq!(probe.ends(), (1, 1));
}

#[test]
fn keys_that_a_priority_queue_needs_no_more_are_dropped_without_the_lock() {
    let (queue, probe) = (Arc::new(PriorityQueue::new(&System::new())), Arc::<Probe>::default());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    let key = || Probing(1, Arc::clone(&probe));
    queue.add(key());
    queue.add(key()); // it is ready already
    queue.done(queue.take_with_priority().expect("one item is ready").0);
    assert_eq!(probe.ends(), (3, 3));
}

#[test]
fn keys_that_the_limiter_of_a_queue_needs_no_more_are_dropped_without_the_lock() {
    for outcome in [Outcome::Success, Outcome::GiveUp, Outcome::RequeueAfter(Duration::ZERO)] {
        let limiter = || Exponential::new(Duration::ZERO, Duration::ZERO);
        let (system, probe) = (System::new(), Arc::<Probe>::default());
        let queue = Arc::new(LimitedQueue::new(&system, limiter()));
        let key = Probing(1, Arc::clone(&probe));
        queue.add_rate_limited(key.clone());
        let (token, taken) = queue.take().expect("it waits for no time");
        let asked = Arc::clone(&queue);
        probe.calls(move || _ = asked.len());
        assert!(queue.settle(token, outcome));
        queue.shut_down();
        probe.all_got_through();
        drop((key, taken));

        let probe = Arc::<Probe>::default();
        let queue = Arc::new(PriorityQueue::with_limiter(&system, limiter()));
        let key = Probing(1, Arc::clone(&probe));
        queue.add_rate_limited(key.clone());
        let (token, taken, _) = queue.take_with_priority().expect("it waits for no time");
        let asked = Arc::clone(&queue);
        probe.calls(move || _ = asked.len());
        assert!(queue.settle(token, outcome, 0));
        probe.all_got_through();
        drop((key, taken));
    }
}

#[test]
fn keys_that_a_queue_is_told_to_forget_are_dropped_without_the_lock() {
    let limiter = || Exponential::new(Duration::ZERO, Duration::ZERO);
    let (system, probe) = (System::new(), Arc::<Probe>::default());
    let key = Probing(1, Arc::clone(&probe));
    let queue = Arc::new(LimitedQueue::new(&system, limiter()));
    queue.add_rate_limited(key.clone());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    queue.forget(&key);
    assert_eq!(probe.ends(), (2, 2), "that of the call and that of the limiter");

    let probe = Arc::<Probe>::default();
    let key = Probing(1, Arc::clone(&probe));
    let queue = Arc::new(PriorityQueue::with_limiter(&system, limiter()));
    queue.add_rate_limited(key.clone());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    queue.forget(&key);
    assert_eq!(probe.ends(), (2, 2));
}

/// A key that cannot be copied: it panics with a value that runs a probe when it is dropped.
#[derive(PartialEq, Eq, Hash, Debug)]
struct NoCopy(u8);

thread_local! {
    static PROBE: std::cell::RefCell<Option<Arc<Probe>>> = const { std::cell::RefCell::new(None) };
}

fn breaks() {
    if let Some(probe) = PROBE.with_borrow(Clone::clone) {
        resume_unwind(Box::new(Probing(0, probe)));
    }
}

impl Clone for NoCopy {
    fn clone(&self) -> Self {
        if self.0 > 1 {
            breaks();
        }
        Self(self.0)
    }
}

#[test]
fn what_ends_a_batch_early_is_dropped_without_the_lock() {
    let (queue, probe) = (Arc::new(WorkQueue::new(&System::new())), Arc::<Probe>::default());
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    (1..=2).for_each(|key| queue.add(NoCopy(key)));
    PROBE.set(Some(Arc::clone(&probe)));
    let taken = queue.take_batch(NonZeroUsize::MAX);
    PROBE.set(None);
    assert_eq!((taken.len(), queue.len()), (1, 1));
    assert_eq!(probe.ends(), (1, 1));
}

/// A part whose calls return at once or wait for ever, and which panics if a call is given up.
struct Endless;

/// Whether it waits.
#[derive(Clone)]
struct Waits(bool);

impl Machine for Endless {
    type Op = Waits;
    type Ret = ();

    fn step(&mut self, op: &mut Waits, cx: &mut Cx<'_>) -> Step<()> {
        Operation::step(op, self, cx)
    }
}

impl Embed<Endless> for Waits {
    type Ret = ();

    fn embed(self) -> Self {
        self
    }

    fn project(op: Self) -> Self {
        op
    }

    fn result((): ()) {}
}

impl Operation<Endless> for Waits {
    fn step(&mut self, _: &mut Endless, _: &mut Cx<'_>) -> Step<()> {
        if self.0 { Step::Wait { on: 0, until: None } } else { Step::Done(()) }
    }

    fn cancel(&mut self, _: &mut Endless, _: &mut Cx<'_>) {
        breaks();
    }
}

#[test]
fn what_a_call_that_is_given_up_panics_with_is_dropped_without_the_lock() {
    let monitor = Arc::new(Monitor::new(&System::new(), Endless));
    let probe = Arc::<Probe>::default();
    let asked = Arc::clone(&monitor);
    probe.calls(move || asked.call(Waits(false)));
    let mut waits = Box::pin(monitor.call_async(Waits(true)));
    pends(waits.as_mut(), &Arc::default());
    PROBE.set(Some(Arc::clone(&probe)));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(waits))).is_ok());
    PROBE.set(None);
    assert_eq!(probe.ends(), (1, 1));
}
