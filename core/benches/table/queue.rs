//! The work queue.

use std::hash::BuildHasher as _;
use std::time::Duration;

use foldhash::fast::RandomState;
use parking_lot::{Condvar, Mutex};
use seatrial_core::machine::{Cx, Operation as _, Step};
use seatrial_core::queue::{Add, Done, GETTERS, Get, Queue, Token, WorkQueue};
use seatrial_core::runtime::System;

use crate::measure::{Key, bytes_per_item, giving_duel, keys, lock_pair, longest, per_item};
use crate::measure::{prepared_duel, single_duel, timed, wall};
use crate::plain::queue::Plain;
use crate::plain::{Hashing, Same, SipHash};
use crate::row::Row;
use crate::{MEMORY, Measure};

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("queue", "add+get+done, one in flight", by_hand),
    Measure::new("queue", "add+get+done, one in flight", one_in_flight::<Same>)
        .siphash(one_in_flight::<SipHash>),
    Measure::new("queue", "add, done+get in one, one in flight", onward::<Same>)
        .siphash(onward::<SipHash>),
    Measure::new("queue", "64k queued, distinct keys", backlog::<Same>).siphash(backlog::<SipHash>),
    Measure::new("queue", "64k queued, in batches of 64", batches::<Same>)
        .siphash(batches::<SipHash>),
    Measure::new("queue", "4 producers, 4 consumers", many_threads::<Same>)
        .siphash(many_threads::<SipHash>),
    Measure::new("queue", "10,000,000 keys, in and out", ten_million::<Same>)
        .siphash(ten_million::<SipHash>),
    Measure::new("queue", "10,000,000 keys, against 1,000,000", linear),
];

/// A queue from the view of its users.
pub(crate) trait Contestant: Sync {
    fn add(&self, key: Key);
    /// Takes an item and ends its delivery; false once the queue is shut down.
    fn take_and_end(&self) -> bool;
    fn shut_down(&self);
}

/// A queue from the view of a worker that ends one item and takes the next.
pub(crate) trait Onward: Contestant {
    /// An item in processing.
    type Held;
    fn first(&self) -> Option<Self::Held>;
    fn next(&self, held: Self::Held) -> Option<Self::Held>;
    fn end(&self, held: Self::Held);
}

impl Onward for WorkQueue<Key> {
    type Held = Token;

    #[inline(always)]
    fn first(&self) -> Option<Token> {
        let (token, _key) = self.take()?;
        Some(token)
    }

    #[inline(always)]
    fn next(&self, token: Token) -> Option<Token> {
        let (token, _key) = self.done_then_take(token)?;
        Some(token)
    }

    fn end(&self, token: Token) {
        self.done(token);
    }
}

/// Two calls, because there is no single one.
impl<S: Hashing> Onward for Plain<Key, S> {
    type Held = Key;

    #[inline(always)]
    fn first(&self) -> Option<Key> {
        self.get()
    }

    #[inline(always)]
    fn next(&self, key: Key) -> Option<Key> {
        self.done(&key);
        self.get()
    }

    fn end(&self, key: Key) {
        self.done(&key);
    }
}

impl Contestant for WorkQueue<Key> {
    #[inline(always)]
    fn add(&self, key: Key) {
        Self::add(self, key);
    }

    #[inline(always)]
    fn take_and_end(&self) -> bool {
        let Some((token, _key)) = self.take() else { return false };
        self.done(token)
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }
}

impl<S: Hashing> Contestant for Plain<Key, S> {
    #[inline(always)]
    fn add(&self, key: Key) {
        Self::add(self, key);
    }

    #[inline(always)]
    fn take_and_end(&self) -> bool {
        let Some(key) = self.get() else { return false };
        self.done(&key);
        true
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }
}

/// Our rules, with a lock and a condition variable written around them by hand.
struct ByHand {
    rules: Mutex<(Queue<Key>, usize)>,
    changed: Condvar,
    hasher: RandomState,
    system: System,
}

impl ByHand {
    fn new() -> Self {
        let rules = Mutex::new((Queue::default(), 0));
        let (changed, hasher) = (Condvar::new(), RandomState::default());
        Self { rules, changed, hasher, system: System::new() }
    }

    fn take(&self) -> Option<(Token, Key)> {
        let mut rules = self.rules.lock();
        loop {
            let mut cx = Cx::new(&self.system);
            match Get.step(&mut rules.0, &mut cx) {
                Step::Done(found) | Step::Held(found) => return found,
                Step::Wait { .. } => {
                    rules.1 += 1;
                    self.changed.wait(&mut rules);
                    rules.1 -= 1;
                }
            }
        }
    }

    fn done(&self, token: Token) {
        let mut rules = self.rules.lock();
        let mut cx = Cx::new(&self.system);
        let finished = Done(token).step(&mut rules.0, &mut cx);
        if cx.wakes.get(GETTERS) > 0 && rules.1 > 0 {
            self.changed.notify_one();
        }
        drop(rules);
        drop(finished);
    }
}

impl Contestant for ByHand {
    #[inline(never)]
    fn add(&self, key: Key) {
        let hash = self.hasher.hash_one(&key);
        let mut add = Add { key: Some(key), hash };
        let mut rules = self.rules.lock();
        let mut cx = Cx::new(&self.system);
        let _done = add.step(&mut rules.0, &mut cx);
        if cx.wakes.get(GETTERS) > 0 && rules.1 > 0 {
            self.changed.notify_one();
        }
        drop(rules);
    }

    #[inline(never)]
    fn take_and_end(&self) -> bool {
        let Some((token, _key)) = self.take() else { return false };
        self.done(token);
        true
    }

    fn shut_down(&self) {}
}

const OPERATIONS: usize = 200_000;
pub(crate) const QUEUED: usize = 65_536;

/// Adds, takes and ends items one by one, a thousand of them again and again.
pub(crate) fn one_by_one((ours, other): (&impl Contestant, &impl Contestant)) -> (f64, f64) {
    fn run(keys: Vec<Key>, queue: &impl Contestant) {
        for key in keys {
            queue.add(key);
            queue.take_and_end();
        }
    }
    let keys = keys(1_000);
    let given = || keys.iter().cycle().take(OPERATIONS).cloned().collect();
    giving_duel(OPERATIONS, given, |keys| run(keys, ours), |keys| run(keys, other))
}

/// As [`one_by_one`], with a worker that ends an item when it takes the next.
pub(crate) fn one_then_next((ours, other): (&impl Onward, &impl Onward)) -> (f64, f64) {
    fn run(keys: Vec<Key>, queue: &impl Onward) {
        let mut keys = keys.into_iter();
        keys.next().into_iter().for_each(|key| queue.add(key));
        let mut held = queue.first().expect("it was added");
        for key in keys {
            queue.add(key);
            let Some(next) = queue.next(held) else { unreachable!("it was added") };
            held = next;
        }
        queue.end(held);
    }
    let keys = keys(1_000);
    let given = || keys.iter().cycle().take(OPERATIONS).cloned().collect();
    giving_duel(OPERATIONS, given, |keys| run(keys, ours), |keys| run(keys, other))
}

/// Adds all items, then takes and ends them.
pub(crate) fn in_and_out(keys: Vec<Key>, queue: &impl Contestant) {
    let count = keys.len();
    keys.into_iter().for_each(|key| queue.add(key));
    (0..count).for_each(|_| assert!(queue.take_and_end()));
}

/// Returns the longest call of [`in_and_out`].
pub(crate) fn longest_in_and_out<Q: Contestant>(
    rounds: usize,
    keys: &[Key],
    queue: impl Fn() -> Q,
) -> f64 {
    longest(
        rounds,
        || (queue(), keys.to_vec()),
        |(queue, keys), laps| {
            let count = keys.len();
            keys.into_iter().for_each(|key| laps.lap(|| queue.add(key)));
            (0..count).for_each(|_| assert!(laps.lap(|| queue.take_and_end())));
        },
    )
}

/// Measures [`in_and_out`] with `QUEUED` items.
pub(crate) fn backlogs((ours, other): (&impl Contestant, &impl Contestant)) -> (f64, f64) {
    let keys = keys(QUEUED);
    giving_duel(
        QUEUED,
        || keys.clone(),
        |keys| in_and_out(keys, ours),
        |keys| in_and_out(keys, other),
    )
}

fn queue() -> WorkQueue<Key> {
    WorkQueue::new(&System::new())
}

fn by_hand(part: &'static str, row: &'static str) -> Row {
    Row::new(part, row, one_by_one((&queue(), &ByHand::new()))).against("by hand").gate(0.95)
}

fn one_in_flight<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let times = one_by_one((&queue(), &Plain::<_, S>::default()));
    Row::new(part, row, times).goal(3.0 * lock_pair() + 20.0).gate(1.5)
}

fn onward<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    Row::new(part, row, one_then_next((&queue(), &Plain::<_, S>::default())))
}

fn backlog<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let times = backlogs((&queue(), &Plain::<_, S>::default()));
    let filled = bytes_per_item(|keys| {
        let queue = queue();
        keys.into_iter().for_each(|key| queue.add(key));
        queue
    });
    Row::new(part, row, times)
        .goal(80.0)
        .gate(2.0)
        .bytes(filled - size_of::<Key>() as f64)
        .most_bytes(37.0)
        .pause(longest_in_and_out(5, &keys(QUEUED), queue))
}

fn batches<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let (ours, plain, keys) = (queue(), Plain::<_, S>::default(), keys(QUEUED));
    let most = std::num::NonZeroUsize::MIN.saturating_add(63);
    let in_batches = |keys: Vec<Key>| {
        let mut keys = keys.into_iter();
        for _ in 0..QUEUED / most {
            ours.add_all(keys.by_ref().take(most.get()));
        }
        for _ in 0..QUEUED / most {
            ours.done_all(ours.take_batch(most).into_iter().map(|(token, _)| token));
        }
    };
    let one_by_one = |keys| in_and_out(keys, &plain);
    Row::new(part, row, giving_duel(QUEUED, || keys.clone(), in_batches, one_by_one))
}

fn many_threads<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    const ITEMS: usize = 1_000_000;
    let keys = keys(ITEMS);
    let ours = || four_by_four(&keys, &queue());
    let plain = || four_by_four(&keys, &Plain::<_, S>::default());
    Row::new(part, row, prepared_duel(ITEMS, ours, plain)).goal(per_item(6.0)).gate(2.0)
}

/// Measures four threads that add the items while four take and end them.
pub(crate) fn four_by_four(keys: &[Key], queue: &impl Contestant) -> Duration {
    let parts: Vec<_> = keys.chunks(keys.len().div_ceil(4)).map(<[Key]>::to_vec).collect();
    wall(|| {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| while queue.take_and_end() {});
            }
            let add = |part: Vec<Key>| part.into_iter().for_each(|key| queue.add(key));
            let producers: Vec<_> =
                parts.into_iter().map(|part| scope.spawn(move || add(part))).collect();
            for producer in producers {
                assert!(producer.join().is_ok(), "a producer panicked");
            }
            queue.shut_down();
        });
    })
}

const MANY: usize = 10_000_000;

/// For comparison with the next row, which has the gate.
fn ten_million<S: Hashing>(part: &'static str, row: &'static str) -> Row {
    let keys = keys(MANY);
    let in_and_out_of = |queue: &dyn Fn(Vec<Key>)| {
        let keys = keys.clone();
        timed(|| queue(keys))
    };
    let times = single_duel(
        MANY,
        || in_and_out_of(&|keys| in_and_out(keys, &queue())),
        || in_and_out_of(&|keys| in_and_out(keys, &Plain::<_, S>::default())),
    );
    let before = MEMORY.allocated();
    let queue = queue();
    in_and_out(keys.clone(), &queue);
    let kept = (MEMORY.allocated() - before) as f64 / MANY as f64;
    drop(queue);
    Row::new(part, row, times).bytes(kept).pause(longest_in_and_out(2, &keys, self::queue))
}

/// The same number of calls on a tenth of the keys: it shows a cost that grows with the keys.
fn linear(part: &'static str, row: &'static str) -> Row {
    let keys = keys(MANY);
    let in_parts = |count: usize| {
        let parts: Vec<_> = keys.chunks(count).map(<[Key]>::to_vec).collect();
        timed(|| parts.into_iter().for_each(|part| in_and_out(part, &queue())))
    };
    let times = single_duel(MANY, || in_parts(MANY), || in_parts(MANY / 10));
    Row::new(part, row, times).against("fewer keys").gate(0.5)
}
