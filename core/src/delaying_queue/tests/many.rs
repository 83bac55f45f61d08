//! Many items that are due together: no step adds more than its part.

use super::*;
use crate::machine::{AT_ONCE, Many, Step, UpTo};
use crate::queue::Refresh;
use crate::runtime::Manual;
use crate::runtime::bell::poll;

const MANY: u32 = 3 * AT_ONCE as u32;

type Large = Stepped<Delaying<u32>>;

/// Makes a queue with many items, each due a nanosecond after the one before.
fn due(many: u32) -> Large {
    let mut queue = Large::new(Delaying::default());
    for key in 0..many {
        let delay = ms(1) + Duration::from_nanos(key.into());
        queue.call(AddAfter { key: Some(key), hash: key.into(), delay, called: None });
    }
    queue
}

/// Steps a call until it is over; returns how often it released the lock.
fn steps(queue: &mut Large, mut call: ShutDown<u32>) -> (usize, Vec<Vec<u32>>) {
    let mut times = 0;
    loop {
        let mut cx = crate::machine::Cx::new(&queue.clock);
        let step = crate::machine::Operation::step(&mut call, &mut queue.machine, &mut cx);
        queue.machine.check();
        match step {
            Step::Done(()) => {
                return (times, call.discarded.iter().map(|some| some.to_vec()).collect());
            }
            _ => times += 1,
        }
    }
}

#[test]
fn one_step_adds_a_part_of_those_that_are_due_and_the_next_ones_the_rest() {
    let mut queue = due(MANY);
    queue.advance(ms(5));
    queue.call(Add { key: Some(MANY), hash: MANY.into() });
    assert_eq!(queue.machine.queue().len(), AT_ONCE + 1);
    assert_eq!(usize::from(queue.woken.get(GETTERS)), AT_ONCE + 1, "one for each");
    let first = queue.call(Get).unwrap();
    assert_eq!((first.1, queue.machine.queue().len()), (0, 2 * AT_ONCE));
    queue.call(Done(first.0));
    assert_eq!(queue.machine.delayed(), 0, "each call adds a part");
}

#[test]
fn len_counts_all_that_are_due_in_several_steps() {
    let mut queue = due(MANY);
    queue.advance(ms(5));
    for _ in 1..3 {
        assert_eq!(queue.waits(Len), Some(Instant::ZERO), "others may have the lock in between");
    }
    assert_eq!(queue.call(Len), MANY as usize);
}

#[test]
fn a_refresh_tells_nothing_before_all_that_are_due_are_counted() {
    let mut queue = due(MANY);
    queue.advance(ms(5));
    let refresh = || Refresh { every: ms(500), next: None };
    assert_eq!(queue.waits(refresh()), Some(Instant::ZERO));
    assert_eq!(queue.waits(refresh()), Some(Instant::ZERO));
    assert_eq!(queue.waits(refresh()), Some(at(505)));
    assert_eq!(queue.machine.queue().len(), MANY as usize);
}

#[test]
fn a_shutdown_adds_what_is_due_and_lets_the_rest_go_in_several_steps() {
    let mut queue = due(2 * MANY);
    queue.advance(ms(1) + Duration::from_nanos(u64::from(MANY) - 1));
    let (times, discarded) = steps(&mut queue, ShutDown::new());
    assert_eq!(times, 5, "three that add and two that let go, before the last");
    assert!(discarded.iter().all(|some| some.len() <= AT_ONCE));
    let mut gone: Vec<u32> = discarded.into_iter().flatten().collect();
    gone.sort_unstable();
    assert!(gone.into_iter().eq(MANY..2 * MANY));
    let taken = std::iter::from_fn(|| queue.call(Get).map(|(_, key)| key));
    assert!(taken.eq(0..MANY), "in the order of their times");
}

#[test]
fn who_comes_between_two_steps_of_a_shutdown_gets_what_is_due_and_nothing_else() {
    let mut queue = due(2 * MANY);
    queue.advance(ms(1) + Duration::from_nanos(u64::from(MANY) - 1));
    assert!(matches!(queue.step(ShutDown::new()), Step::Wait { .. }));
    assert!(queue.call(ShuttingDown), "from the first step on");
    queue.call(Add { key: Some(1_000_000), hash: 1_000_000 });
    queue.advance(ms(100)); // items due after the shutdown began never become due
    let taken = std::iter::from_fn(|| queue.call(Get).map(|(_, key)| key));
    assert!(taken.eq(0..MANY));
    let (_, discarded) = steps(&mut queue, ShutDown::new());
    assert_eq!(discarded.iter().map(Vec::len).sum::<usize>(), MANY as usize);
}

#[test]
fn a_consumer_is_not_sent_home_while_all_that_were_added_are_processed_and_more_are_due() {
    let mut queue = Large::new(Delaying::default());
    let keys = 0..AT_ONCE as u32;
    for key in keys.clone() {
        queue.call(Add { key: Some(key), hash: key.into() });
    }
    keys.clone().for_each(|_| assert!(queue.call(Get).is_some()));
    for key in keys.chain([MANY]) {
        queue.call(AddAfter { key: Some(key), hash: key.into(), delay: ms(1), called: None });
    }
    queue.advance(ms(2));
    let mut cx = crate::machine::Cx::new(&queue.clock);
    queue.machine.ended = Some(at(2)); // as a shutdown that has taken one step of several
    queue.machine.queue.begin_shutdown(&mut cx.wakes);
    assert_eq!(queue.waits(Get), Some(Instant::ZERO));
    assert_eq!(queue.call(Get).map(|(_, key)| key), Some(MANY));
}

#[test]
fn threads_and_tasks_see_all_that_is_due() {
    let (runtime, system) = (Manual::new(), System::new());
    let queue = DelayingQueue::new(&runtime);
    (0..MANY).for_each(|key| queue.add_after(key, ms(1)));
    (0..MANY).for_each(|key| queue.add_after(MANY + key, ms(9)));
    runtime.advance(ms(5));
    assert_eq!(queue.len(), MANY as usize);
    queue.shut_down_with_drain();
    assert_eq!(std::iter::from_fn(|| queue.take()).count(), MANY as usize);
    let queue = DelayingQueue::new(&system);
    (0..MANY).for_each(|key| queue.add_after(key, Duration::from_nanos(1)));
    system.block_on(queue.drain_async());
    assert_eq!(std::iter::from_fn(|| queue.take()).count(), MANY as usize);
}

#[test]
fn a_drain_that_is_dropped_leaves_no_item_behind() {
    let held = Arc::new(());
    let queue = DelayingQueue::new(&Manual::new());
    queue.add((0, Arc::clone(&held)));
    let taken = queue.take().expect("one item waits");
    (1..=MANY).for_each(|key| queue.add_after((key, Arc::clone(&held)), ms(9)));
    let mut drain = Box::pin(queue.drain_async());
    assert!(poll(drain.as_mut(), &Arc::default()).is_pending(), "one item is processed");
    drop(drain);
    assert_eq!(Arc::strong_count(&held), 3, "ours, the consumer's and the queue's");
    assert!(queue.done(taken.0));
}

#[test]
fn many_calls_in_one_step_add_one_more_each_and_no_more() {
    const DUE: u32 = 9 * AT_ONCE as u32;
    let hashed = |key: u32| Add { key: Some(key), hash: key.into() };
    let mut queue = due(DUE);
    queue.advance(ms(5));
    queue.call(Many((DUE..DUE + 10).map(hashed).collect()));
    assert_eq!(queue.machine.queue().len(), AT_ONCE + 9 + 10);
    let most = std::num::NonZeroUsize::new(2 * AT_ONCE).unwrap();
    let taken = queue.call(UpTo { most, call: Get });
    assert_eq!(taken.len(), 2 * AT_ONCE, "all that were asked for are due");
    let left = queue.machine.delayed();
    queue.call(Many(taken.into_iter().map(|(token, _)| Done(token)).collect()));
    assert_eq!(left - queue.machine.delayed(), AT_ONCE + most.get() - 1);
}
