//! Follows a history call by call: the waiting objects, the objects handed out, the sleeping
//! callers.

use seatrial_core::fifo::{AddIfAbsent, Delete, Op, Popped, Processed, Put, Replace, Ret};
use seatrial_core::machine::Step;

use super::{Event, Fifo, MachineOp, MachineRet, Spec};
use crate::events::fixtures::first_list::{Answer, Awaited, FirstList};
use crate::events::fixtures::{Asleep, Object};
use crate::trial::{self, What};

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct FifoLedger {
    /// The sequential object, given the same calls.
    pub(super) spec: Spec<u8, Object>,
    /// Whether some caller was told that the first list is processed.
    pub(super) synced: bool,
    /// Objects that are being processed, each with the thread that processes it.
    pub(super) in_process: Vec<(u8, Popped<u8, Object>)>,
    /// The callers that sleep.
    pub(super) asleep: Asleep,
    /// Whether the queue is closed.
    pub(super) closed: bool,
}

/// Returns the object that a call handed out.
pub(super) fn popped(event: &Event) -> Option<&Popped<u8, Object>> {
    match event.returned() {
        Some((Op::Pop(_), Ret::Pop(popped))) => popped.as_ref(),
        _ => None,
    }
}

/// Tells whether an event is a finished call that may change the waiting objects, other than `pop`.
pub(super) fn writes(event: &Event) -> bool {
    matches!(
        event.returned(),
        Some((Op::Put(_) | Op::Delete(_) | Op::Replace(_) | Op::AddIfAbsent(_), _))
    )
}

impl trial::Ledger<Fifo> for FifoLedger {
    fn apply(&mut self, event: &Event) {
        self.asleep.take_in::<Fifo>(event, |op| matches!(op, Op::WaitForSync(_)));
        let What::Step { op, outcome, .. } = &event.what else { return };
        match outcome {
            Step::Wait { .. } if matches!(op, Op::WaitForSync(_)) => {}
            Step::Wait { .. } => self.skip_stale(),
            Step::Done(ret) | Step::Held(ret) => self.take_in(event.thread, op, ret),
        }
    }
}

impl FifoLedger {
    fn take_in(&mut self, thread: u8, op: &MachineOp, ret: &MachineRet) {
        match (op, ret) {
            (Op::Put(Put { key: Some(key), object: Some(object) }), _) => {
                self.spec.put(*key.key(), *object);
            }
            (Op::Delete(Delete(key)), _) => self.spec.delete(key.key()),
            (Op::Replace(Replace(list)), _) => {
                self.spec.replace(list.iter().map(|keyed| (*keyed.key.key(), keyed.object)));
            }
            (Op::Pop(_), Ret::Pop(Some(popped))) => self.pop(thread, popped),
            (Op::Pop(_), Ret::Pop(None)) => self.skip_stale(),
            (Op::Processed(processed), _) => self.processed(thread, processed),
            (Op::AddIfAbsent(add), _) => self.put_back(add),
            (Op::Close(_), _) => self.closed = true,
            (Op::HasSynced(_), Ret::HasSynced(true))
            | (Op::WaitForSync(_), Ret::WaitForSync(true)) => self.synced = true,
            _ => {}
        }
    }

    /// A `pop` that finds no object has skipped every place in the queue.
    fn skip_stale(&mut self) {
        if self.spec.items.is_empty() {
            let _none = self.spec.pop();
        }
    }

    fn pop(&mut self, thread: u8, popped: &Popped<u8, Object>) {
        let mut led = self.spec.clone();
        match led.pop() {
            Some(taken) if taken.key == popped.key => self.spec = led,
            _ => drop(self.spec.items.remove(&popped.key)),
        }
        self.in_process.push((thread, popped.clone()));
    }

    fn processed(&mut self, thread: u8, processed: &Processed<u8, Object>) {
        if let Some(mine) = self.in_process.iter().position(|(by, _)| *by == thread) {
            self.in_process.remove(mine);
            self.spec.processed();
        }
        if let Some(add) = &processed.requeue {
            self.put_back(add);
        }
    }

    fn put_back(&mut self, add: &AddIfAbsent<u8, Object>) {
        if let (Some(key), Some(object)) = (&add.key, add.object) {
            self.spec.add_if_absent(*key.key(), object);
        }
    }
}

impl Awaited<Fifo> for FifoLedger {
    fn answer(event: &Event) -> Option<Answer> {
        match event.returned()?.1 {
            Ret::HasSynced(says) => Some(Answer::Asked(*says)),
            Ret::WaitForSync(says) => Some(Answer::Waited(*says)),
            _ => None,
        }
    }

    fn first_list(&self) -> FirstList<'_> {
        let nothing_left = self.spec.items.is_empty() && self.in_process.is_empty();
        FirstList {
            told: self.synced,
            processed: self.spec.has_synced(),
            drained: self.closed && nothing_left,
            asleep: &self.asleep,
        }
    }
}
