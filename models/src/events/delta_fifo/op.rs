//! Sequences of calls, and the property that the queue agrees with the sequential object.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::delta_fifo::{self, Delta, DeltaFifo, DeltaQueue, Deltas, Ret, Verb};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::System;
use seatrial_core::store::{Intake, KeyHasher, LastState};

use super::Spec;
use crate::events::fixtures::{
    Checked, Fate, Object, Store, assert_pops_nothing, assert_says, at_once, expected, key_of,
    said, transform,
};
use crate::single_step::each_call;

/// The machine that is compared.
pub type Machine = DeltaQueue<u8, Object, Store<u8, Object>>;
type Change = Delta<u8, Object>;
type Queue = DeltaFifo<u8, Object, Store<u8, Object>, System, Boxed<Machine>>;

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the calls of the queue")]
pub enum Op {
    Add(Object),
    Update(Object),
    Delete(Object),
    DeleteUnseen(u8, Option<Object>),
    Replace(Vec<Object>),
    Resync,
    Pop,
    PopAndFail,
    PopAndPanic,
    PopAndRequeue,
    /// Adds back what was popped last.
    AddIfAbsent,
    Get(u8),
    Close,
}

/// How the queue is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// With the consumer's store.
    pub known: bool,
    /// With a store that cannot be read.
    pub unreadable: bool,
    /// Lists told apart from resyncs.
    pub emit_replaced: bool,
    /// With a transformer.
    pub transform: bool,
}

/// Runs calls on the machine that ships and on the sequential object.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(setup: Setup, ops: &[Op]) {
    check_on(setup, ops, |known| {
        let machine = DeltaQueue::new(KeyHasher::fixed(7), known, setup.emit_replaced);
        Boxed(Box::new(Checked(machine)))
    });
}

/// As [`check`], on a machine made by `make`, which gets the consumer's store.
///
/// # Panics
/// As [`check`].
pub fn check_on(
    setup: Setup,
    ops: &[Op],
    make: impl FnOnce(Option<Store<u8, Object>>) -> Boxed<Machine>,
) {
    let store = if setup.unreadable { Store::default().unreadable() } else { Store::default() };
    let mut intake = Intake::with_hasher(KeyHasher::fixed(7), key_of);
    if setup.transform {
        intake = intake.with_transform(transform);
    }
    let host = make(setup.known.then(|| store.clone()));
    let mut pair = Pair {
        queue: DeltaFifo::with_host(&System::new(), intake, None, host),
        spec: Spec {
            readable: !setup.unreadable,
            ..Spec::new(setup.known.then(BTreeMap::new), setup.emit_replaced)
        },
        store,
        setup,
        closed: false,
        last: None,
    };
    for op in each_call(ops) {
        pair.step(op);
        pair.compare();
    }
}

/// The queue and the sequential object, given the same calls.
struct Pair {
    queue: Queue,
    spec: Spec<u8, Object>,
    store: Store<u8, Object>,
    setup: Setup,
    closed: bool,
    last: Option<(u8, Vec<Change>)>,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        match op {
            Op::Add(object) => self.put(Verb::Add, *object),
            Op::Update(object) => self.put(Verb::Update, *object),
            Op::Delete(object) => self.delete(LastState::Final(*object)),
            Op::DeleteUnseen(key, object) => self.delete(LastState::unknown(*key, *object)),
            Op::Replace(list) => self.replace(list),
            Op::Resync => {
                self.queue.resync();
                self.spec.resync();
            }
            Op::Pop => self.pop(Fate::Processed),
            Op::PopAndFail => self.pop(Fate::Failed),
            Op::PopAndPanic => self.pop(Fate::Panicked),
            Op::PopAndRequeue => self.pop(Fate::Requeued),
            Op::AddIfAbsent => self.add_back(),
            Op::Get(key) => {
                let pending = self.spec.pending.iter().find(|(pending, _)| pending == key);
                let expected = pending.map(|(_, deltas)| deltas.clone());
                assert_eq!(self.queue.get(key).map(|deltas| deltas.to_vec()), expected);
            }
            Op::Close => {
                self.queue.close();
                self.closed = true;
            }
        }
    }

    /// The object as the transformer leaves it.
    fn taken(&self, object: Object) -> Option<Object> {
        if self.setup.transform { transform(object).ok() } else { Some(object) }
    }

    fn put(&mut self, verb: Verb, object: Object) {
        let done = match verb {
            Verb::Add => self.queue.add(object),
            Verb::Update => self.queue.update(object),
        };
        let show = if verb == Verb::Add { Delta::Added } else { Delta::Updated };
        let has_key = object.0 != 0;
        let taken = self.taken(object).filter(|_| has_key);
        assert_eq!(said(&done), expected(has_key, taken.is_some()));
        self.spec.put(taken.map(|taken| (object.0, show(taken))));
    }

    fn delete(&mut self, last: LastState<u8, Object>) {
        let done = self.queue.delete_last_state(last.clone());
        let (key, taken) = match last {
            LastState::Final(object) => (object.0, self.taken(object).map(LastState::Final)),
            LastState::Tombstone(tombstone) => {
                (tombstone.key, Some(LastState::Tombstone(tombstone)))
            }
        };
        let has_key = key != 0 || matches!(&taken, Some(LastState::Tombstone(_)));
        if !has_key {
            return assert_eq!(said(&done), expected(false, true), "and it is no write");
        }
        let exists = self.spec.delete(key, taken.clone());
        assert_eq!(said(&done), expected(true, taken.is_some() || !exists));
    }

    fn replace(&mut self, list: &[Object]) {
        let done = self.queue.replace(list.to_vec());
        let mut taken = vec![];
        let mut end = expected(true, true);
        for object in list {
            let has_key = object.0 != 0;
            match self.taken(*object).filter(|_| has_key) {
                Some(object) => taken.push((object.0, object)),
                None => {
                    end = expected(has_key, false);
                    break;
                }
            }
        }
        assert_eq!(said(&done), end);
        self.spec.replace(&taken, end != expected(true, true));
    }

    fn pop(&mut self, fate: Fate) {
        if self.spec.pending.is_empty() {
            return assert_pops_nothing(&self.queue, self.closed);
        }
        let (key, deltas, initial) = self.spec.pop().expect("something is pending");
        let mut seen = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            at_once(self.queue.pop_or_requeue_async(|popped| {
                seen = Some(popped.clone());
                if fate == Fate::Processed {
                    self.store.apply(&popped.key, &popped.deltas);
                }
                fate.end()
            }))
        }));
        assert_eq!(outcome.is_err(), fate == Fate::Panicked);
        let seen = seen.expect("process was called");
        assert_eq!((seen.key, seen.deltas.to_vec(), seen.initial), (key, deltas.clone(), initial));
        assert_eq!(seen.left, self.spec.pending.len());
        self.spec.processed(&key, &deltas, fate == Fate::Processed);
        if fate == Fate::Requeued {
            self.spec.add_if_absent(key, deltas.clone());
        }
        self.last = Some((key, deltas));
    }

    fn add_back(&mut self) {
        let Some((key, deltas)) = self.last.clone() else {
            assert!(self.queue.add_if_absent(Deltas::new()).is_err(), "there is no key");
            return;
        };
        // The key of a list of changes comes from its newest object, and there may be none.
        let back = self.queue.add_if_absent(deltas.iter().cloned().collect());
        assert!(back.is_ok(), "{key}: what was queued once has a key");
        self.spec.add_if_absent(key, deltas);
    }

    fn compare(&self) {
        let listed: Vec<_> =
            self.queue.list().into_iter().map(|(key, deltas)| (key, deltas.to_vec())).collect();
        assert_eq!(listed, self.spec.pending);
        let (len, synced) = (self.spec.pending.len(), self.spec.has_synced());
        assert_says(&self.queue, len, synced, self.closed);
        if let Some(known) = &self.spec.known {
            assert_eq!(*self.store.objects(), *known);
        }
    }
}

/// Reads a setup and calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> (Setup, Vec<Op>) {
    let mut bytes = bytes.iter().copied();
    let first = bytes.next().unwrap_or(0);
    let setup = Setup {
        known: first & 1 != 0,
        emit_replaced: first & 2 != 0,
        transform: first & 4 != 0,
        unreadable: first & 0x38 == 0x38,
    };
    (setup, std::iter::from_fn(|| decode_op(&mut bytes)).collect())
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || Some((bytes.next()? % 6, bytes.next()? % 16));
    Some(match code % 16 {
        0 | 1 => Op::Add(object()?),
        2 | 3 => Op::Update(object()?),
        4 | 5 => Op::Delete(object()?),
        6 => {
            let (key, version) = object()?;
            Op::DeleteUnseen(key, (version > 3).then_some((key, version)))
        }
        7 | 8 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        9 => Op::Resync,
        10 | 11 => Op::Pop,
        12 => Op::PopAndFail,
        13 if code < 128 => Op::PopAndPanic,
        13 => Op::PopAndRequeue,
        14 => Op::Get(bytes.next()? % 6),
        _ if code < 240 => Op::AddIfAbsent,
        _ => Op::Close,
    })
}

/// The calls of the machine, for code that wraps it.
pub type MachineOp = delta_fifo::Op<u8, Object>;
/// Their results.
pub type MachineRet = Ret<u8, Object>;
