//! Sequences of calls, and the property that the queue agrees with the sequential object.

use super::Queue;
use super::many::check_many;
use super::pair::Pair;
use crate::single_step::each_call;
use crate::trial::{Alone, Component, MachineOf};

/// A call, or something that happens to a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Adds an item.
    Add(u8),
    /// Takes an item, sleeping if there is none.
    Get,
    /// Adds the first item and this many more; each key is two above the one before, modulo the
    /// number of keys.
    AddAll(u8, u8),
    /// Takes up to this many items, and sleeps if there is none; zero counts as one.
    GetBatch(u8),
    /// Ends one of the deliveries under way; the number is taken modulo their count.
    Done(u8),
    /// Ends this many open deliveries, the oldest first, and one that has ended before.
    DoneAll(u8),
    /// Ends a delivery that has ended before.
    DoneAgain(u8),
    /// Ends a delivery by a made-up token: its slot, its delivery.
    DoneForeign(u8, u8),
    /// Ends the delivery of an item.
    DoneKey(u8),
    /// Shuts down.
    ShutDown,
    /// Drains until nothing is in flight.
    Drain,
    /// Drains until all work is done.
    StrictDrain,
    /// Lets one of the woken callers go on.
    Resume(u8),
    /// Lets one of the waiting callers give up, woken or not.
    GiveUp(u8),
}

/// Runs calls on the machine that ships and on the sequential object.
///
/// # Panics
/// If the two disagree, a caller sleeps although it could go on, or the machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, Queue::machine());
}

/// As [`check`], on another machine.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], machine: MachineOf<Queue>) {
    let (alone, recorded) = Alone::<Queue>::with(machine);
    let mut pair = Pair::new(Box::new(recorded));
    for op in each_call(ops) {
        pair.apply(*op);
        pair.compare();
    }
    alone.tells_what_is_so();
}

/// As [`check`], for fuzzers.
///
/// # Panics
/// As [`check`].
pub fn check_bytes(bytes: &[u8]) {
    check(&decode(bytes));
    check_many(bytes);
}

/// Reads calls from bytes, one each; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut shutting_down = false;
    let mut next = |byte: &u8| {
        let op = decode_op(byte & 15, byte >> 4, shutting_down);
        shutting_down |= matches!(op, Op::ShutDown | Op::Drain | Op::StrictDrain);
        op
    };
    bytes.iter().map(&mut next).collect()
}

const ENDS: [Op; 3] = [Op::ShutDown, Op::Drain, Op::StrictDrain];

/// Shutdown ends most other possibilities, so it comes late. From then on it replaces most adds,
/// which have no effect any more.
fn decode_op(kind: u8, number: u8, shutting_down: bool) -> Op {
    match (kind, shutting_down) {
        (0..=2, true) if number < 12 => ENDS[usize::from(kind)],
        (3, _) => Op::AddAll(number % 5, number / 5 + 1),
        (0..=2, _) => Op::Add(number % 5),
        (6, _) => Op::GetBatch(number % 4),
        (4..=5, _) => Op::Get,
        (9, _) => Op::DoneAll(number % 4),
        (7..=8, _) => Op::Done(number),
        (10, _) => Op::DoneAgain(number),
        (11, _) => Op::DoneKey(number % 5),
        (12, _) => Op::DoneForeign(number / 4, number % 4),
        (15, false) if number < 5 => ENDS[usize::from(number) % 3],
        (13, _) => Op::GiveUp(number),
        _ => Op::Resume(number),
    }
}
