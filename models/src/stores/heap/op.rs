//! Sequences of calls, and the property that the heap agrees with the sequential object.

use std::sync::Arc;

use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;
use seatrial_core::store::heap::HeapQueue;
use seatrial_core::store::{HeapError, Intake, KeyHasher, KeyedHeap};

use super::PlainHeap;
use crate::events::fixtures::{Checked, Object, at_once, key_of};
use crate::single_step::each_call;

/// The machine that is compared. Its order is by version, then by key, so it is total.
pub type Machine = HeapQueue<u8, Object>;

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the heap")]
pub enum Op {
    Add(Object),
    AddIfAbsent(Object),
    BulkAdd(Vec<Object>),
    Delete(Object),
    Pop,
    Get(u8),
    Close,
}

/// The order: by version, then by key.
pub(super) fn rank(object: &Object) -> (u8, u8) {
    (object.1, object.0)
}

/// Makes the machine that ships.
pub(super) fn machine() -> Machine {
    HeapQueue::new(Arc::new(|one: &Object, other| rank(one) < rank(other)))
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
    let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    let heap = KeyedHeap::with_host(&System::new(), intake, change(machine()));
    let mut pair = Pair { heap, plain: PlainHeap::default() };
    for op in each_call(ops) {
        pair.step(op);
        pair.compare();
    }
}

/// The heap and the sequential object, given the same calls.
struct Pair {
    heap: KeyedHeap<u8, Object, System>,
    plain: PlainHeap,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        match op {
            Op::Add(object) => {
                assert_eq!(said(self.heap.add(*object)), self.adds(*object, true));
            }
            Op::AddIfAbsent(object) => {
                assert_eq!(said(self.heap.add_if_absent(*object)), self.adds(*object, false));
            }
            Op::BulkAdd(objects) => self.bulk_add(objects),
            Op::Delete(object) => {
                let got = self.heap.delete(object).map_err(|error| said(Err(error)));
                let error = if object.0 == 0 { "key" } else { "absent" };
                assert_eq!(got, self.plain.items.remove(&object.0).ok_or(error));
            }
            Op::Pop => {
                let got = at_once(self.heap.pop_async());
                let got = got.map(|popped| popped.map_err(|error| said(Err(error))));
                let end = self.plain.closed.then_some(Err("closed"));
                assert_eq!(got, self.plain.pop().map(Ok).or(end));
            }
            Op::Get(key) => assert_eq!(self.heap.get(key), self.plain.items.get(key).copied()),
            Op::Close => {
                self.heap.close();
                self.plain.closed = true;
            }
        }
    }

    /// Adds an object, perhaps in the place of another one, and says how that ends.
    fn adds(&mut self, object: Object, replaces: bool) -> &'static str {
        if object.0 == 0 {
            return "key";
        }
        if self.plain.closed {
            return "closed";
        }
        if replaces || !self.plain.items.contains_key(&object.0) {
            self.plain.put(object);
        }
        "ok"
    }

    fn bulk_add(&mut self, objects: &[Object]) {
        let got = said(self.heap.bulk_add(objects.to_vec()));
        let ends = objects.iter().map(|object| self.adds(*object, true)).find(|end| *end != "ok");
        let closed = self.plain.closed.then_some("closed");
        assert_eq!(got, closed.or(ends).unwrap_or("ok"));
    }

    fn compare(&self) {
        let mut listed = self.heap.list();
        listed.sort_unstable();
        assert_eq!(listed, Vec::from_iter(self.plain.items.clone()));
        assert_eq!(self.heap.len(), listed.len());
        assert_eq!(self.heap.is_closed(), self.plain.closed);
    }
}

fn said(result: Result<(), HeapError>) -> &'static str {
    match result {
        Ok(()) => "ok",
        Err(HeapError::Key(_)) => "key",
        Err(HeapError::Closed) => "closed",
        Err(HeapError::NotFound) => "absent",
        Err(_) => "another error",
    }
}

/// Reads calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_op(&mut bytes)).collect()
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || Some((bytes.next()? % 24, bytes.next()?));
    Some(match code % 16 {
        0..6 => Op::Add(object()?),
        6 => Op::AddIfAbsent(object()?),
        7 => Op::BulkAdd((0..code >> 5).map_while(|_| object()).collect()),
        8..11 => Op::Delete(object()?),
        11..14 => Op::Pop,
        14 => Op::Get(bytes.next()? % 24),
        _ if code < 240 => Op::Pop,
        _ => Op::Close,
    })
}
