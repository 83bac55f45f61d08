//! Items whose time comes while there are no calls.

use super::*;

/// Polls a queue's refresh at the next tick, without any other call.
fn tick(runtime: &Manual, refresh: impl Future<Output = ()>, then: impl FnOnce()) {
    let mut refresh = pin!(refresh);
    let mut poll = || refresh.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    runtime.advance(EVERY);
    assert!(poll().is_pending());
    then();
}

#[test]
fn what_came_due_is_told_at_the_next_tick_and_timed_from_its_time() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let queue = DelayingQueue::with_metrics(&runtime, Fifo::default(), &listener.metrics());
    (1..=3_u8).for_each(|key| queue.add_after(key, ms(100 * u64::from(key))));
    tick(&runtime, queue.refresh_metrics_async(EVERY), || {
        let told = listener.told();
        assert_eq!((told.depth, told.added), (3, 3), "nobody else has called");
    });
    runtime.advance(ms(50));
    (1..=3).for_each(|_| assert!(queue.take().is_some()));
    assert_eq!(listener.told().latency, [ms(450), ms(350), ms(250)], "workqueue:MX-6");
}

#[test]
fn what_failed_and_came_due_is_told_at_the_next_tick() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let (limiter, metrics) = (Exponential::new(ms(10), ms(10)), listener.metrics());
    let queue = LimitedQueue::with_metrics(&runtime, limiter, Fifo::default(), &metrics);
    queue.add_rate_limited(1);
    tick(&runtime, queue.refresh_metrics_async(EVERY), || assert_eq!(listener.told().depth, 1));
    assert!(queue.take().is_some());
    assert_eq!(listener.told().latency, [EVERY - ms(10)]);
}

#[test]
fn what_became_ready_in_a_priority_queue_is_told_at_the_next_tick() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let limiter = Exponential::new(ms(1), ms(1));
    let queue = PriorityQueue::with_metrics(&runtime, limiter, &listener.metrics());
    queue.add_after(1, ms(100));
    tick(&runtime, queue.refresh_metrics_async(EVERY), || {
        assert_eq!(listener.told().depth, 1, "workqueue:PQ-19, PQ-20");
    });
    assert!(queue.take_with_priority().is_some());
    assert_eq!(listener.told().latency, [EVERY - ms(100)], "workqueue:PQ-40");
}

#[test]
fn an_item_that_is_added_at_once_and_was_due_before_has_waited_since_it_was_due() {
    let (runtime, listener) = (Manual::new(), Listener::default());
    let queue = DelayingQueue::with_metrics(&runtime, Fifo::default(), &listener.metrics());
    queue.add_after(1, ms(5));
    runtime.advance(ms(20));
    queue.add(1);
    runtime.advance(ms(1));
    let (token, _) = queue.take().unwrap();
    assert_eq!((listener.told().latency, listener.told().added), (vec![ms(16)], 1));
    queue.add(1); // while it is processed, and its time comes again then
    queue.add_after(1, ms(2));
    runtime.advance(ms(3));
    queue.done(token);
    assert!(queue.take().is_some());
    assert_eq!(listener.told().latency, [ms(16), ms(3)], "workqueue:MX-9: from the first");
}
