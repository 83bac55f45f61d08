//! Sequences of calls, and the property that the queue agrees with the sequential object.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::fifo::{self, Fifo, FifoQueue, Ret};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;
use seatrial_core::store::{Intake, KeyHasher, LastState};

use super::Spec;
use crate::events::fixtures::{
    Checked, Fate, Object, assert_pops_nothing, assert_says, at_once, key_of,
};
use crate::single_step::each_call;

/// The machine that is compared.
pub type Machine = FifoQueue<u8, Object>;
/// Its calls, for code that wraps it.
pub type MachineOp = fifo::Op<u8, Object>;
/// Its results.
pub type MachineRet = Ret<u8, Object>;

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the queue")]
pub enum Op {
    Add(Object),
    Delete(Object),
    DeleteUnseen(u8),
    Replace(Vec<Object>),
    Resync,
    Pop,
    PopAndPanic,
    PopAndRequeue,
    AddIfAbsent(Object),
    Get(u8),
    Close,
}

/// Runs calls on the machine that ships and on the sequential object.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, |machine| Boxed(Box::new(Checked(machine))));
}

/// As [`check`], on the machine that `change` returns for the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], change: impl FnOnce(Machine) -> Boxed<Machine>) {
    let hasher = KeyHasher::fixed(7);
    let machine = FifoQueue::new(hasher.clone());
    let intake = Intake::with_hasher(hasher, key_of);
    let queue = Fifo::with_host(&System::new(), intake, None, change(machine));
    let mut pair = Pair { queue, spec: Spec::new(), closed: false };
    for op in each_call(ops) {
        pair.step(op);
        pair.compare();
    }
}

/// The queue and the sequential object, given the same calls.
struct Pair {
    queue: Fifo<u8, Object, System, Boxed<Machine>>,
    spec: Spec<u8, Object>,
    closed: bool,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        match op {
            Op::Add(object) => {
                if self.accepted(&self.queue.add(*object), object.0) {
                    self.spec.put(object.0, *object);
                }
            }
            Op::Delete(object) => {
                if self.accepted(&self.queue.delete(*object), object.0) {
                    self.spec.delete(&object.0);
                }
            }
            Op::DeleteUnseen(key) => {
                let tombstone = LastState::unknown(*key, None);
                self.queue.delete_last_state(&tombstone).expect("a tombstone has a key");
                self.spec.delete(key);
            }
            Op::Replace(list) => {
                let done = self.queue.replace(list.clone());
                assert_eq!(done.is_ok(), list.iter().all(|object| object.0 != 0));
                if done.is_ok() {
                    self.spec.replace(list.iter().map(|object| (object.0, *object)));
                }
            }
            Op::Resync => self.queue.resync(),
            Op::Pop => self.pop(Fate::Processed),
            Op::PopAndPanic => self.pop(Fate::Panicked),
            Op::PopAndRequeue => self.pop(Fate::Requeued),
            Op::AddIfAbsent(object) => {
                if self.accepted(&self.queue.add_if_absent(*object), object.0) {
                    self.spec.add_if_absent(object.0, *object);
                }
            }
            Op::Get(key) => assert_eq!(self.queue.get(key), self.spec.items.get(key).copied()),
            Op::Close => {
                self.queue.close();
                self.closed = true;
            }
        }
    }

    fn accepted<E>(&self, done: &Result<(), E>, key: u8) -> bool {
        assert_eq!(done.is_ok(), key != 0, "key 0 is refused and no other");
        done.is_ok()
    }

    fn pop(&mut self, fate: Fate) {
        let expected = self.spec.pop();
        if expected.is_none() {
            return assert_pops_nothing(&self.queue, self.closed);
        }
        let mut seen = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            at_once(self.queue.pop_or_requeue_async(|popped| {
                seen = Some(popped.clone());
                fate.end()
            }))
        }));
        assert_eq!(outcome.is_err(), fate == Fate::Panicked);
        let got = seen.as_ref().map(|popped| (popped.key, popped.object, popped.initial));
        assert_eq!(got, expected.as_ref().map(|taken| (taken.key, taken.object, taken.initial)));
        let Some(taken) = expected else { return };
        assert_eq!(seen.map(|popped| popped.left), Some(self.spec.items.len()));
        self.spec.processed();
        if fate == Fate::Requeued {
            self.spec.add_if_absent(taken.key, taken.object);
        }
    }

    fn compare(&self) {
        assert_eq!(self.queue.list(), self.spec.waiting());
        let (len, synced) = (self.spec.items.len(), self.spec.has_synced());
        assert_says(&self.queue, len, synced, self.closed);
    }
}

/// Reads calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_op(&mut bytes)).collect()
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || Some((bytes.next()? % 5, bytes.next()? % 16));
    Some(match code % 16 {
        0..4 => Op::Add(object()?),
        4..7 => Op::Delete(object()?),
        7 => Op::DeleteUnseen(bytes.next()? % 5),
        8 | 9 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        10 => Op::Resync,
        11 | 12 => Op::Pop,
        13 if code < 128 => Op::PopAndPanic,
        13 => Op::PopAndRequeue,
        14 if code < 128 => Op::AddIfAbsent(object()?),
        14 => Op::Get(bytes.next()? % 5),
        _ if code < 224 => Op::Pop,
        _ => Op::Close,
    })
}
