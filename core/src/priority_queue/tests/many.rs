//! Many entries that are due together: no step makes more ready than its part.

use super::*;
use crate::machine::{AT_ONCE, Step};
use crate::queue::Refresh;
use crate::runtime::Manual;

const MANY: u32 = 3 * AT_ONCE as u32;

type Large = Stepped<Prioritized<u32, Exponential<u32>>>;

/// Makes a queue with many entries, each due a nanosecond after the one before, with its own number
/// as priority.
fn due() -> Large {
    let limiter = Exponential::new(ms(10), ms(1000));
    let mut queue = Large::new(Prioritized::new(limiter, ()));
    for key in 0..MANY {
        let after = Some(ms(1) + Duration::from_nanos(key.into()));
        let options = AddOptions { after, priority: key as i32, ..AddOptions::default() };
        queue.call(Add { key: Some(key), hash: key.into(), options, called: None });
    }
    queue.advance(ms(5));
    queue
}

#[test]
fn a_consumer_waits_until_all_that_are_due_are_ready_and_gets_the_highest() {
    let mut queue = due();
    for part in 1..3 {
        assert_eq!(queue.waits(Get), Some(Instant::ZERO), "others may have the lock in between");
        assert_eq!(queue.machine.len(), part * AT_ONCE);
    }
    let taken = std::iter::from_fn(|| {
        (queue.machine.len() + queue.machine.waiting() > 0).then(|| queue.call(Get).unwrap().1)
    });
    assert!(taken.eq((0..MANY).rev()));
}

#[test]
fn one_add_makes_a_part_of_those_that_are_due_ready() {
    let mut queue = due();
    let options = AddOptions::default();
    queue.call(Add { key: Some(MANY), hash: MANY.into(), options, called: None });
    assert_eq!(queue.machine.len(), AT_ONCE + 1);
    assert_eq!(usize::from(queue.woken.get(GETTERS)), AT_ONCE + 1, "one for each");
}

#[test]
fn len_and_refresh_count_all_that_are_due_in_several_steps() {
    let mut queue = due();
    assert!(matches!(queue.step(Len), Step::Wait { until: Some(Instant::ZERO), .. }));
    let refresh = Refresh { every: ms(500), next: None };
    assert_eq!(queue.waits(refresh), Some(Instant::ZERO));
    assert_eq!(queue.call(Len), MANY as usize);
}

#[test]
fn threads_see_all_that_is_due() {
    let runtime = Manual::new();
    let queue = PriorityQueue::<u32, _>::new(&runtime);
    (0..MANY).for_each(|key| queue.add_after(key, ms(1)));
    runtime.advance(ms(5));
    queue.add_with(MANY, priority(7));
    assert_eq!(queue.take_with_priority().map(|(_, key, _)| key), Some(MANY));
    assert_eq!(queue.len(), MANY as usize);
}
