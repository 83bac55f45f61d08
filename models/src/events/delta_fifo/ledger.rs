//! Follows a history call by call: the writers' calls, the entries handed out, the sleeping
//! callers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use seatrial_core::delta_fifo::{
    AddIfAbsent, Delete, Delta, Op, Popped, Processed, Put, Replace, Ret, Verb,
};

use super::tried::{Call, Config, Over, Reply, State};
use super::{DeltaFifo, Event, History, Spec};
use crate::events::fixtures::first_list::{Answer, Awaited, FirstList};
use crate::events::fixtures::over::{self, over};
use crate::events::fixtures::{Asleep, Object, apply, left_by};
use crate::trial::{self, Ledger as _, Violation};

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct DeltaLedger {
    /// How the queue was made.
    pub(super) config: Config,
    /// The sequential object, given the same calls.
    pub(super) spec: Spec<u8, Object>,
    /// The last visible state of the queue.
    pub(super) state: Arc<State>,
    /// The objects that the writers saw last (`cache:INV-3`, the view).
    pub(super) view: BTreeMap<u8, Object>,
    /// The objects of a consumer that applies every entry that it is handed.
    pub(super) handed: BTreeMap<u8, Object>,
    /// Keys whose entries the consumer did not apply although it could.
    pub(super) forgone: BTreeSet<u8>,
    /// Keys that the first list lists or deletes, and that are not processed yet.
    pub(super) batch: BTreeSet<u8>,
    /// Whether some caller was told that the first list is processed.
    pub(super) synced: bool,
    /// Entries that are being processed, each with the thread that processes it.
    pub(super) in_process: Vec<(u8, Popped<u8, Object>)>,
    /// The callers that sleep.
    pub(super) asleep: Asleep,
    /// Whether the queue is closed.
    pub(super) closed: bool,
}

impl Over<'_> {
    /// Returns the entry that the call took out of the queue.
    pub(super) fn popped(&self) -> Option<&Popped<u8, Object>> {
        match self.ret {
            Ret::Pop(popped) => popped.as_ref(),
            _ => None,
        }
    }

    /// Tells whether the call may change what is pending, other than by taking an entry.
    pub(super) fn writes(&self) -> bool {
        matches!(
            self.op,
            Op::Put(_) | Op::Delete(_) | Op::Replace(_) | Op::Resync(_) | Op::AddIfAbsent(_)
        )
    }

    /// Returns the whole list that the call queued; `None` also for a list with a refused object.
    pub(super) fn listed(&self) -> Option<BTreeMap<u8, Object>> {
        match self.op {
            Op::Replace(Replace { objects, refused: None, .. }) => {
                Some(objects.iter().map(|keyed| (*keyed.key.key(), keyed.object)).collect())
            }
            _ => None,
        }
    }
}

impl trial::Ledger<DeltaFifo> for DeltaLedger {
    fn apply(&mut self, event: &Event) {
        let is_sync = |call: &Call| matches!(call, Call::Queue(Op::WaitForSync(_)));
        self.asleep.take_in::<DeltaFifo>(event, is_sync);
        match event.returned() {
            Some((Call::Make(config), reply)) => self.begin(config, reply),
            Some((Call::Queue(_), reply)) => {
                if let Some(over) = over::<DeltaFifo>(event) {
                    self.spec.known =
                        self.config.known.is_some().then(|| reply.state.known.clone());
                    self.take_in(&over);
                    self.state = Arc::clone(&reply.state);
                }
            }
            None => {}
        }
    }
}

impl DeltaLedger {
    fn begin(&mut self, config: &Config, reply: &Reply) {
        let known = reply.state.known.clone();
        self.spec = Spec {
            readable: config.known.as_ref().is_none_or(|store| store.is_readable()),
            ..Spec::new(config.known.is_some().then(|| known.clone()), config.emit_replaced)
        };
        (self.view, self.handed) = (known.clone(), known);
        self.config = config.clone();
        self.state = Arc::clone(&reply.state);
    }

    fn take_in(&mut self, over: &Over<'_>) {
        match (over.op, over.ret) {
            (Op::Put(put), _) => self.put(put),
            (Op::Delete(delete), _) => self.delete(delete),
            (Op::Replace(replace), _) => self.replace(replace),
            (Op::Resync(_), _) => self.spec.resync(),
            (Op::Pop(_), Ret::Pop(Some(popped))) => self.pop(over.thread, popped),
            (Op::Processed(processed), _) => self.processed(over, processed),
            (Op::AddIfAbsent(AddIfAbsent { key: Some(key), deltas }), _) => {
                self.spec.add_if_absent(*key.key(), deltas.to_vec());
            }
            (Op::Close(_), _) => self.closed = true,
            (Op::HasSynced(_), Ret::HasSynced(true))
            | (Op::WaitForSync(_), Ret::WaitForSync(true)) => self.synced = true,
            _ => {}
        }
    }

    fn put(&mut self, put: &Put<u8, Object>) {
        let change = match (&put.key, &put.object) {
            (Some(key), Some(Ok(object))) => {
                self.view.insert(*key.key(), *object);
                let show = if put.verb == Verb::Add { Delta::Added } else { Delta::Updated };
                Some((*key.key(), show(*object)))
            }
            _ => None,
        };
        self.spec.put(change);
    }

    fn delete(&mut self, delete: &Delete<u8, Object>) {
        let Some(key) = &delete.key else { return };
        let last = delete.last.as_ref().and_then(|last| last.as_ref().ok());
        if last.is_some() {
            self.view.remove(key.key());
        }
        self.spec.delete(*key.key(), last.cloned());
    }

    fn replace(&mut self, replace: &Replace<u8, Object>) {
        let objects = replace.objects.iter().map(|keyed| (*keyed.key.key(), keyed.object));
        let list: Vec<_> = objects.collect();
        let (first, refused) = (!self.spec.populated, replace.refused.is_some());
        self.spec.replace(&list, refused);
        if !refused {
            self.view.clear();
        }
        self.view.extend(list);
        if first && !refused {
            self.batch = self.spec.pending.iter().map(|(key, _)| *key).collect();
        }
    }

    fn pop(&mut self, thread: u8, popped: &Popped<u8, Object>) {
        self.spec.pending.retain(|(key, _)| *key != popped.key);
        apply(&mut self.handed, &popped.key, &popped.deltas);
        self.in_process.push((thread, popped.clone()));
    }

    fn processed(&mut self, over: &Over<'_>, processed: &Processed<u8, Object>) {
        let mine = self.in_process.iter().position(|(thread, _)| *thread == over.thread);
        if let Some((_, popped)) = mine.map(|at| self.in_process.remove(at)) {
            self.spec.processed(&popped.key, &[], false);
            self.batch.remove(&popped.key);
            if over.state.known.get(&popped.key) == self.handed.get(&popped.key) {
                self.forgone.remove(&popped.key);
            } else {
                self.forgone.insert(popped.key);
            }
        }
        if let Some(AddIfAbsent { key: Some(key), deltas }) = processed.requeue.as_deref() {
            self.spec.add_if_absent(*key.key(), deltas.to_vec());
        }
    }

    /// Tells whether the first list has been processed, or another write came before it.
    pub(super) fn has_synced(&self) -> bool {
        self.spec.populated && self.batch.is_empty()
    }

    /// Returns the object that the consumer will have once everything is applied to its store: from
    /// the pending changes, else from its store or from what it was handed.
    pub(super) fn outcome(&self, key: u8) -> Option<Object> {
        if let Some(newest) = self.state.deltas(key).last() {
            return left_by(newest).copied();
        }
        let applied = !self.in_process.iter().any(|(_, popped)| popped.key == key)
            && !self.forgone.contains(&key)
            && self.config.known.is_some();
        if applied { self.state.known.get(&key) } else { self.handed.get(&key) }.copied()
    }
}

impl Awaited<DeltaFifo> for DeltaLedger {
    fn answer(event: &Event) -> Option<Answer> {
        match over::<DeltaFifo>(event)?.ret {
            Ret::HasSynced(says) => Some(Answer::Asked(*says)),
            Ret::WaitForSync(says) => Some(Answer::Waited(*says)),
            _ => None,
        }
    }

    fn first_list(&self) -> FirstList<'_> {
        let nothing_left = self.state.pending.is_empty() && self.in_process.is_empty();
        FirstList {
            told: self.synced,
            processed: self.has_synced(),
            drained: self.closed && nothing_left,
            asleep: &self.asleep,
        }
    }
}

/// Checks every finished call against the state before it.
pub(super) fn at_every_call(
    history: &History,
    check: impl Fn(&DeltaLedger, &Over<'_>) -> Result<(), String>,
) -> Result<(), Violation> {
    over::at_every_call(history, check)
}

/// Checks the state after every finished call.
pub(super) fn after_every_call(
    history: &History,
    check: impl Fn(&DeltaLedger) -> Result<(), String>,
) -> Result<(), Violation> {
    let mut ledger = DeltaLedger::default();
    for (number, event) in history.events.iter().enumerate() {
        ledger.apply(event);
        if over::<DeltaFifo>(event).is_some() {
            check(&ledger).map_err(|because| Violation::at(number, because))?;
        }
    }
    Ok(())
}
