//! Sequences of calls, and the property that the queue agrees with the sequential object.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use seatrial_core::delta_fifo::Delta;
use seatrial_core::machine::Boxed;
use seatrial_core::ordered_fifo::{
    self, Batch, Event, Mode, OrderedFifo, OrderedQueue, Popped, Ret,
};
use seatrial_core::runtime::System;
use seatrial_core::store::{EnqueueError, Intake, KeyHasher, LastState};

use super::Spec;
use crate::events::fixtures::{
    Checked, Object, Store, assert_says, at_once, expected, key_of, said,
};
use crate::single_step::each_call;

/// The machine that is compared.
pub type Machine = OrderedQueue<u8, Object, Store<u8, Object>>;
/// Its calls, for code that wraps it.
pub type MachineOp = ordered_fifo::Op<u8, Object>;
/// Its results.
pub type MachineRet = Ret<u8, Object>;

type Change = Delta<u8, Object>;
type Happened = Event<u8, Object>;

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
    /// The consumer stores an object without a key under this one, in plain mode.
    Spoil(u8),
    Bookmark,
    Pop,
    PopAndPanic,
    PopBatch,
    /// Writes while the events are processed, if the lock is released.
    PopAndWrite(Object),
    /// Lists while the events are processed, if the lock is released.
    PopAndReplace,
    Close,
}

/// How the queue is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Lists as one event.
    pub atomic: bool,
    /// With the lock released while events are processed, in atomic mode.
    pub unlock: bool,
    /// Bookmarks as events, in atomic mode.
    pub emit_bookmarks: bool,
    /// With a transformer.
    pub transform: bool,
    /// The largest number of events in a batch.
    pub batch_size: NonZeroUsize,
}

impl Setup {
    /// Makes the intake, without its transformer.
    pub(super) fn intake(&self) -> Intake<u8, Object> {
        Intake::with_hasher(KeyHasher::fixed(7), key_of)
    }
}

/// The transformer: as [`crate::events::fixtures::transform`], and version 14 loses its key.
fn transform(object: Object) -> Result<Object, seatrial_core::store::Cause> {
    if object.1 == 14 { Ok((0, 14)) } else { crate::events::fixtures::transform(object) }
}

/// Runs calls on the machine that ships and on the sequential object.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(setup: Setup, ops: &[Op]) {
    check_on(setup, ops, |machine| Boxed(Box::new(Checked(machine))));
}

/// As [`check`], on the machine that `change` returns for the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(setup: Setup, ops: &[Op], change: impl FnOnce(Machine) -> Boxed<Machine>) {
    let store = Store::default();
    let mut intake = setup.intake();
    if setup.transform {
        intake = intake.with_transform(transform);
    }
    let mode = if setup.atomic {
        let unlock_while_processing = setup.unlock;
        Mode::Atomic { unlock_while_processing, emit_bookmarks: setup.emit_bookmarks }
    } else {
        Mode::Plain { known: store.clone() }
    };
    let batch_size = setup.batch_size.get();
    let machine = change(OrderedQueue::new(intake.clone(), mode, batch_size));
    let known = (!setup.atomic).then(BTreeMap::new);
    let mut pair = Pair {
        queue: OrderedFifo::with_host(&System::new(), intake, setup.atomic, None, machine),
        spec: Spec::new(known, setup.emit_bookmarks, batch_size),
        store,
        setup,
        closed: false,
    };
    for op in each_call(ops) {
        pair.step(op);
        pair.compare();
    }
}

/// The queue and the sequential object, given the same calls.
struct Pair {
    queue: OrderedFifo<u8, Object, Store<u8, Object>, System, Boxed<Machine>>,
    spec: Spec,
    store: Store<u8, Object>,
    setup: Setup,
    closed: bool,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        match op {
            Op::Add(object) => {
                let done = self.queue.add(*object);
                self.put(&done, *object, Delta::Added);
            }
            Op::Update(object) => {
                let done = self.queue.update(*object);
                self.put(&done, *object, Delta::Updated);
            }
            Op::Delete(object) => {
                let done = self.queue.delete(*object);
                self.put(&done, *object, |object| Delta::Deleted(LastState::Final(object)));
            }
            Op::DeleteUnseen(key, object) => {
                let tombstone = LastState::unknown(*key, *object);
                self.queue.delete_last_state(tombstone.clone()).expect("never refused");
                self.spec.put(Some(Delta::Deleted(tombstone)));
            }
            Op::Replace(list) => self.replace(list),
            Op::Resync => self.resync(),
            Op::Spoil(key) => {
                if let Some(known) = &mut self.spec.known {
                    self.store.objects().insert(*key, (0, 1));
                    known.insert(*key, (0, 1));
                }
            }
            Op::Bookmark => {
                self.queue.bookmark("8");
                self.spec.bookmark("8");
            }
            Op::Pop => self.pop(false, &Meanwhile::Nothing),
            Op::PopAndPanic => self.pop(false, &Meanwhile::Panic),
            Op::PopBatch => self.pop(true, &Meanwhile::Nothing),
            Op::PopAndWrite(object) => self.pop(true, &Meanwhile::Add(*object)),
            Op::PopAndReplace => self.pop(true, &Meanwhile::Replace),
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

    fn put(
        &mut self,
        done: &Result<(), EnqueueError>,
        object: Object,
        show: impl Fn(Object) -> Change,
    ) {
        let has_key = object.0 != 0;
        let taken = self.taken(object).filter(|_| has_key);
        assert_eq!(said(done), expected(has_key, taken.is_some()));
        self.spec.put(taken.map(show));
    }

    fn replace(&mut self, list: &[Object]) {
        let done = self.queue.replace(list.to_vec(), "9");
        let have_keys = self.setup.atomic || list.iter().all(|object| object.0 != 0);
        let accepted: Vec<_> = list.iter().map_while(|object| self.taken(*object)).collect();
        let all = accepted.len() == list.len();
        assert_eq!(said(&done), expected(have_keys, all));
        if have_keys && (all || !self.setup.atomic) {
            let listed: Vec<u8> = list.iter().map(|object| object.0).collect();
            self.spec.replace(&listed, &accepted, !all, "9");
        }
    }

    fn resync(&mut self) {
        let done = self.queue.resync();
        assert_eq!(said(&done), expected(self.spec.resync(), true));
    }

    fn pop(&mut self, batched: bool, meanwhile: &Meanwhile) {
        if self.spec.events.is_empty() {
            let popped = at_once(self.queue.pop_async(|_| ())).map(|popped| popped.is_err());
            let batch = at_once(self.queue.pop_batch_async(|_| ())).map(|batch| batch.is_err());
            let end = self.closed.then_some(true);
            return assert_eq!((popped, batch), (end, end), "nothing is left");
        }
        let (events, initial) = self.spec.pop(batched);
        let left = self.spec.events.len();
        let unlocked =
            self.setup.atomic && self.setup.unlock && left < 2 * self.setup.batch_size.get();
        let panics = matches!(meanwhile, Meanwhile::Panic);
        let synced = self.spec.has_synced();
        let mut seen = None;
        let mut process = |events: &[Happened], initial, left| {
            seen = Some((events.to_vec(), initial, left));
            if unlocked {
                let now = (self.queue.len(), self.queue.has_synced());
                assert_eq!(now, (left, synced), "what is in process is neither left nor done");
            }
            match meanwhile {
                Meanwhile::Panic => resume_unwind(Box::new("process panics")),
                Meanwhile::Add(object) if unlocked => drop(self.queue.add(*object)),
                Meanwhile::Replace if unlocked => {
                    self.queue.replace(vec![], "7").expect("an empty list is not refused");
                }
                _ => {}
            }
            if !self.setup.atomic {
                events.iter().for_each(|event| self.apply(event));
            }
        };
        let run = AssertUnwindSafe(|| {
            if batched {
                let process = |b: &Batch<u8, Object>| process(&b.events, b.initial, b.left);
                at_once(self.queue.pop_batch_async(process)).map(drop)
            } else {
                let one = std::slice::from_ref;
                let process = |p: &Popped<u8, Object>| process(one(&p.event), p.initial, p.left);
                at_once(self.queue.pop_async(process)).map(drop)
            }
        });
        assert_eq!(catch_unwind(run).is_err(), panics);
        assert_eq!(seen, Some((events.clone(), initial, left)));
        self.follow(&events, meanwhile, unlocked);
    }

    /// Repeats on the sequential object what happened while events were processed.
    fn follow(&mut self, events: &[Happened], meanwhile: &Meanwhile, unlocked: bool) {
        let first = self.spec.initial_left;
        if unlocked {
            match meanwhile {
                Meanwhile::Add(object) => {
                    let taken = self.taken(*object).filter(|_| object.0 != 0);
                    self.spec.put(taken.map(Delta::Added));
                }
                Meanwhile::Replace => self.spec.replace(&[], &[], false, "7"),
                Meanwhile::Nothing | Meanwhile::Panic => {}
            }
        }
        // Events that were taken before the first list came belong to no list (RF-17).
        self.spec.processed(events.len().min(first));
        if let Some(known) = &mut self.spec.known {
            known.clone_from(&self.store.objects());
        }
    }

    /// Applies an event to the store that a plain queue knows. An object without a key is skipped.
    fn apply(&self, event: &Happened) {
        if let Some(change) = event.delta()
            && let Some(key) = super::spec::key_of_change(change)
        {
            self.store.apply(&key, [change]);
        }
    }

    fn compare(&self) {
        assert_eq!(self.queue.list(), Vec::from(self.spec.events.clone()));
        let (len, synced) = (self.spec.events.len(), self.spec.has_synced());
        assert_says(&self.queue, len, synced, self.closed);
    }
}

/// The writer's action while events are processed.
enum Meanwhile {
    Nothing,
    Panic,
    Add(Object),
    Replace,
}

/// Reads a setup and calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> (Setup, Vec<Op>) {
    let mut bytes = bytes.iter().copied();
    let first = bytes.next().unwrap_or(0);
    let setup = Setup {
        atomic: first & 1 != 0,
        unlock: first & 2 != 0,
        emit_bookmarks: first & 4 != 0,
        transform: first & 8 != 0,
        batch_size: NonZeroUsize::MIN.saturating_add(usize::from(first >> 6)),
    };
    (setup, std::iter::from_fn(|| decode_op(&mut bytes)).collect())
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || Some((bytes.next()? % 6, bytes.next()? % 16));
    Some(match code % 16 {
        0 | 1 => Op::Add(object()?),
        2 | 3 => Op::Update(object()?),
        4 => Op::Delete(object()?),
        5 => {
            let (key, version) = object()?;
            Op::DeleteUnseen(key, (version > 3).then_some((key, version)))
        }
        6 | 7 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        8 => Op::Resync,
        9 if code < 128 => Op::Bookmark,
        9 => Op::Spoil(bytes.next()? % 5 + 1),
        10 => Op::Pop,
        11 if code < 128 => Op::PopAndPanic,
        11..13 => Op::PopBatch,
        13 => Op::PopAndWrite(object()?),
        14 => Op::PopAndReplace,
        _ if code < 224 => Op::Pop,
        _ => Op::Close,
    })
}
