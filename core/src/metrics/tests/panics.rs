//! A sink that panics, with a value that calls the queue when it is dropped. Every call returns the
//! same as without a sink, every metric is reported, and the value is dropped without the lock.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;

use super::*;
use crate::runtime::System;
use crate::runtime::probe::{Probe, Probing};

/// Records its reports, then panics.
#[derive(Clone, Default)]
struct Broken {
    listener: Listener,
    probe: Arc<Probe>,
    /// The depth by priority.
    labelled: Arc<Mutex<i64>>,
}

impl Broken {
    fn breaks(&self, tell: impl FnOnce(&Listener)) {
        tell(&self.listener);
        resume_unwind(Box::new(Probing(0, Arc::clone(&self.probe))));
    }

    fn metrics(&self) -> Metrics {
        Metrics::named("pods").told_to(Arc::new(self.clone()))
    }
}

impl Provider for Broken {
    fn sink(&self, _: &str) -> Option<Arc<dyn Sink>> {
        Some(Arc::new(self.clone()))
    }
}

impl Sink for Broken {
    fn depth(&self, change: i64) {
        if change != 0 {
            self.breaks(|listener| listener.depth(change));
        }
    }

    fn depth_at(&self, _: Label, change: i64) {
        *self.labelled.lock() += change;
        self.depth(change);
    }

    fn added(&self) {
        self.breaks(Sink::added);
    }

    fn latency(&self, waited: Duration) {
        self.breaks(|listener| listener.latency(waited));
    }

    fn work(&self, took: Duration) {
        self.breaks(|listener| listener.work(took));
    }

    fn retried(&self) {
        self.breaks(Sink::retried);
    }

    fn unfinished(&self, sum: Duration, longest: Duration) {
        self.breaks(|listener| listener.unfinished(sum, longest));
    }
}

/// Two items are added, taken, added again while they are processed, done and taken again.
macro_rules! loses_nothing {
    ($make:expr, $token:expr) => {{
        let (clock, broken) = (Manual::new(), Broken::default());
        let queue = Arc::new($make(&clock, &broken));
        let asked = Arc::clone(&queue);
        broken.probe.calls(move || _ = asked.len());
        queue.add(1);
        queue.add(2);
        assert_eq!(broken.listener.told().depth, 2);
        let taken = queue.take_batch(NonZeroUsize::MAX);
        assert_eq!(taken.len(), 2, "none is lost on its way");
        queue.add(1);
        clock.advance(ms(3));
        for one in &taken {
            assert!(queue.done($token(one)));
        }
        assert_eq!(queue.len(), 1);
        clock.advance(ms(4));
        let again = queue.take_batch(NonZeroUsize::MAX);
        assert!(queue.done($token(&again[0])));
        queue.add_after(3, ms(1));
        let told = broken.listener.told();
        assert_eq!((told.depth, told.added, told.retried), (0, 3, 1));
        assert_eq!(told.latency, [ms(0), ms(0), ms(7)]);
        assert_eq!(told.work, [ms(3), ms(3), ms(0)]);
        broken.probe.all_got_through();
        broken
    }};
}

#[test]
fn a_queue_with_a_limiter_loses_nothing_to_a_sink_that_panics() {
    let make = |clock: &Manual, broken: &Broken| {
        let limiter = Exponential::new(ms(1), ms(1));
        LimitedQueue::with_metrics(clock, limiter, Fifo::default(), &broken.metrics())
    };
    loses_nothing!(make, |taken: &(_, u8)| taken.0);
}

#[test]
fn a_delaying_queue_loses_nothing_to_a_sink_that_panics() {
    let make = |clock: &Manual, broken: &Broken| {
        DelayingQueue::with_metrics(clock, Fifo::default(), &broken.metrics())
    };
    loses_nothing!(make, |taken: &(_, u8)| taken.0);
}

#[test]
fn a_priority_queue_loses_nothing_to_a_sink_that_panics() {
    let make = |clock: &Manual, broken: &Broken| {
        PriorityQueue::with_metrics(clock, Exponential::new(ms(1), ms(1)), &broken.metrics())
    };
    let broken = loses_nothing!(make, |taken: &(_, u8, i32)| taken.0);
    assert_eq!(*broken.labelled.lock(), 0);
}

#[test]
fn a_priority_that_rises_is_counted_although_the_sink_panics() {
    let broken = Broken::default();
    let limiter = Exponential::new(ms(1), ms(1));
    let queue = PriorityQueue::with_metrics(&Manual::new(), limiter, &broken.metrics());
    queue.add(1);
    queue.add_with(1, AddOptions { priority: 7, ..AddOptions::default() });
    assert_eq!(*broken.labelled.lock(), 1, "PQ-38");
    assert_eq!(queue.take_with_priority().map(|(_, key, priority)| (key, priority)), Some((1, 7)));
}

#[test]
fn a_drain_ends_and_every_getter_is_woken_although_the_sink_panics() {
    let (system, broken) = (System::new(), Broken::default());
    let queue = Arc::new(WorkQueue::with_metrics(&system, Fifo::default(), &broken.metrics()));
    let takes = Arc::clone(&queue);
    let worker = system.spawn("takes", move || {
        let mut count = 0;
        while let Some((token, ())) = takes.take() {
            takes.done(token);
            count += 1;
        }
        count
    });
    queue.add(());
    queue.shut_down_with_drain();
    assert_eq!(system.join(worker).ok(), Some(1));
}

#[test]
fn an_updater_outlives_a_sink_that_panics() {
    let (clock, broken) = (Manual::new(), Broken::default());
    let queue = Arc::new(WorkQueue::with_metrics(&clock, Fifo::default(), &broken.metrics()));
    queue.add(1);
    let (token, _) = queue.take().unwrap();
    let updater = Updater::start(&clock, &queue);
    for _ in 0..3 {
        assert!(clock.until_waiting(1, PATIENCE));
        clock.advance(EVERY);
    }
    assert!(clock.until_waiting(1, PATIENCE));
    let unfinished = broken.listener.told().unfinished;
    assert_eq!(
        unfinished,
        [EVERY, 2 * EVERY, 3 * EVERY].map(|for_so_long| (for_so_long, for_so_long))
    );
    queue.done(token);
    queue.shut_down();
    updater.join();
}
