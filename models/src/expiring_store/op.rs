//! Sequences of calls, and the property that the store agrees with a map of objects and times.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::fifo::Intake;
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::{Ambient, Instant, Manual};
use seatrial_core::store::expiring::ExpiringObjects;
use seatrial_core::store::{ExpiringStore, KeyHasher, LastState, TimeToLive};

use crate::objects::{Checked, Object, key_of};

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
    /// By so many nanoseconds.
    Advance(u8),
}

/// How long objects last, in nanoseconds.
const TIME: u64 = 20;

/// Runs calls on the machine that ships and on the map.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, |machine| Boxed(Box::new(Checked(machine))));
}

/// As [`check`], on a machine that `change` may have put in place of the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], change: impl FnOnce(Machine) -> Boxed<Machine>) {
    let clock = Manual::seeded(7);
    let expiry = TimeToLive(Some(Duration::from_nanos(TIME)));
    let machine = change(ExpiringObjects::new(Arc::new(expiry)));
    let intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    let store = ExpiringStore::with_host(&clock, intake, machine);
    let mut pair = Pair { clock, store, map: BTreeMap::new() };
    for op in ops {
        pair.step(op);
        let mut keys = pair.store.list_keys();
        keys.sort_unstable();
        assert!(keys.iter().eq(pair.map.keys()), "{keys:?} are listed, not {:?}", pair.map);
    }
}

/// The store and the map, led through the same calls.
struct Pair {
    clock: Manual,
    store: ExpiringStore<u8, Object, Manual, Boxed<Machine>>,
    /// What is stored, and since when.
    map: BTreeMap<u8, (Object, Instant)>,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        let now = self.clock.now();
        match op {
            Op::Add(object) => {
                let done = self.store.add(*object).is_ok();
                assert_eq!(done, object.0 != 0);
                if done {
                    self.map.insert(object.0, (*object, now));
                }
            }
            Op::Delete(object) => {
                assert_eq!(self.store.delete(*object).is_ok(), object.0 != 0);
                self.map.remove(&object.0);
            }
            Op::DeleteUnseen(key) => {
                let tombstone = LastState::unknown(*key, None);
                self.store.delete_last_state(&tombstone).expect("a tombstone has a key");
                self.map.remove(key);
            }
            Op::Replace(list) => {
                let done = self.store.replace(list.clone()).is_ok();
                assert_eq!(done, list.iter().all(|object| object.0 != 0));
                if done {
                    self.map = list.iter().map(|object| (object.0, (*object, now))).collect();
                }
            }
            Op::Get(key) => {
                let alive = |(_, at): &(Object, Instant)| now.since(*at).as_nanos() <= TIME.into();
                let expected = self.map.get(key).copied().filter(alive);
                if expected.is_none() {
                    self.map.remove(key);
                }
                assert_eq!(self.store.get(key), expected.map(|(object, _)| object));
            }
            Op::List => {
                self.map.retain(|_, (_, at)| now.since(*at).as_nanos() <= TIME.into());
                let mut listed = self.store.list();
                listed.sort_unstable();
                assert!(listed.iter().eq(self.map.values().map(|(object, _)| object)));
            }
            Op::Advance(nanos) => self.clock.advance(Duration::from_nanos((*nanos).into())),
        }
    }
}

/// Reads calls from the bytes of a fuzzer; every input means something.
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
