//! The DeltaFIFO and its callers as states: one writer of each object, consumers, and callers that
//! wait for the first list.

pub(crate) mod tests;

use seatrial_core::delta_fifo::{
    Close, Delete, Delta, DeltaQueue, Op, Pop, Popped, Processed, Put, Replace, Ret, Verb,
    WaitForSync,
};
use seatrial_core::machine::{Step, Wakes};
use seatrial_core::store::{KeyHasher, Keyed, LastState};

use super::DeltaFifo;
use crate::engine::state::{
    Bytes, Explored, Jumps, Moment, Place, Programs, Rules as May, WakeUps, Wrong,
};
use crate::events::fixtures::{Object, describe_call};
use crate::trial::{Simulation, States};

type Rules = DeltaQueue<u8, Object>;

/// Keys are below this.
const KEYS: usize = 3;

/// One instruction of a caller. The writer of an object writes its versions in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// Adds or updates an object.
    Put(Object),
    /// Deletes an object; this is its last state.
    Delete(Object),
    /// Shows all objects.
    List(&'static [Object]),
    /// Processes entries until the queue is closed and empty.
    Consume,
    /// Waits until the first list is processed.
    WaitForSync,
    /// Closes the queue.
    Close,
}

/// A caller's position in its program, and the versions it wrote and was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Caller {
    at: Place,
    /// Whether it processes an entry.
    processes: bool,
    /// For each object, the newest version that the caller has written.
    written: [u8; KEYS],
    /// For each object, the newest version that the caller was given, and whether it was a
    /// deletion.
    given: [(u8, bool); KEYS],
}

/// Callers at one queue.
#[derive(Clone, Debug)]
pub(super) struct AtDeltaFifo {
    programs: Programs<Call>,
    /// Whether nobody writes after the queue is closed: the consumers may be gone then.
    closes_last: bool,
    edit: fn(&mut Wakes),
    reaches: fn(&Rules) -> bool,
}

impl AtDeltaFifo {
    fn new(programs: &[&[Call]], reaches: fn(&Rules) -> bool) -> Self {
        Self { programs: Programs::new(programs), closes_last: true, edit: |_| {}, reaches }
    }
}

impl AtDeltaFifo {
    /// Tells whether all of these versions of an object are deletions.
    fn are_deletions(&self, key: usize, mut versions: std::ops::Range<u8>) -> bool {
        versions.all(|version| {
            let deletes = |call| call == Call::Delete((key as u8, version));
            self.programs.all().any(deletes)
        })
    }
}

fn version(change: &Delta<u8, Object>) -> (u8, bool) {
    let version = change.object().map_or(0, |object| object.1);
    (version, change.is_deleted())
}

fn key(object: &Object) -> seatrial_core::store::Hashed<u8> {
    KeyHasher::fixed(7).hashed(object.0)
}

/// Lists the models.
pub(super) fn all() -> Vec<Box<dyn Simulation<DeltaFifo>>> {
    use Call::{Close, Consume, Delete, List, Put, WaitForSync};
    const JUDGES: &[&str] = &["nothing_is_lost", "deletions_are_deduplicated"];
    const RULES: May =
        May { symmetric: true, jumps: Jumps::AtStandstill, wake_ups: WakeUps::Any, spurious: 0 };
    let models = [
        States {
            name: "states_of_changes",
            says: "two writers change, delete and close while two consumers process",
            judges: JUDGES,
            subject: || {
                let first: &[Call] =
                    &[Put((0, 1)), Delete((0, 2)), Delete((0, 3)), Put((0, 4)), Close];
                let second: &[Call] = &[Put((1, 1)), Put((1, 2)), Delete((1, 3))];
                let programs: [&[Call]; 4] = [first, second, &[Consume], &[Consume]];
                let both = |queue: &Rules| queue.is_closed() && queue.len() == 2;
                AtDeltaFifo { closes_last: false, ..AtDeltaFifo::new(&programs, both) }
            },
            rules: RULES,
        },
        States {
            name: "states_of_a_first_list",
            says: "a first list and later changes are handed to two consumers, and two callers \
                   wait for the list",
            judges: JUDGES,
            subject: || {
                let lists: &[Call] = &[List(&[(0, 1), (1, 1)]), Put((0, 2)), Put((1, 2)), Close];
                let waits: &[Call] = &[WaitForSync];
                let consumes: &[Call] = &[Consume];
                AtDeltaFifo::new(&[lists, consumes, consumes, waits, waits], |queue| {
                    queue.latch().left() == 1
                })
            },
            rules: RULES,
        },
    ];
    models.into_iter().map(|model| Box::new(model) as Box<dyn Simulation<DeltaFifo>>).collect()
}

impl Explored for AtDeltaFifo {
    type Machine = Rules;
    type Caller = Caller;

    fn machine(&self) -> Rules {
        DeltaQueue::new(KeyHasher::fixed(7), None, true)
    }

    fn callers(&self) -> Vec<Caller> {
        let start =
            |at| Caller { at, processes: false, written: [0; KEYS], given: [(0, false); KEYS] };
        self.programs.places().into_iter().map(start).collect()
    }

    fn next(&self, caller: &Caller) -> Option<Op<u8, Object>> {
        if caller.processes {
            return Some(Op::Processed(Processed { requeue: None }));
        }
        Some(match self.programs.call(caller.at)? {
            Call::Put(object) => Op::Put(Put {
                verb: Verb::Update,
                key: Some(key(&object)),
                object: Some(Ok(object)),
            }),
            Call::Delete(object) => Op::Delete(Delete {
                key: Some(key(&object)),
                last: Some(Ok(LastState::Final(object))),
            }),
            Call::List(objects) => {
                let keyed = |object: &_| Keyed { key: key(object), object: *object };
                Op::Replace(Replace::new(objects.iter().map(keyed).collect(), None))
            }
            Call::Consume => Op::Pop(Pop),
            Call::WaitForSync => Op::WaitForSync(WaitForSync),
            Call::Close => Op::Close(Close),
        })
    }

    fn returned(&self, caller: &mut Caller, ret: Ret<u8, Object>) {
        match ret {
            Ret::Pop(Some(Popped { key, deltas, .. })) => {
                caller.processes = true;
                let newest = deltas.newest().map(version);
                caller.given[usize::from(key)] = newest.expect("an entry has a change");
            }
            Ret::Processed(()) => caller.processes = false,
            _ => {
                let objects = match self.programs.call(caller.at) {
                    Some(Call::Put(object) | Call::Delete(object)) => &[object] as &[Object],
                    Some(Call::List(objects)) => objects,
                    _ => &[],
                };
                objects.iter().for_each(|(key, version)| {
                    caller.written[usize::from(*key)] = *version;
                });
                caller.at.advance();
            }
        }
    }

    fn view(&self, machine: &Rules, into: &mut Bytes) {
        into.number(machine.len() as u64);
        for (key, changes) in machine.iter() {
            into.number(*key);
            into.list(changes.iter(), |into, change| {
                let (version, is_deletion) = version(change);
                into.number(u64::from(version) << 1 | u64::from(is_deletion));
            });
        }
        into.number(machine.is_closed());
        into.number(machine.latch().is_populated());
        into.number(machine.latch().left() as u64);
    }

    fn view_caller(
        &self,
        _: &Rules,
        caller: &Caller,
        _: Option<&Op<u8, Object>>,
        into: &mut Bytes,
    ) {
        self.programs.view(caller.at, into);
        into.number(caller.processes);
        caller.written.iter().for_each(|version| into.number(*version));
        for (version, is_deletion) in caller.given {
            into.number(u64::from(version) << 1 | u64::from(is_deletion));
        }
    }

    /// The versions given and pending must be the versions written, without a gap. Only deletions
    /// may be missing: one of two in a row, and that of an object that is not known.
    fn wrong<'a>(
        &self,
        at: Moment<'_, Rules>,
        callers: impl Iterator<Item = &'a Caller> + Clone,
    ) -> Option<Wrong> {
        let lost = |key: usize, last: (u8, bool)| {
            let text = format!("the last of object {key} is version {}", last.0);
            Some(Wrong::new("nothing_is_lost", text))
        };
        for key in 0..KEYS {
            let written = callers.clone().map(|caller| caller.written[key]).max()?;
            let given = callers.clone().map(|caller| caller.given[key]).max()?;
            let mut last = given;
            let entry = at.machine.iter().find(|(pending, _)| usize::from(**pending) == key);
            for change in entry.into_iter().flat_map(|(_, changes)| changes.iter()) {
                let next = version(change);
                if next.0 <= last.0 || !self.are_deletions(key, last.0 + 1..next.0) {
                    return lost(key, next);
                }
                if next.1 && last.1 && last != given {
                    let text = format!("two deletions of object {key} are pending");
                    return Some(Wrong::new("deletions_are_deduplicated", text));
                }
                last = next;
            }
            if last.0 > written || !self.are_deletions(key, last.0 + 1..written + 1) {
                return lost(key, last);
            }
        }
        let left = at.is_end && self.closes_last && !at.machine.is_empty();
        left.then(|| Wrong::new("nothing_is_lost", "all calls have returned and entries are left"))
    }

    fn reaches<'a>(&self, machine: &Rules, _: impl Iterator<Item = &'a Caller> + Clone) -> bool {
        (self.reaches)(machine)
    }

    fn describe(&self, op: &Op<u8, Object>, outcome: &Step<Ret<u8, Object>>) -> String {
        match outcome {
            Step::Done(ret) | Step::Held(ret) => describe_call::<DeltaFifo>(op, Some(ret)),
            Step::Wait { .. } => describe_call::<DeltaFifo>(op, None),
        }
    }

    fn edit(&self, wakes: &mut Wakes) {
        (self.edit)(wakes);
    }
}
