//! Follows a history call by call: the objects in the heap, and the sleeping callers.

use seatrial_core::machine::Step;
use seatrial_core::store::heap::{Op, Ret};

use super::{Event, Heap, Spec};
use crate::events::fixtures::{Asleep, Bed, Object};
use crate::trial::{self, What};

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct HeapLedger {
    /// The sequential object, given the same calls.
    pub(super) spec: Spec<u8, Object>,
    asleep: Asleep,
}

impl HeapLedger {
    /// Returns how many threads sleep.
    pub(super) fn sleepers(&self) -> usize {
        self.asleep.count(Bed::Pop)
    }

    fn put(&mut self, key: Option<u8>, object: Option<Object>) {
        if let Some((key, object)) = key.zip(object) {
            self.spec.put(key, object);
        }
    }
}

impl trial::Ledger<Heap> for HeapLedger {
    fn apply(&mut self, event: &Event) {
        self.asleep.wake::<Heap>(event);
        let What::Step { op, outcome, .. } = &event.what else { return };
        let ret = match outcome {
            Step::Wait { .. } => return self.asleep.lie_down(event.thread, Bed::Pop),
            Step::Done(ret) | Step::Held(ret) => ret,
        };
        match (op, ret) {
            (Op::Put(put), _) => self.put(put.key.as_ref().map(|key| *key.key()), put.object),
            (Op::AddIfAbsent(add), _) => {
                if let Some((key, object)) = add.key.as_ref().zip(add.object) {
                    self.spec.add_if_absent(*key.key(), object);
                }
            }
            (Op::BulkAdd(bulk), _) => {
                for keyed in &bulk.objects {
                    self.put(Some(*keyed.key.key()), Some(keyed.object));
                }
            }
            (Op::Delete(delete), _) => drop(self.spec.items.remove(delete.0.key())),
            (_, Ret::Pop(Some((_, object)))) => drop(self.spec.items.remove(&object.0)),
            (Op::Close(_), _) => self.spec.closed = true,
            _ => {}
        }
    }
}
