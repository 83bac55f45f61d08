//! Sequences of calls, and the property that the cache agrees with the sequential object.

use std::time::Duration;

use seatrial_core::runtime::{Ambient, Manual};

use super::book::{Answer, Call, Named};
use super::reference::Model;
use super::stage::Ships;
use crate::single_step::each_call;
use crate::stores::fixtures::Sequential as _;

/// One more than the cache remembers.
const KEYS: u8 = 3;

/// A call, or time that passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// A call.
    Call(Call),
    /// This many milliseconds pass.
    Advance(u8),
}

/// Runs calls on the cache that ships and on the sequential object, with the objects that the store
/// does not have yet and without them.
///
/// # Panics
/// If the two disagree.
pub fn check(ops: &[Op]) {
    for include_adds in [true, false] {
        let clock = Manual::seeded(7);
        let ships = Ships::new(&clock, include_adds);
        compare(ops, &clock, include_adds, |call| ships.call(call));
    }
}

/// As [`check`] of the calls in these bytes, on a sequential object with a mistake instead of the cache
/// that ships.
pub(crate) fn check_mistaken(bytes: &[u8], mistake: &'static str) {
    let ops = &decode(bytes);
    for include_adds in [true, false] {
        let clock = Manual::seeded(7);
        let mut mistaken = Model::new(include_adds, mistake);
        compare(ops, &clock, include_adds, |call| mistaken.answer(call, clock.now()));
    }
}

fn compare(
    ops: &[Op],
    clock: &Manual,
    include_adds: bool,
    mut answer: impl FnMut(&Call) -> Answer,
) {
    let mut model = Model::new(include_adds, "");
    for op in each_call(ops) {
        match op {
            Op::Call(call) => {
                assert_eq!(answer(call), model.answer(call, clock.now()), "{call:?}");
            }
            Op::Advance(millis) => clock.advance(Duration::from_millis((*millis).into())),
        }
    }
}

/// Reads calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_op(&mut bytes)).collect()
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || {
        let (who, version) = (bytes.next()?, bytes.next()? % 10);
        Some(Named { key: who % KEYS, uid: who >> 7, version })
    };
    Some(Op::Call(match code % 16 {
        0..2 => Call::Store(object()?),
        2 => Call::Unstore(bytes.next()? % KEYS),
        3..6 => Call::Wrote(object()?),
        6 => Call::Seen(object()?),
        7 if code >> 7 == 0 => Call::Seen(object()?),
        7 => Call::Lost(bytes.next()? % KEYS),
        8 | 9 => Call::Gone(object()?),
        10 => return Some(Op::Advance(bytes.next()? % 24)),
        11 => Call::List(code >> 7),
        _ => Call::Get((code >> 4) % KEYS),
    }))
}
