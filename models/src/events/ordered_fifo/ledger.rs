//! Follows a history call by call: the writers' calls, the events handed out, the sleeping callers.

use std::collections::BTreeMap;
use std::sync::Arc;

use seatrial_core::delta_fifo::{Delta, Verb};
use seatrial_core::ordered_fifo::{Event as Happening, Op, Ret};

use super::spec::key_of_change;
use super::tried::{Call, Config, Happened, Over, Reply, State};
use super::{Event, MachineOp, OrderedFifo, Spec};
use crate::events::fixtures::first_list::{Answer, Awaited, FirstList};
use crate::events::fixtures::over::over;
use crate::events::fixtures::{self, Asleep, Object};
use crate::trial;

/// The state before an event, derived from the history.
#[derive(Clone, Debug)]
pub(super) struct OrderedLedger {
    /// How the queue was made.
    pub(super) config: Config,
    /// The sequential object, given the same calls.
    pub(super) spec: Spec,
    /// The last visible state of the queue.
    pub(super) state: Arc<State>,
    /// The objects that the writers saw last (`cache:INV-3`, the view).
    pub(super) view: BTreeMap<u8, Object>,
    /// The objects of a consumer that applies every event that it is handed.
    pub(super) handed: BTreeMap<u8, Object>,
    /// Whether some caller was told that the first list is processed.
    pub(super) synced: bool,
    /// Events that are being processed.
    pub(super) in_process: Vec<InProcess>,
    /// The callers that sleep.
    pub(super) asleep: Asleep,
    /// Whether the queue is closed.
    pub(super) closed: bool,
}

/// Events that were taken and are still being processed.
#[derive(Clone, Debug)]
pub(super) struct InProcess {
    /// The thread that took them.
    pub(super) thread: u8,
    /// How many of them belong to the first list.
    pub(super) initial: usize,
    /// Whether the lock must be held during the processing.
    pub(super) locked: bool,
}

/// The events that a call took out of the queue.
pub(super) struct Taken<'a> {
    pub(super) events: &'a [Happened],
    pub(super) initial: bool,
    pub(super) left: usize,
}

impl<'a> Over<'a> {
    /// Returns the events that the call took.
    pub(super) fn taken(&self) -> Option<Taken<'a>> {
        match self.ret {
            Ret::Pop(Some(popped)) => {
                let events = std::slice::from_ref(&popped.event);
                Some(Taken { events, initial: popped.initial, left: popped.left })
            }
            Ret::PopBatch(Some(batch)) => {
                Some(Taken { events: &batch.events, initial: batch.initial, left: batch.left })
            }
            _ => None,
        }
    }

    /// Tells whether the call may append events.
    pub(super) fn writes(&self) -> bool {
        matches!(
            self.op,
            Op::Put(_)
                | Op::Delete(_)
                | Op::Replace(_)
                | Op::ReplaceAll(_)
                | Op::Resync(_)
                | Op::Mark(_)
        )
    }

    /// Tells whether the call reports the end of the queue.
    pub(super) fn says_the_end(&self) -> bool {
        matches!(self.ret, Ret::Pop(None) | Ret::PopBatch(None))
    }

    /// Returns the events that the call appended.
    pub(super) fn appended(&self, before: &OrderedLedger) -> &'a [Happened] {
        self.state.events.get(before.state.events.len()..).unwrap_or_default()
    }
}

impl Default for OrderedLedger {
    fn default() -> Self {
        Self {
            config: Config::atomic(),
            spec: Spec::new(None, false, 1),
            state: Arc::default(),
            view: BTreeMap::new(),
            handed: BTreeMap::new(),
            synced: false,
            in_process: Vec::new(),
            asleep: Asleep::default(),
            closed: false,
        }
    }
}

impl trial::Ledger<OrderedFifo> for OrderedLedger {
    fn apply(&mut self, event: &Event) {
        let is_sync = |call: &Call| matches!(call, Call::Queue(Op::WaitForSync(_)));
        self.asleep.take_in::<OrderedFifo>(event, is_sync);
        match event.returned() {
            Some((Call::Make(config), reply)) => self.begin(config, reply),
            Some((Call::Queue(_), reply)) => {
                if let Some(over) = over::<OrderedFifo>(event) {
                    self.spec = self.led_by(&over);
                    self.take_in(&over);
                    self.state = Arc::clone(&reply.state);
                    // One departure is one violation: later events are judged from the queue's own
                    // state.
                    self.spec.events = self.state.events.iter().cloned().collect();
                }
            }
            None => {}
        }
    }
}

impl OrderedLedger {
    fn begin(&mut self, config: &Config, reply: &Reply) {
        let known = reply.state.known.clone();
        (self.view, self.handed) =
            (known.clone().unwrap_or_default(), known.clone().unwrap_or_default());
        let setup = config.setup;
        self.spec = Spec::new(known, setup.emit_bookmarks, setup.batch_size.get());
        self.config = config.clone();
        self.state = Arc::clone(&reply.state);
    }

    /// Returns the sequential object after a call.
    pub(super) fn led_by(&self, over: &Over<'_>) -> Spec {
        let mut spec = self.spec.clone();
        spec.known = over.state.known.clone();
        match over.op {
            Op::Put(put) => {
                let show = if put.verb == Verb::Add { Delta::Added } else { Delta::Updated };
                let object = put.object.as_ref().and_then(|object| object.as_ref().ok());
                spec.put(object.map(|object| show(*object)));
            }
            Op::Delete(delete) => {
                let last = delete.last.as_ref().and_then(|last| last.as_ref().ok());
                spec.put(last.map(|last| Delta::Deleted(last.clone())));
            }
            Op::Replace(list) => {
                let keys = list.objects.iter().map(|keyed| &keyed.key).chain(list.behind.iter());
                let keys: Vec<u8> = keys.map(|key| *key.key()).collect();
                let accepted: Vec<_> = list.objects.iter().map(|keyed| keyed.object).collect();
                spec.replace(&keys, &accepted, list.refused.is_some(), "");
            }
            Op::ReplaceAll(list) => {
                spec.replace(&[], &list.0.objects, false, &list.0.resource_version);
            }
            Op::Resync(_) => {
                let _all = spec.resync();
            }
            Op::Mark(mark) => spec.bookmark(&mark.0.resource_version),
            Op::Pop(_) | Op::PopBatch(_) if over.taken().is_some() => {
                let _taken = spec.pop(matches!(over.op, Op::PopBatch(_)));
            }
            Op::Processed(_) => {
                spec.processed(self.processed_by(over.thread).map_or(0, |it| it.initial));
            }
            _ => {}
        }
        spec
    }

    /// Returns the events that a thread is processing.
    fn processed_by(&self, thread: u8) -> Option<&InProcess> {
        self.in_process.iter().find(|in_process| in_process.thread == thread)
    }

    fn take_in(&mut self, over: &Over<'_>) {
        self.see(over.op);
        if let Some(taken) = over.taken() {
            let initial = taken.events.len().min(self.spec.initial_left);
            let locked = !self.config.unlocks(over.state.events.len());
            self.in_process.push(InProcess { thread: over.thread, initial, locked });
            taken.events.iter().for_each(|event| apply(&mut self.handed, event));
        }
        match (over.op, over.ret) {
            (Op::Processed(_), _) => self.in_process.retain(|it| it.thread != over.thread),
            (Op::Close(_), _) => self.closed = true,
            (Op::HasSynced(_), Ret::HasSynced(true))
            | (Op::WaitForSync(_), Ret::WaitForSync(true)) => self.synced = true,
            _ => {}
        }
    }

    /// Updates the view by a writer's call.
    fn see(&mut self, op: &MachineOp) {
        match op {
            Op::Put(put) => {
                if let Some(Ok(object)) = put.object {
                    self.view.insert(object.0, object);
                }
            }
            Op::Delete(delete) => {
                if let Some(Ok(last)) = &delete.last {
                    let key = key_of_change(&Delta::Deleted(last.clone()));
                    key.map(|key| self.view.remove(&key));
                }
            }
            Op::Replace(list) => {
                if list.refused.is_none() {
                    self.view.clear();
                }
                let listed = list.objects.iter().map(|keyed| (*keyed.key.key(), keyed.object));
                self.view.extend(listed);
            }
            Op::ReplaceAll(list) => self.view = by_key(&list.0.objects),
            _ => {}
        }
    }

    /// Returns the objects that the consumer will have once everything is applied: first the events
    /// that it was handed, then those that wait.
    pub(super) fn outcome(&self) -> BTreeMap<u8, Object> {
        let mut outcome = self.handed.clone();
        self.state.events.iter().for_each(|event| apply(&mut outcome, event));
        outcome
    }

    /// Tells whether nothing more is handed out unless there is another write.
    pub(super) fn is_drained(&self) -> bool {
        self.closed && self.state.events.is_empty() && self.in_process.is_empty()
    }
}

impl Awaited<OrderedFifo> for OrderedLedger {
    fn answer(event: &Event) -> Option<Answer> {
        match over::<OrderedFifo>(event)?.ret {
            Ret::HasSynced(says) => Some(Answer::Asked(*says)),
            Ret::WaitForSync(says) => Some(Answer::Waited(*says)),
            _ => None,
        }
    }

    fn first_list(&self) -> FirstList<'_> {
        FirstList {
            told: self.synced,
            processed: self.spec.has_synced(),
            drained: self.is_drained(),
            asleep: &self.asleep,
        }
    }
}

fn by_key(objects: &[Object]) -> BTreeMap<u8, Object> {
    objects.iter().map(|object| (object.0, *object)).collect()
}

/// Applies an event to a store, as a consumer does.
pub(super) fn apply(store: &mut BTreeMap<u8, Object>, event: &Happened) {
    match event {
        Happening::Delta(change) => {
            if let Some(key) = key_of_change(change) {
                fixtures::apply(store, &key, [change]);
            }
        }
        Happening::ReplacedAll(list) => *store = by_key(&list.objects),
        Happening::SyncAll | Happening::Bookmark(_) => {}
    }
}
