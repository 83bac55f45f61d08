//! A batch is the same calls one after the other, with nobody else between them.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use quickcheck::quickcheck;

use crate::delaying_queue::{AddAfter, Delaying};
use crate::machine::by_hand::ByHand;
use crate::machine::{Machine, Many, Operation, Step, UpTo};
use crate::queue::{Add, AddAll, Done, DoneAll, Finished, GETTERS, Get, GetBatch, Len};
use crate::queue::{Queue, ShutDown, Token, WorkQueue};
use crate::runtime::{Runtime, System};

const SOME: NonZeroUsize = NonZeroUsize::MAX;
/// Calls of one sequence.
const MANY: usize = 20;

fn add(key: u8) -> Add<u8> {
    Add { key: Some(key), hash: (key / 2).into() }
}

/// One machine that is given batches, and one that is given their calls.
struct Pair<M> {
    batches: ByHand<M>,
    singles: ByHand<M>,
    tokens: Vec<Token>,
}

impl<M: Machine> Pair<M>
where
    Add<u8>: Operation<M, Ret = ()>,
    Get: Operation<M, Ret = Option<(Token, u8)>>,
    Done: Operation<M, Ret = Finished<u8>>,
    Len: Operation<M, Ret = usize>,
    AddAll<u8>: Operation<M, Ret = Vec<()>>,
    GetBatch: Operation<M, Ret = Vec<(Token, u8)>>,
    DoneAll: Operation<M, Ret = Vec<Finished<u8>>>,
{
    fn new(make: impl Fn() -> M) -> Self {
        let (batches, singles) = (ByHand::new(make()), ByHand::new(make()));
        Self { batches, singles, tokens: Vec::new() }
    }

    /// Runs calls one after the other; returns what they return and how many they woke.
    fn one_by_one<O: Operation<M>>(&mut self, calls: Vec<O>) -> (Vec<O::Ret>, u16) {
        let mut woken = 0;
        let returned = calls.into_iter().map(|call| {
            let ret = self.singles.call(call);
            woken += self.singles.woken.get(GETTERS);
            ret
        });
        (returned.collect(), woken)
    }

    fn add_all(&mut self, keys: &[u8]) {
        let calls: Vec<_> = keys.iter().copied().map(add).collect();
        self.batches.call(Many(calls.clone()));
        let (_, woken) = self.one_by_one(calls);
        assert_eq!(self.batches.woken.get(GETTERS), woken, "as many waiters as items");
    }

    fn get_batch(&mut self, most: NonZeroUsize) {
        let mut expected = Vec::new();
        let mut woken = 0;
        while expected.len() < most.get() {
            let Step::Done(Some(taken)) = self.singles.step(Get) else { break };
            woken += self.singles.woken.get(GETTERS);
            expected.push(taken);
        }
        match self.batches.step(UpTo { most, call: Get }) {
            Step::Done(taken) => {
                assert_eq!(taken, expected);
                // Items that have become due wake others for all but those that are taken here.
                let here = taken.len().saturating_sub(1) as u16;
                assert_eq!(self.batches.woken.get(GETTERS), woken.saturating_sub(here));
            }
            step => assert!(matches!(step, Step::Wait { .. }) && expected.is_empty(), "{step:?}"),
        }
        self.tokens.extend(expected.into_iter().map(|(token, _)| token));
    }

    /// Ends deliveries, among them such as have ended before.
    fn done_all(&mut self, which: &[u8]) {
        let nth = |at: &u8| self.tokens.get(usize::from(*at) % self.tokens.len().max(1));
        let calls: Vec<_> = which.iter().filter_map(nth).map(|token| Done(*token)).collect();
        let finished = self.batches.call(Many(calls.clone()));
        assert_eq!((finished, self.batches.woken.get(GETTERS)), self.one_by_one(calls));
    }

    fn step(&mut self, call: u8, arguments: &[u8]) {
        let arguments = &arguments[..arguments.len().min(MANY)];
        match call % 3 {
            0 => self.add_all(arguments),
            1 => self.get_batch(NonZeroUsize::new(arguments.len()).unwrap_or(SOME)),
            _ => self.done_all(arguments),
        }
        assert_eq!(self.batches.call(Len), self.singles.call(Len));
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
                pair.batches.call(ShutDown);
                pair.singles.call(ShutDown);
            }
            pair.step(*call, arguments);
        }
        are_equal(&pair.batches.machine, &pair.singles.machine)
    }

    fn a_batch_on_a_delaying_queue_is_its_calls_in_a_row(
        calls: Vec<(u8, Vec<u8>)>, later: Vec<(u8, u8)>
    ) -> bool {
        let mut pair = Pair::new(Delaying::<u8>::default);
        for (key, delay) in later {
            let delay = Duration::from_millis(u64::from(delay % 10));
            let Add { key, hash } = add(key);
            let call = AddAfter { key, hash, delay, called: None };
            pair.batches.call(call.clone());
            pair.singles.call(call);
        }
        for (call, arguments) in calls.iter().take(MANY) {
            pair.step(*call, arguments);
            pair.batches.advance(Duration::from_millis(1));
            pair.singles.advance(Duration::from_millis(1));
        }
        are_equal(pair.batches.machine.queue(), pair.singles.machine.queue())
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

/// Counts how often a task was woken.
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn adding_a_batch_wakes_as_many_tasks_as_it_has_items() {
    let queue = queue();
    let bells: Vec<_> = (0..3).map(|_| Arc::new(Bell(Default::default()))).collect();
    let mut tasks: Vec<_> = bells.iter().map(|_| Box::pin(queue.take_batch_async(SOME))).collect();
    for (task, bell) in tasks.iter_mut().zip(&bells) {
        let waker = Waker::from(Arc::clone(bell));
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    queue.add_all([1, 2, 1]);
    let rung: Vec<_> = bells.iter().map(|bell| bell.0.load(Ordering::SeqCst)).collect();
    assert_eq!(rung, [1, 1, 0], "two items, and the longest asleep first");
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
