//! The work queue.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use parking_lot::{Condvar, Mutex};
use seatrial_core::machine::{Cx, Operation as _, Step};
use seatrial_core::queue::{Add, Done, GETTERS, Get, Queue, Token, WorkQueue};
use seatrial_core::runtime::System;

use crate::Row;
use crate::measure::{Key, bytes_per_item, duel, keys};
use crate::plain::Plain;

/// The rules that ship, with a lock and a condition variable around them by hand.
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

pub(crate) const ROWS: &[fn() -> Row] =
    &[one_in_flight_by_hand, one_in_flight, backlog, many_threads];

const OPERATIONS: usize = 200_000;

fn one_in_flight_by_hand() -> Row {
    let (ours, other) = (WorkQueue::<Key>::new(&System::new()), ByHand::new());
    let keys = keys(1_000);
    let (ours_ns, plain_ns) = duel(
        OPERATIONS,
        || {
            for key in keys.iter().cycle().take(OPERATIONS) {
                ours.add(key.clone());
                if let Some((token, _)) = ours.take() {
                    ours.done(token);
                }
            }
        },
        || {
            for key in keys.iter().cycle().take(OPERATIONS) {
                other.add(key.clone());
                if let Some((token, _)) = other.take() {
                    other.done(token);
                }
            }
        },
    );
    Row {
        part: "queue",
        row: "add+get+done, one in flight",
        ours_ns,
        against: "by hand",
        plain_ns,
        bytes_per_item: None,
        gate: Some(0.95),
    }
}

fn one_in_flight() -> Row {
    let (ours, plain) = (WorkQueue::<Key>::new(&System::new()), Plain::default());
    let keys = keys(1_000);
    let (ours_ns, plain_ns) = duel(
        OPERATIONS,
        || {
            for key in keys.iter().cycle().take(OPERATIONS) {
                ours.add(key.clone());
                if let Some((token, _)) = ours.take() {
                    ours.done(token);
                }
            }
        },
        || {
            for key in keys.iter().cycle().take(OPERATIONS) {
                plain.add(key.clone());
                if let Some(key) = plain.get() {
                    plain.done(&key);
                }
            }
        },
    );
    Row {
        part: "queue",
        row: "add+get+done, one in flight",
        ours_ns,
        against: "plain",
        plain_ns,
        bytes_per_item: None,
        gate: Some(1.5),
    }
}

fn backlog() -> Row {
    const QUEUED: usize = 65_536;
    let (ours, plain) = (WorkQueue::<Key>::new(&System::new()), Plain::default());
    let keys = keys(QUEUED);
    let (ours_ns, plain_ns) = duel(
        QUEUED,
        || {
            keys.iter().for_each(|key| ours.add(key.clone()));
            for _ in 0..QUEUED {
                if let Some((token, _)) = ours.take() {
                    ours.done(token);
                }
            }
        },
        || {
            keys.iter().for_each(|key| plain.add(key.clone()));
            for _ in 0..QUEUED {
                if let Some(key) = plain.get() {
                    plain.done(&key);
                }
            }
        },
    );
    let filled = bytes_per_item(|keys| {
        let queue = WorkQueue::<Key>::new(&System::new());
        keys.iter().for_each(|key| queue.add(key.clone()));
        queue
    });
    Row {
        part: "queue",
        row: "64k queued, distinct keys",
        ours_ns,
        against: "plain",
        plain_ns,
        bytes_per_item: Some(filled - size_of::<Key>() as f64),
        gate: Some(2.0),
    }
}

fn many_threads() -> Row {
    const ITEMS: usize = 200_000;
    let keys = keys(ITEMS);
    let (ours_ns, plain_ns) = duel(
        ITEMS,
        || {
            let queue = WorkQueue::<Key>::new(&System::new());
            four_by_four(
                &keys,
                |key| queue.add(key),
                || queue.shut_down(),
                || {
                    while let Some((token, _)) = queue.take() {
                        queue.done(token);
                    }
                },
            );
        },
        || {
            let queue = Plain::default();
            four_by_four(
                &keys,
                |key| queue.add(key),
                || queue.shut_down(),
                || {
                    while let Some(key) = queue.get() {
                        queue.done(&key);
                    }
                },
            );
        },
    );
    Row {
        part: "queue",
        row: "4 producers, 4 consumers",
        ours_ns,
        against: "plain",
        plain_ns,
        bytes_per_item: None,
        gate: Some(2.0),
    }
}

fn four_by_four(
    keys: &[Key],
    add: impl Fn(Key) + Sync,
    shut_down: impl Fn(),
    consume: impl Fn() + Sync,
) {
    let (add, consume) = (&add, &consume);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(consume);
        }
        let producers: Vec<_> = keys
            .chunks(keys.len().div_ceil(4))
            .map(|part| scope.spawn(move || part.iter().for_each(|key| add(key.clone()))))
            .collect();
        for producer in producers {
            if producer.join().is_err() {
                panic!("a producer panicked");
            }
        }
        shut_down();
    });
}
