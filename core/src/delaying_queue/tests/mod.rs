//! The rules of the delaying queue, one behaviour a test.

mod many;

use crate::queue::{Add, Done, DoneKey, Finished, Get, Len, ShuttingDown};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::machine::Wakes;
use crate::machine::single_step::Stepped;
use crate::queue::{DRAINS, GETTERS};
use crate::runtime::millis::{at, ms};
use crate::runtime::{Ambient, Instant};

type Machine = Stepped<Delaying<u8>>;

fn machine() -> Machine {
    Stepped::new(Delaying::default())
}

impl Machine {
    fn add(&mut self, key: u8) {
        self.call(Add { key: Some(key), hash: key.into() });
    }

    fn add_after(&mut self, key: u8, delay: Duration) {
        self.call(AddAfter { key: Some(key), hash: key.into(), delay, called: None });
    }

    fn get(&mut self) -> (Token, u8) {
        self.call(Get).expect("an item, not shutdown")
    }

    fn len(&mut self) -> usize {
        self.call(Len)
    }

    /// Takes and ends everything that can be handed out.
    fn keys(&mut self) -> Vec<u8> {
        (0..self.len())
            .map(|_| {
                let (token, key) = self.get();
                self.call(Done(token));
                key
            })
            .collect()
    }
}

#[test]
fn an_item_is_added_when_its_time_has_come_and_not_before() {
    let mut queue = machine();
    queue.add_after(1, ms(5));
    queue.advance(ms(5) - Duration::from_nanos(1));
    assert_eq!(queue.len(), 0);
    queue.advance(Duration::from_nanos(1));
    assert_eq!(queue.len(), 1, "equality counts as due");
    assert_eq!(queue.keys(), [1]);
}

#[test]
fn no_delay_is_at_once_and_counts_as_a_retry() {
    let mut queue = machine();
    queue.add_after(1, Duration::ZERO);
    assert_eq!(queue.len(), 1);
    queue.add_after(2, ms(1));
    assert_eq!(queue.call(Retries), 2);
    queue.call(ShutDown::new());
    queue.add_after(3, ms(1));
    queue.add_after(3, Duration::ZERO);
    assert_eq!((queue.call(Retries), queue.len()), (2, 1), "after shutdown: nothing, no retry");
}

#[test]
fn the_delay_counts_from_the_call_and_not_from_the_lock() {
    let mut queue = machine();
    let called = Some(Instant::ZERO);
    queue.advance(ms(3));
    queue.call(AddAfter { key: Some(1), hash: 1, delay: ms(5), called });
    queue.advance(ms(2));
    assert_eq!(queue.keys(), [1], "DQ-5");
    queue.call(AddAfter { key: Some(1), hash: 1, delay: ms(5), called });
    assert_eq!(queue.keys(), [1], "due already");
}

#[test]
fn the_earliest_of_several_delays_counts() {
    let mut queue = machine();
    queue.add_after(1, ms(5));
    queue.add_after(1, ms(3));
    queue.add_after(1, ms(7));
    queue.advance(ms(3));
    assert_eq!(queue.keys(), [1]);
    queue.advance(ms(100));
    assert_eq!(queue.len(), 0, "one entry per item: DQ-9");
}

#[test]
fn items_come_in_the_order_of_their_times() {
    let mut queue = machine();
    for (key, delay) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
        queue.add_after(key, ms(delay));
    }
    queue.advance(ms(100));
    queue.add(5);
    assert_eq!(queue.keys(), [2, 4, 3, 1, 5], "what became due before the add is before it");
}

#[test]
fn adding_at_once_does_not_cancel_the_later_delivery() {
    let mut queue = machine();
    queue.add_after(1, ms(5));
    queue.add(1);
    assert_eq!(queue.keys(), [1]);
    queue.advance(ms(5));
    assert_eq!(queue.keys(), [1], "DQ-11");
}

#[test]
fn an_item_may_wait_be_processed_and_be_delayed_at_once() {
    let mut queue = machine();
    queue.add(1);
    let (first, _) = queue.get();
    queue.add_after(1, ms(5));
    queue.add(1);
    queue.call(Done(first));
    let (second, _) = queue.get();
    queue.advance(ms(5));
    assert_eq!(queue.len(), 0, "not while it is processed");
    queue.call(Done(second));
    assert_eq!(queue.keys(), [1]);
    assert_eq!(queue.machine.delayed(), 0);
}

#[test]
fn done_puts_an_item_behind_those_that_became_due_before() {
    let mut queue = machine();
    queue.add(1);
    let (token, _) = queue.get();
    queue.add_after(1, ms(5));
    queue.add_after(2, ms(7));
    queue.advance(ms(10));
    queue.call(Done(token));
    assert_eq!(queue.keys(), [2, 1]);
}

#[test]
fn done_by_value_ends_the_delivery_of_a_delayed_item() {
    let mut queue = machine();
    queue.add(1);
    let (token, key) = queue.get();
    queue.add_after(1, ms(5));
    assert_eq!(queue.call(DoneKey { key, hash: 1 }), Finished::Ended(None), "it stays, delayed");
    assert_eq!(queue.call(DoneKey { key, hash: 1 }), Finished::NotInProcessing);
    assert_eq!(queue.call(Done(token)), Finished::NotInProcessing);
    queue.advance(ms(5));
    assert_eq!(queue.keys(), [1]);
}

#[test]
fn a_delay_that_does_not_fit_into_time_lasts_until_shutdown() {
    let mut queue = machine();
    queue.advance(ms(1));
    queue.add_after(1, Duration::MAX);
    assert_eq!(queue.waits(Get), Some(Instant::NEVER));
    queue.advance(Duration::MAX);
    assert_eq!(queue.len(), 0);
    queue.call(ShutDown::new());
    assert_eq!(queue.call(Get), None);
}

#[test]
fn consumers_sleep_until_the_earliest_deadline() {
    let mut queue = machine();
    assert_eq!(queue.waits(Get), None);
    queue.add_after(1, ms(9));
    assert_eq!(queue.waits(Get), Some(at(9)));
    queue.add_after(2, ms(4));
    assert_eq!(queue.waits(Get), Some(at(4)));
    queue.advance(ms(4));
    assert_eq!(queue.get().1, 2);
    assert_eq!(queue.waits(Get), Some(at(9)));
}

#[test]
fn an_earlier_deadline_wakes_every_consumer_and_a_later_one_nobody() {
    let mut queue = machine();
    queue.add_after(1, ms(5));
    assert_eq!(queue.woken.get(GETTERS), Wakes::ALL);
    for delay in [5, 6] {
        queue.add_after(2, ms(delay));
        assert!(!queue.woken.any(), "{delay}");
    }
    queue.add_after(2, ms(4));
    assert_eq!(queue.woken.get(GETTERS), Wakes::ALL, "brought forward to the front");
    queue.add_after(2, ms(9));
    assert!(!queue.woken.any(), "the first keeps its time, DQ-9");
}

#[test]
fn the_same_time_given_again_changes_no_order() {
    let mut queue = machine();
    for key in [1, 2, 1] {
        queue.add_after(key, ms(5));
    }
    queue.advance(ms(5));
    assert_eq!(queue.keys(), [1, 2], "DQ-9, DQ-13");
}

#[test]
fn what_waits_for_its_time_is_shown_in_the_order_of_the_times() {
    let mut queue = machine();
    for (key, delay) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
        queue.add_after(key, ms(delay));
    }
    let later = queue.machine.later();
    assert_eq!(later, [(&2, at(10)), (&4, at(10)), (&3, at(20)), (&1, at(30))]);
    assert_eq!(queue.machine.delayed(), 4);
}

#[test]
fn every_item_that_becomes_due_has_a_consumer_awake_for_it() {
    let mut queue = machine();
    for key in 1..=3 {
        queue.add_after(key, ms(5));
    }
    queue.advance(ms(5));
    queue.get();
    assert_eq!(queue.woken.get(GETTERS), 2, "the caller itself takes the third");

    let mut queue = machine();
    queue.add_after(1, ms(5));
    queue.advance(ms(5));
    queue.add(2);
    assert_eq!(queue.woken.get(GETTERS), 2, "one for each");
}

#[test]
fn shutdown_drops_what_is_not_due_and_keeps_what_is() {
    let mut queue = machine();
    queue.add_after(1, ms(5));
    queue.add_after(2, ms(6));
    queue.add(3);
    queue.add_after(3, ms(6));
    queue.advance(ms(5));
    let mut shut_down = ShutDown::new();
    let mut cx = crate::machine::Cx::new(&queue.clock);
    let step = crate::machine::Operation::step(&mut shut_down, &mut queue.machine, &mut cx);
    assert!(matches!(step, crate::machine::Step::Done(())));
    let gone = shut_down.discarded.iter().flat_map(|some| some.iter());
    assert!(gone.eq(&[2]), "3 is still in the queue");
    queue.advance(ms(100));
    assert_eq!(queue.keys(), [3, 1]);
    assert_eq!(queue.call(Get), None);
    assert!(queue.call(ShuttingDown));
    queue.call(ShutDown::new()); // a second time
}

#[test]
fn a_drain_ends_the_waiting_when_it_begins_and_shutdown_releases_it() {
    let mut queue = machine();
    queue.add(1);
    queue.add_after(1, ms(5));
    let (token, _) = queue.get();
    let mut drain = Drain::new(DrainUntil::NothingInFlight);
    queue.waits(drain.clone());
    assert_eq!(queue.machine.delayed(), 0, "DQ-21");
    drain.inner.began = Some(0);
    queue.call(ShutDown::new());
    assert_eq!(queue.woken.get(DRAINS), Wakes::ALL);
    queue.call(drain); // DQ-22
    queue.waits(Drain::new(DrainUntil::NothingInFlight));
    queue.call(Done(token));
    assert_eq!(queue.woken.get(DRAINS), Wakes::ALL);
    queue.call(Drain::new(DrainUntil::AllWorkDone));
}

#[test]
fn a_drain_keeps_what_was_due_when_it_began() {
    let mut queue = machine();
    queue.add_after(1, ms(5));
    queue.add_after(2, ms(6));
    queue.advance(ms(5));
    queue.call(Drain::new(DrainUntil::NothingInFlight));
    assert_eq!(queue.keys(), [1], "its time had come, DQ-19");
}

#[test]
fn an_item_that_the_queue_holds_comes_at_once_without_a_delay() {
    let mut queue = machine();
    queue.add(1);
    let (token, _) = queue.get();
    let slot = queue.machine.queue.slot_of(token).unwrap();
    let mut cx = crate::machine::Cx::new(&queue.clock);
    queue.machine.add_slot_after(slot, Instant::ZERO, Duration::ZERO, &mut cx);
    assert_eq!(queue.machine.delayed(), 0, "it waits for no time");
    queue.call(Done(token));
    assert_eq!(queue.keys(), [1]);
}

#[test]
fn an_item_that_is_kept_for_no_time_is_noticed() {
    let mut queue = machine();
    queue.add_after(1, ms(5));
    queue.machine.check();
    let shown = format!("{:?}", queue.machine);
    assert!(shown.contains("delayed: 1"), "{shown}");
    queue.machine.queue.keep(&mut Some(2), 2);
    let check = std::panic::AssertUnwindSafe(|| queue.machine.check());
    assert!(std::panic::catch_unwind(check).is_err());
}

#[test]
fn threads_receive_items_at_their_times() {
    let runtime = System::new();
    let queue = Arc::new(DelayingQueue::new(&runtime));
    let processed = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let (queue, processed) = (Arc::clone(&queue), Arc::clone(&processed));
            runtime.spawn("worker", move || {
                let mut seen = vec![];
                queue.work(|key| {
                    seen.push(*key);
                    processed.fetch_add(1, Ordering::Relaxed);
                });
                seen
            })
        })
        .collect();
    for key in 0..20_u8 {
        queue.add_after(key, ms(u64::from(20 - key)));
    }
    queue.add(100);
    while processed.load(Ordering::Relaxed) < 21 {
        runtime.sleep_until(runtime.now() + ms(1));
    }
    queue.shut_down_when_done();
    let seen = workers.into_iter().map(|worker| runtime.join(worker).unwrap());
    let mut seen: Vec<_> = seen.flatten().collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..20).chain([100]).collect::<Vec<_>>());
    assert_eq!(queue.retries(), 20);
    assert!(queue.is_empty() && queue.is_shutting_down() && !queue.done_key(&1));
}

#[test]
fn a_queue_is_shown_by_its_name() {
    assert_eq!(format!("{:?}", DelayingQueue::<u8>::new(&System::new())), "DelayingQueue");
}

#[test]
fn equal_times_keep_their_order_whichever_item_was_known_first() {
    let mut queue = machine();
    queue.add(1);
    queue.add(2);
    queue.add_after(2, ms(5));
    queue.add_after(1, ms(5));
    assert_eq!(queue.keys(), [1, 2]);
    queue.advance(ms(5));
    assert_eq!(queue.keys(), [2, 1]);
}

#[test]
fn an_item_that_is_done_by_its_key_comes_back_behind_those_that_were_due() {
    let mut queue = machine();
    queue.add(1);
    queue.get();
    queue.add(1);
    queue.add_after(2, ms(5));
    queue.advance(ms(5));
    queue.call(DoneKey { key: 1, hash: 1 });
    assert_eq!(queue.keys(), [2, 1]);
}
