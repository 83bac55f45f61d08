//! Follows a history call by call: the objects in the heap, and the sleeping callers.

use seatrial_core::store::heap::{Op, Ret};

use super::{Event, Heap, Spec};
use crate::events::fixtures::{Asleep, Bed, Object};
use crate::trial;

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
        self.asleep.take_in::<Heap>(event, |_| false);
        let Some((op, ret)) = event.returned() else { return };
        match (op, ret) {
            (Op::Put(put), _) => self.put(put.key.as_ref().map(|key| *key.key()), put.object),
            (Op::AddIfAbsent(add), _) => {
                if let Some((key, object)) = add.key.as_ref().zip(add.object) {
                    self.spec.add_if_absent(*key.key(), object);
                }
            }
            (Op::BulkAdd(bulk), _) => {
                for keyed in bulk.objects.iter() {
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
