//! The metrics of queues, under a clock that is moved by hand.

mod due;
mod panics;
#[cfg(all(feature = "metrics", feature = "prometheus-client"))]
mod text;
mod updater;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use super::*;
use crate::delaying_queue::DelayingQueue;
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::limiter::Exponential;
use crate::priority_queue::{AddOptions, PriorityQueue};
use crate::queue::{Fifo, WorkQueue};
use crate::runtime::millis::ms;
use crate::runtime::{Manual, Runtime};

const PATIENCE: Duration = Duration::from_secs(60);

/// The reported metrics.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    depth: i64,
    added: u32,
    latency: Vec<Duration>,
    work: Vec<Duration>,
    retried: u32,
    unfinished: Vec<(Duration, Duration)>,
}

/// Records its reports.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Told>>);

impl Listener {
    fn told(&self) -> Told {
        self.0.lock().clone()
    }

    fn metrics(&self) -> Metrics {
        Metrics::named("pods").told_to(Arc::new(self.clone()))
    }
}

impl Provider for Listener {
    fn sink(&self, queue: &str) -> Option<Arc<dyn Sink>> {
        assert!(!queue.is_empty(), "MX-1: nobody asks for the metrics of a queue without a name");
        (queue != "silent").then(|| Arc::new(self.clone()) as Arc<dyn Sink>)
    }
}

impl Sink for Listener {
    fn depth(&self, change: i64) {
        self.0.lock().depth += change;
    }

    fn added(&self) {
        self.0.lock().added += 1;
    }

    fn latency(&self, waited: Duration) {
        self.0.lock().latency.push(waited);
    }

    fn work(&self, took: Duration) {
        self.0.lock().work.push(took);
    }

    fn retried(&self) {
        self.0.lock().retried += 1;
    }

    fn unfinished(&self, sum: Duration, longest: Duration) {
        self.0.lock().unfinished.push((sum, longest));
    }
}

fn queue(runtime: &Manual, listener: &Listener) -> Arc<WorkQueue<u8, Manual>> {
    Arc::new(WorkQueue::with_metrics(runtime, Fifo::default(), &listener.metrics()))
}

#[test]
fn an_item_is_counted_when_it_becomes_dirty_and_timed_from_there() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let queue = queue(&runtime, &listener);
    queue.add(1);
    queue.add(1); // workqueue:MX-5 with workqueue:WQ-5: changes nothing
    runtime.advance(ms(10));
    let (token, _) = queue.take().unwrap();
    assert_eq!((listener.told().depth, listener.told().latency), (0, vec![ms(10)]));
    queue.add(1);
    queue.add(1);
    assert_eq!((listener.told().depth, listener.told().added), (1, 2), "MX-8: though len is 0");
    assert_eq!(queue.len(), 0);
    runtime.advance(ms(5));
    queue.done(token);
    queue.done(token); // workqueue:WQ-21
    assert_eq!(listener.told().work, [ms(5)]);
    runtime.advance(ms(2));
    let (token, _) = queue.take().unwrap();
    assert_eq!(listener.told().latency, [ms(10), ms(7)], "MX-9: from the add");
    queue.shut_down();
    queue.add(2);
    queue.done(token);
    let told = listener.told();
    assert_eq!((told.depth, told.added, told.work.len(), told.retried), (0, 2, 2, 0));
}

#[test]
fn what_is_unfinished_is_told_every_half_second_until_shutdown() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let queue = queue(&runtime, &listener);
    let updater = Updater::start(&runtime, &queue);
    let tick = |by: Duration, ticks: usize| {
        assert!(runtime.until_waiting(1, PATIENCE));
        runtime.advance(by);
        while listener.told().unfinished.len() < ticks {
            std::thread::yield_now();
        }
    };
    queue.add_all([1, 2, 3]);
    tick(EVERY, 1);
    let (first, _) = queue.take().unwrap();
    tick(EVERY, 2);
    let (second, _) = queue.take().unwrap();
    let _third = queue.take().unwrap();
    tick(EVERY, 3);
    queue.done(first);
    tick(EVERY, 4);
    queue.done(second);
    tick(3 * EVERY, 5); // a slow tick is not repeated
    assert!(runtime.until_waiting(1, PATIENCE));
    queue.shut_down();
    updater.join();
    runtime.advance(10 * EVERY);
    let told = listener.told().unfinished;
    let half_seconds = |sum, longest| (sum * EVERY, longest * EVERY);
    let expected = [(0, 0), (1, 1), (4, 2), (4, 2), (5, 5)];
    assert_eq!(told, expected.map(|(sum, longest)| half_seconds(sum, longest)), "MX-14, MX-12");
}

#[test]
fn a_drain_ends_the_updater_when_it_begins() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let queue = queue(&runtime, &listener);
    queue.add(1);
    let (token, _) = queue.take().unwrap();
    let updater = Updater::start(&runtime, &queue);
    let draining = Arc::clone(&queue);
    let drain = runtime.spawn("drain", move || draining.shut_down_with_drain());
    updater.join(); // workqueue:WQ-40: though the drain goes on
    queue.done(token);
    runtime.join(drain).unwrap();
}

#[test]
fn without_a_pause_it_makes_one() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let queue = queue(&runtime, &listener);
    let refreshing = Arc::clone(&queue);
    let thread = runtime.spawn("metrics", move || refreshing.refresh_metrics(Duration::ZERO));
    assert!(runtime.until_waiting(1, PATIENCE), "it would never sleep");
    queue.shut_down();
    runtime.join(thread).unwrap();
}

#[test]
fn nothing_is_told_before_the_first_tick_nor_after_shutdown() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let queue = queue(&runtime, &listener);
    queue.add(1);
    let _work = queue.take();
    let mut telling = pin!(queue.refresh_metrics_async(EVERY));
    let mut poll = || telling.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    assert_eq!(listener.told().unfinished, []);
    runtime.advance(EVERY);
    queue.shut_down();
    assert!(poll().is_ready());
    assert_eq!(listener.told().unfinished, [], "MX-12");
}

#[test]
fn every_call_with_a_delay_is_a_retry() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let delaying = DelayingQueue::with_metrics(&runtime, Fifo::default(), &listener.metrics());
    delaying.add_after(1, ms(5));
    delaying.add_after(1, Duration::ZERO);
    assert_eq!(listener.told().retried, 2, "workqueue:DQ-4");
    assert_eq!(listener.told().added, 1, "the other has not come yet");
    let limiter = Exponential::new(ms(1), ms(1));
    let limited =
        LimitedQueue::with_metrics(&runtime, limiter, Fifo::default(), &listener.metrics());
    limited.add_rate_limited(7);
    assert_eq!(listener.told().retried, 3);
    runtime.advance(ms(1));
    assert_eq!(limited.len(), 1);
    assert_eq!(listener.told().added, 2);
    let (token, _) = limited.take().unwrap();
    assert!(limited.settle(token, Outcome::Retry));
    assert_eq!(listener.told().retried, 4, "also where the item is known by its delivery");
}

#[test]
fn a_priority_queue_tells_the_same_without_labels() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let limiter = Exponential::new(ms(1), ms(1));
    let queue = PriorityQueue::with_metrics(&runtime, limiter, &listener.metrics());
    queue.add_with(1, AddOptions { priority: 3, ..AddOptions::default() });
    queue.add_with(1, AddOptions { priority: 4, ..AddOptions::default() });
    queue.add_rate_limited(2);
    runtime.advance(ms(4));
    let (token, ..) = queue.take_with_priority().unwrap();
    runtime.advance(ms(3));
    queue.done(token);
    let told = listener.told();
    assert_eq!((told.depth, told.added, told.retried), (1, 2, 1));
    assert_eq!((told.latency, told.work), (vec![ms(4)], vec![ms(3)]));
}

#[test]
fn a_priority_queue_tells_what_is_unfinished_until_shutdown() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let limiter = Exponential::new(ms(1), ms(1));
    let queue = PriorityQueue::with_metrics(&runtime, limiter, &listener.metrics());
    let queue = Arc::new(queue);
    queue.add_all([1, 2, 3], AddOptions::default());
    let _stuck = queue.take_with_priority().unwrap();
    let (done, ..) = queue.take_with_priority().unwrap();
    runtime.advance(ms(100));
    let _later = queue.take_with_priority().unwrap();
    queue.done(done);
    let updater = Updater::start(&runtime, &queue);
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(EVERY);
    assert!(runtime.until_waiting(1, PATIENCE));
    assert_eq!(listener.told().unfinished, [(ms(1_100), ms(600))], "MX-10, MX-14");
    queue.shut_down();
    updater.join();
    runtime.advance(EVERY);
    assert_eq!(listener.told().unfinished.len(), 1, "MX-12");
}

#[test]
fn a_priority_queue_without_a_name_is_not_measured() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let metrics = Metrics::default().told_to(Arc::new(listener.clone()));
    let queue = PriorityQueue::with_metrics(&runtime, Exponential::new(ms(1), ms(1)), &metrics);
    queue.add(1);
    queue.add_with(1, AddOptions { priority: 1, ..AddOptions::default() });
    queue.add_rate_limited(2);
    let (token, ..) = queue.take_with_priority().unwrap();
    assert!(queue.done(token));
    assert_eq!(listener.told(), Told::default(), "MX-1");
}

#[test]
fn a_queue_without_a_name_or_a_listener_is_not_measured() {
    let listener = Listener::default();
    let metrics = Metrics::default().told_to(Arc::new(listener.clone()));
    assert!(metrics.sink().is_none(), "MX-1");
    assert!(Metrics::named("silent").told_to(Arc::new(listener)).sink().is_none());
}

/// A provider without sinks.
struct Nobody;

impl Provider for Nobody {
    fn sink(&self, _: &str) -> Option<Arc<dyn Sink>> {
        None
    }
}

/// The only test that uses the single provider of the process.
#[test]
fn the_provider_of_the_process_is_set_once_and_a_queue_may_have_its_own() {
    let (first, second) = (Listener::default(), Listener::default());
    let before = Metrics::named("early").sink();
    assert!(set_provider(Arc::new(first.clone())), "MX-2");
    assert!(!set_provider(Arc::new(second.clone())));
    assert!(before.is_none(), "it counts for those who ask later");
    Metrics::named("late").sink().unwrap().added();
    second.metrics().sink().unwrap().added();
    assert_eq!((first.told().added, second.told().added), (1, 1));
    let nobody = Metrics::named("late").told_to(Arc::new(Nobody));
    assert!(nobody.sink().is_none(), "what its own provider does not want goes nowhere");
}
