//! The thread that reports how much is unfinished, and the gauges before anything has happened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::runtime::{Ambient, System};

#[test]
fn every_queue_with_a_limiter_tells_what_is_unfinished() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let limiter = Exponential::new(ms(1), ms(1));
    let queue = LimitedQueue::with_metrics(&runtime, limiter, Fifo::default(), &listener.metrics());
    let queue = Arc::new(queue);
    queue.add(1);
    let (token, _) = queue.take().unwrap();
    let updater = Updater::start(&runtime, &queue);
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(EVERY);
    assert!(runtime.until_waiting(1, PATIENCE));
    assert_eq!(listener.told().unfinished, [(EVERY, EVERY)], "MX-14");
    assert_eq!(format!("{updater:?}"), "Updater");
    queue.done(token);
    queue.shut_down();
    updater.join();
}

#[test]
fn items_may_end_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (runtime, listener) = (Manual::new(), Listener::default());
        let queue = queue(&runtime, &listener);
        queue.add_all([0, 1, 2]);
        let tokens: Vec<_> = (0..3)
            .map(|_| {
                let (token, _) = queue.take().unwrap();
                runtime.advance(ms(1));
                token
            })
            .collect();
        for number in order {
            assert!(queue.done(tokens[number]));
        }
        let took = order.map(|number| ms(3 - number as u64));
        assert_eq!(listener.told().work, took, "MX-10: {order:?}");
    }
}

/// Records every change of the depth.
#[derive(Default)]
struct Changes(Mutex<Vec<i64>>);

impl Sink for Changes {
    fn depth(&self, change: i64) {
        self.0.lock().push(change);
    }
}

struct Only(Arc<Changes>);

impl Provider for Only {
    fn sink(&self, _: &str) -> Option<Arc<dyn Sink>> {
        Some(Arc::clone(&self.0) as Arc<dyn Sink>)
    }
}

#[test]
fn the_depth_of_a_new_queue_is_told_before_anything_is_added() {
    let changes = Arc::<Changes>::default();
    let metrics = Metrics::named("pods").told_to(Arc::new(Only(Arc::clone(&changes))));
    assert!(format!("{metrics:?}").contains(r#"name: "pods""#), "{metrics:?}");
    let queue = WorkQueue::with_metrics(&Manual::new(), Fifo::default(), &metrics);
    assert_eq!(*changes.0.lock(), [0]);
    queue.add(1);
    assert_eq!(*changes.0.lock(), [0, 1]);
    let meter = Meter::new(changes);
    assert!(format!("{meter:?}").starts_with("Meter"), "{meter:?}");
}

/// Refreshes until it is told to end, or panics at once.
struct Endless {
    ended: AtomicBool,
    fails: bool,
}

impl Measured for Endless {
    fn refresh_metrics(&self, _: Duration) {
        assert!(!self.fails, "a listener has a bug");
        let system = System::new();
        system.sleep_until(system.now() + ms(20));
        self.ended.store(true, Ordering::SeqCst);
    }
}

#[test]
fn joining_an_updater_waits_for_its_thread_and_passes_its_panic_on() {
    let start = |fails| {
        let queue = Arc::new(Endless { ended: AtomicBool::new(false), fails });
        (Updater::start(&System::new(), &queue), queue)
    };
    let (updater, queue) = start(false);
    updater.join();
    assert!(queue.ended.load(Ordering::SeqCst));
    let (updater, _) = start(true);
    assert!(catch_unwind(AssertUnwindSafe(|| updater.join())).is_err());
}
