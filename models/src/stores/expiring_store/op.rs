//! Sequences of calls, and the property that the store agrees with the sequential object.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::machine::Boxed;
use seatrial_core::runtime::{Ambient, Manual};
use seatrial_core::store::expiring::ExpiringObjects;
use seatrial_core::store::{ExpiringStore, Intake, KeyHasher, LastState, TimeToLive};

use super::{PlainTimes, TIME_TO_LIVE};
use crate::events::fixtures::{Checked, Object, key_of};
use crate::single_step::each_call;

/// The machine that is compared.
pub type Machine = ExpiringObjects<u8, Object>;

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the store")]
pub enum Op {
    Add(Object),
    Delete(Object),
    DeleteUnseen(u8),
    Replace(Vec<Object>),
    Get(u8),
    List,
    /// Lets this many milliseconds pass.
    Advance(u8),
}

/// Makes the machine that ships.
pub(super) fn machine(time: Duration) -> Machine {
    ExpiringObjects::new(Arc::new(TimeToLive(Some(time))))
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
    let clock = Manual::seeded(7);
    let machine = change(machine(TIME_TO_LIVE));
    let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    let store = ExpiringStore::with_host(&clock, intake, machine);
    let mut pair = Pair { clock, store, plain: PlainTimes::default() };
    for op in each_call(ops) {
        pair.step(op);
        let mut keys = pair.store.list_keys();
        keys.sort_unstable();
        assert_eq!(keys, pair.plain.keys(), "the keys that are listed");
    }
}

/// The store and the sequential object, given the same calls.
struct Pair {
    clock: Manual,
    store: ExpiringStore<u8, Object, Manual>,
    plain: PlainTimes,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        let now = self.clock.now();
        match op {
            Op::Add(object) => {
                let done = self.store.add(*object).is_ok();
                assert_eq!(done, object.0 != 0);
                if done {
                    self.plain.put(*object, now);
                }
            }
            Op::Delete(object) => {
                assert_eq!(self.store.delete(*object).is_ok(), object.0 != 0);
                self.plain.items.remove(&object.0);
            }
            Op::DeleteUnseen(key) => {
                let tombstone = LastState::unknown(*key, None);
                self.store.delete_last_state(&tombstone).expect("a tombstone has a key");
                self.plain.items.remove(key);
            }
            Op::Replace(list) => {
                let done = self.store.replace(list.clone()).is_ok();
                assert_eq!(done, list.iter().all(|object| object.0 != 0));
                if done {
                    self.plain.replace(list, now);
                }
            }
            Op::Get(key) => assert_eq!(self.store.get(key), self.plain.get(*key, now)),
            Op::List => {
                let mut listed = self.store.list();
                listed.sort_unstable();
                assert_eq!(listed, self.plain.list(now));
            }
            Op::Advance(millis) => self.clock.advance(Duration::from_millis((*millis).into())),
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
    let mut object = || Some((bytes.next()? % 6, bytes.next()?));
    Some(match code % 8 {
        0 | 1 => Op::Add(object()?),
        2 if code < 192 => Op::Delete(object()?),
        2 => Op::DeleteUnseen(bytes.next()? % 6),
        3 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        4 | 5 => Op::Get(bytes.next()? % 6),
        6 if code < 96 => Op::List,
        _ => Op::Advance(bytes.next()? % 24),
    })
}
