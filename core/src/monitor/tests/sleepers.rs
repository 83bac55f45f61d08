//! The sleepers that are woken, and the ends of their sleeps.

use super::*;
use crate::runtime::millis::ms;

const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn all_are_woken_threads_and_tasks_of_one_channel() {
    let (runtime, bell) = (Manual::new(), Arc::<Bell>::default());
    let queue = Arc::new(WorkQueue::<u8, _>::new(&runtime));
    let taking = Arc::clone(&queue);
    let thread = runtime.spawn("getter", move || taking.take());
    assert!(runtime.until_asleep(1, PATIENCE));
    let mut task = pin!(queue.take_async());
    assert!(poll(task.as_mut(), &bell).is_pending());
    queue.shut_down();
    assert_eq!(runtime.asleep(), 0, "a notified thread does not count as asleep");
    assert_eq!(runtime.join(thread).expect("it does not panic"), None);
    assert_eq!(bell.rings(), 1);
}

#[test]
fn a_task_that_is_woken_sleeps_until_the_time_that_it_is_told_then() {
    let (runtime, bell) = (Manual::new(), Arc::<Bell>::default());
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    let mut getter = pin!(queue.take_async());
    queue.add_after(1, ms(10));
    assert!(poll(getter.as_mut(), &bell).is_pending());
    queue.add_after(2, ms(5));
    assert_eq!(bell.rings(), 1, "it must learn of an earlier time");
    assert!(poll(getter.as_mut(), &bell).is_pending());
    runtime.advance(ms(5));
    assert_eq!(bell.rings(), 2);
    assert_eq!(taken(poll(getter.as_mut(), &bell)), Some(2));
    assert_eq!(runtime.waiters(), 0, "its alarm is gone with it");
}

#[test]
fn the_newest_waker_is_the_one_that_the_clock_wakes() {
    let runtime = Manual::new();
    let (old, new) = (Arc::<Bell>::default(), Arc::<Bell>::default());
    let queue = DelayingQueue::<u8, _>::new(&runtime);
    queue.add_after(1, ms(10));
    let mut getter = pin!(queue.take_async());
    assert!(poll(getter.as_mut(), &old).is_pending() && poll(getter.as_mut(), &new).is_pending());
    runtime.advance(ms(10));
    assert_eq!((old.rings(), new.rings()), (0, 1));
}

#[test]
fn who_leaves_changes_nobody_elses_turn() {
    let queue = WorkQueue::<u8>::new(&System::new());
    let [first, second, third]: [Arc<Bell>; 3] = Default::default();
    let mut one = Box::pin(queue.take_async());
    let (mut two, mut three) = (pin!(queue.take_async()), pin!(queue.take_async()));
    assert!(poll(one.as_mut(), &first).is_pending() && poll(two.as_mut(), &second).is_pending());
    assert!(poll(three.as_mut(), &third).is_pending());
    drop(one);
    queue.add(1);
    assert_eq!([&first, &second, &third].map(|bell| bell.rings()), [0, 1, 0]);
}

#[test]
fn as_many_threads_are_woken_as_items_come_together() {
    let runtime = Manual::new();
    let queue = Arc::new(WorkQueue::<u8, _>::new(&runtime));
    let threads: Vec<_> = (0..20)
        .map(|_| {
            let queue = Arc::clone(&queue);
            runtime.spawn("getter", move || queue.take().map(|(_, key)| key))
        })
        .collect();
    assert!(runtime.until_asleep(20, PATIENCE));
    queue.add_all(0..20);
    assert_eq!(runtime.asleep(), 0);
    let taken = threads.into_iter().map(|thread| runtime.join(thread).expect("no panic"));
    let mut taken: Vec<_> = taken.flatten().collect();
    taken.sort_unstable();
    assert_eq!(taken, (0..20).collect::<Vec<_>>());
}
