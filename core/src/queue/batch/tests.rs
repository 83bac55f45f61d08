//! A batch is the same as its calls one after the other with no other call between them.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use quickcheck::quickcheck;

use super::Batch;
use super::pair::Pair;
use crate::delaying_queue::{self, AddAfter, Delaying};
use crate::limited_queue::{AddRateLimited, Limited, NumRequeues, Outcome, Settle};
use crate::limiter::Exponential;
use crate::machine::{Machine, Many, Operation};
use crate::queue::{Add, AddAll, Deliver, Done, DoneAll, Fifo, Finished, Get, GetBatch, Len};
use crate::queue::{Queue, ShutDown, Token, WorkQueue};
use crate::runtime::bell::{Bell, poll};
use crate::runtime::{Runtime, System};

const SOME: NonZeroUsize = NonZeroUsize::MAX;
/// Calls of one sequence.
const MANY: usize = 20;

fn add(key: u8) -> Add<u8> {
    Add { key: Some(key), hash: (key / 2).into() }
}

fn add_after((key, delay): (u8, u8)) -> AddAfter<u8> {
    let Add { key, hash } = add(key);
    let delay = Duration::from_millis(u64::from(delay % 10));
    AddAfter { key, hash, delay, called: None }
}

/// Runs the same calls on both of a pair: as batches on one, one by one on the other.
fn step<M: Machine>(pair: &mut Pair<M>, call: u8, arguments: &[u8])
where
    Add<u8>: Operation<M, Ret = ()>,
    Get: Operation<M, Ret = Option<(Token, u8)>>,
    Done: Operation<M, Ret = Finished<u8>>,
    Len: Operation<M, Ret = usize>,
    AddAll<u8>: Operation<M, Ret = Vec<()>>,
    GetBatch: Operation<M, Ret = Vec<(Token, u8)>>,
    DoneAll: Operation<M, Ret = Vec<Finished<u8>>>,
{
    let arguments = &arguments[..arguments.len().min(MANY)];
    match call % 3 {
        0 => {
            let calls: Vec<_> = arguments.iter().copied().map(add).collect();
            pair.row(Many(calls.clone().into()), calls);
        }
        1 => {
            let most = NonZeroUsize::new(arguments.len()).unwrap_or(SOME);
            pair.get_batch(Get, most, |(token, _)| *token);
        }
        _ => pair.done_all(arguments),
    }
    pair.both(Len);
}

/// Fails items of a rate-limiting queue, in processing or not.
fn fail(pair: &mut Pair<Limited<u8, Exponential<u8>>>, at: u8) {
    match pair.delivery(at) {
        Some(token) if at.is_multiple_of(2) => {
            pair.both(Settle::new(token, Outcome::Retry));
        }
        _ => {
            let Add { key, hash } = add(at);
            pair.both(AddRateLimited { key, hash, called: None });
        }
    }
}

/// Tells whether two queues hold the same in the same order.
fn are_equal(one: &Queue<u8>, other: &Queue<u8>) -> bool {
    one.waiting().eq(other.waiting())
        && one.processing().eq(other.processing())
        && one.is_shutting_down() == other.is_shutting_down()
}

quickcheck! {
    fn a_batch_on_a_work_queue_is_its_calls_in_a_row(calls: Vec<(u8, Vec<u8>)>, shut: bool) -> bool {
        let mut pair = Pair::new(Queue::<u8>::default);
        for (number, (call, arguments)) in calls.iter().take(MANY).enumerate() {
            if shut && number == MANY / 2 {
                pair.both(ShutDown);
            }
            step(&mut pair, *call, arguments);
        }
        are_equal(&pair.batches.machine, &pair.singles.machine)
    }

    fn a_batch_on_a_delaying_queue_is_its_calls_in_a_row(
        calls: Vec<(u8, Vec<u8>)>, later: Vec<(u8, u8)>
    ) -> bool {
        let mut pair = Pair::new(Delaying::<u8>::default);
        later.into_iter().map(add_after).for_each(|call| pair.both(call));
        for (call, arguments) in calls.iter().take(MANY) {
            step(&mut pair, *call, arguments);
            pair.advance(Duration::from_millis(1));
        }
        are_equal(pair.batches.machine.queue(), pair.singles.machine.queue())
    }

    fn a_batch_on_a_rate_limiting_queue_is_its_calls_in_a_row(
        calls: Vec<(u8, Vec<u8>)>, shut: bool
    ) -> bool {
        let (base, most) = (Duration::from_millis(1), Duration::from_millis(9));
        let make = || Limited::new(Exponential::new(base, most), Fifo::default());
        let mut pair = Pair::new(make);
        for (number, (call, arguments)) in calls.iter().take(MANY).enumerate() {
            if shut && number == MANY / 2 {
                pair.both(delaying_queue::ShutDown::new());
            }
            match call % 4 {
                3 => arguments.iter().take(MANY).for_each(|at| fail(&mut pair, *at)),
                call => step(&mut pair, call, arguments),
            }
            pair.advance(Duration::from_millis(1));
        }
        for key in 0..=u8::MAX {
            pair.both(NumRequeues { key, hash: (key / 2).into() });
        }
        let (one, other) =
            (pair.batches.machine.delaying(), pair.singles.machine.delaying());
        one.later() == other.later() && are_equal(one.queue(), other.queue())
    }
}

fn queue() -> WorkQueue<u8> {
    WorkQueue::new(&System::new())
}

#[test]
fn a_batch_is_what_is_there_and_is_done_together() {
    let queue = queue();
    queue.add_all([3, 1, 3, 2]);
    let two = NonZeroUsize::new(2).unwrap();
    let first = queue.get_batch(two).unwrap();
    assert_eq!(*first, [3, 1]);
    queue.add_all([1, 3]); // both are processed
    let second = queue.get_batch(two).unwrap();
    assert_eq!(*second, [2], "it does not wait for more");
    first.done();
    assert_eq!(*queue.get_batch(two).unwrap(), [3, 1], "in the order of the batch");
    queue.shut_down();
    drop(second);
    assert!(queue.get_batch(two).is_none());
    assert!(queue.take_batch(two).is_empty(), "every time");
}

#[test]
fn done_all_counts_the_deliveries_that_it_ended() {
    let queue = queue();
    queue.add_all(0..3);
    let tokens: Vec<_> = queue.take_batch(SOME).iter().map(|(token, _)| *token).collect();
    assert!(queue.done(tokens[1]));
    assert_eq!(queue.done_all(tokens.clone()), 2);
    assert_eq!(queue.done_all(tokens), 0);
    assert_eq!(queue.done_all([]), 0);
}

#[test]
fn a_panic_in_the_middle_of_a_batch_leaves_all_of_it_done() {
    let queue = queue();
    queue.add_all(0..3);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let batch = queue.get_batch(SOME).unwrap();
        assert_eq!(batch.len(), 2, "there are three");
    }));
    assert!(panicked.is_err());
    queue.shut_down_with_drain(); // would hang if an item were still in processing
}

#[test]
fn adding_a_batch_wakes_as_many_tasks_as_it_has_items() {
    let queue = queue();
    let bells: Vec<_> = (0..3).map(|_| Arc::<Bell>::default()).collect();
    let mut tasks: Vec<_> = bells.iter().map(|_| Box::pin(queue.take_batch_async(SOME))).collect();
    for (task, bell) in tasks.iter_mut().zip(&bells) {
        assert!(poll(task.as_mut(), bell).is_pending());
    }
    queue.add_all([1, 2, 1]);
    let rung: Vec<_> = bells.iter().map(|bell| bell.rings()).collect();
    assert_eq!(rung, [1, 1, 0], "two items, and the longest asleep first");
}

#[test]
fn a_few_hundred_items_are_one_batch_in_their_order_and_wake_as_many_tasks() {
    let (queue, bell) = (queue(), Arc::<Bell>::default());
    let mut tasks: Vec<_> = (0..=u8::MAX).map(|_| Box::pin(queue.take_async())).collect();
    assert!(tasks.iter_mut().all(|task| poll(task.as_mut(), &bell).is_pending()));
    queue.add_all(0..=u8::MAX);
    assert_eq!(bell.rings(), 256);
    let taken = queue.take_batch(SOME);
    let taken: Vec<_> = taken.into_iter().map(|(_, key)| key).collect();
    assert_eq!(taken, (0..=u8::MAX).collect::<Vec<_>>());
}

#[test]
fn a_batch_is_awaited() {
    let queue = queue();
    queue.add_all([1, 2]);
    queue.shut_down();
    System::new().block_on(async {
        let batch = pin!(queue.get_batch_async(SOME)).await.unwrap();
        assert_eq!(*batch, [1, 2]);
        assert!(queue.get_batch_async(SOME).await.is_none());
    });
}

/// Notes how many deliveries each call ends.
#[derive(Default)]
struct Ends(RefCell<Vec<usize>>);

impl Deliver for Ends {
    type Key = u8;

    fn take(&self) -> Option<(Token, u8)> {
        None
    }

    fn done(&self, _: Token) -> bool {
        self.0.borrow_mut().push(1);
        true
    }

    fn done_all(&self, tokens: Vec<Token>) -> usize {
        self.0.borrow_mut().push(tokens.len());
        tokens.len()
    }
}

#[test]
fn the_items_of_a_batch_are_done_in_one_step() {
    let queue = Ends::default();
    let taken = (0..3).map(|slot| (Token::new(slot, 1), slot as u8)).collect();
    drop(Batch::new(&queue, taken));
    assert_eq!(*queue.0.borrow(), [3]);
    assert!(Batch::new(&queue, vec![]).is_none());
}
