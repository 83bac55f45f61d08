//! Tokio's clock, paused and moved.
#![cfg(feature = "queues")]

use super::*;
use crate::cancel::{CancelToken, Reason};
use crate::delaying_queue::DelayingQueue;
use crate::runtime::bell::{Bell, Breaks};

const HOUR: Duration = Duration::from_secs(3600);
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a future with a paused clock; returns how long that took in real time.
fn paused<T>(run: impl Future<Output = T>) -> (T, Duration) {
    let system = System::new();
    let began = system.now();
    let mut builder = ::tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    (runtime.block_on(run), system.now().since(began))
}

#[test]
fn an_hour_passes_at_once_for_an_item_and_for_a_token() {
    let (reason, took) = paused(async {
        let runtime = Tokio::current();
        let queue = DelayingQueue::new(&runtime);
        queue.add_after("item", HOUR);
        let (token, item) = queue.take_async().await.unwrap();
        assert_eq!(item, "item");
        assert!(runtime.now() >= Instant::ZERO + HOUR);
        queue.done(token);
        let token = CancelToken::with_deadline(&runtime, runtime.now() + HOUR);
        token.wait_async().await
    });
    assert_eq!(reason, Reason::DeadlineExceeded);
    assert!(took < PATIENCE, "{took:?}");
}

#[test]
fn the_machines_time_does_not_care_for_a_paused_clock() {
    let ((), _) = paused(async {
        let queue = DelayingQueue::new(&System::new());
        queue.add_after("item", HOUR);
        let waited = ::tokio::time::timeout(2 * HOUR, queue.take_async()).await;
        assert!(waited.is_err(), "two hours have passed for tokio alone");
    });
}

#[test]
fn a_seed_fixes_the_random_numbers_of_all_copies_together() {
    let draw = |runtime: Tokio| {
        let copy = runtime.clone();
        [runtime.entropy(), copy.entropy(), runtime.entropy()]
    };
    let ((), _) = paused(async {
        let one = draw(Tokio::seeded(1));
        assert!(one[0] != one[1] && one[1] != one[2] && one[0] != one[2], "{one:?}");
        assert_eq!(one, draw(Tokio::seeded(1)));
        assert_ne!(one, draw(Tokio::seeded(2)));
        assert_ne!(draw(Tokio::current()), draw(Tokio::current()));
    });
}

#[test]
fn threads_sleep_by_the_same_clock() {
    let ((), took) = paused(async {
        let runtime = Tokio::current();
        let (queue, over) = (DelayingQueue::new(&runtime), CancelToken::new(&runtime));
        queue.add_after("item", HOUR);
        let (inner, ends) = (runtime.clone(), over.clone());
        let thread = runtime.spawn("takes", move || {
            let taken = queue.take();
            let then = inner.now();
            inner.sleep_until(then + HOUR);
            ends.cancel();
            (taken.is_some(), inner.now().since(then))
        });
        over.wait_async().await;
        let (took_one, slept) = runtime.join(thread).unwrap();
        assert!(took_one && slept >= HOUR, "{slept:?}");
    });
    assert!(took < PATIENCE, "{took:?}");
}

#[test]
fn a_notification_ends_a_sleep_and_a_dropped_alarm_wakes_nobody() {
    let ((), took) = paused(async {
        let runtime = Tokio::current();
        let bells = [(); 3].map(|()| Arc::<Bell>::default());
        let arm = |bell: &Arc<Bell>, at| runtime.wake_at(at, Waker::from(Arc::clone(bell)));
        let soon = runtime.now() + HOUR;
        let never = arm(&bells[0], Instant::NEVER);
        drop(arm(&bells[1], soon));
        let breaks = runtime.wake_at(soon, Breaks::waker("a waker of a test"));
        let rings = arm(&bells[2], soon);
        let token = CancelToken::new(&runtime);
        let inner = token.clone();
        let until = soon + HOUR;
        let waits = runtime.spawn("waits", move || inner.wait_until(until));
        ::tokio::time::sleep(HOUR + Duration::from_secs(1)).await;
        assert_eq!(bells.each_ref().map(|bell| bell.rings()), [0, 0, 1]);
        token.cancel();
        assert!(runtime.join(waits).unwrap());
        drop((never, breaks, rings));
    });
    assert!(took < PATIENCE, "{took:?}");
}
