//! The ordered FIFO in a few lines: a list of events (`cache:RF`).
//!
//! It is the specification of every call. A mistake makes a mutant of it with the name of the
//! mistake; with [`REFERENCE`] it behaves like the reference.

mod taking;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use seatrial_core::delta_fifo::{Delta, Verb};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::ordered_fifo::{
    Bookmark, Delete, Event, Mark, Op, POPPERS, Popped, Put, Replace, ReplaceAll, Ret, SYNC,
    Snapshot,
};
use seatrial_core::store::{EnqueueError, KeyError, LastState};

use crate::events::fixtures::{Config, Mistakes, Object, Store, key_of};

type Change = Delta<u8, Object>;
type Happened = Event<u8, Object>;
type Queued = Result<(), EnqueueError>;

/// The mistake that the reference still makes and our queue does not.
pub const REFERENCE: &[&str] = &["charged_when_processed"];

/// The waiting events, and the progress of the first list.
#[derive(Clone, Debug)]
pub struct EventList {
    mistakes: Mistakes,
    /// The events that wait, oldest first.
    events: VecDeque<Happened>,
    /// The consumer's store in plain mode; `None` in atomic mode.
    known: Option<Store<u8, Object>>,
    emit_bookmarks: bool,
    batch_size: usize,
    unlock: bool,
    /// Whether there was a write.
    pub(super) populated: bool,
    /// How many events of the first list are not processed yet.
    pub(super) initial_left: usize,
    /// Events in process: their number, the number of them in the first list, and whether the lock
    /// is released.
    in_process: Option<(usize, usize, bool)>,
    closed: bool,
}

/// Returns the key of a change, if it has one.
pub(super) fn key_of_change(change: &Change) -> Option<u8> {
    match change {
        Delta::Deleted(LastState::Tombstone(tombstone)) => Some(tombstone.key),
        change => key_of(change.object()?).ok(),
    }
}

fn key_of_event(event: &Happened) -> Option<u8> {
    event.delta().and_then(key_of_change)
}

/// A list that was passed to the queue.
struct List {
    keys: Vec<u8>,
    /// The objects in front of the first that the transformer refused.
    accepted: Vec<Object>,
    refused: bool,
    version: String,
}

impl EventList {
    /// Makes an empty queue that makes mistakes.
    pub fn with(mistakes: Mistakes, config: &Config) -> Self {
        Self {
            mistakes,
            events: VecDeque::new(),
            known: config.known.clone(),
            emit_bookmarks: config.emit_bookmarks && config.known.is_none(),
            batch_size: config.batch_size.get(),
            unlock: config.unlock,
            populated: false,
            initial_left: 0,
            in_process: None,
            closed: false,
        }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Tells whether the first list is processed (`cache:QU-15`).
    pub(super) fn has_synced(&self) -> bool {
        self.populated && self.initial_left == 0
    }

    /// Writes, and wakes consumers for the added events.
    fn write<T>(&mut self, wakes: &mut Wakes, write: impl FnOnce(&mut Self) -> T) -> T {
        let (synced, before) = (self.has_synced(), self.events.len());
        let written = write(self);
        wakes.many(POPPERS, self.events.len().saturating_sub(before));
        self.wake_waiters(synced, wakes);
        written
    }

    fn wake_waiters(&self, was_synced: bool, wakes: &mut Wakes) {
        if !was_synced && self.has_synced() {
            wakes.all(SYNC);
        }
    }

    fn push(&mut self, change: Change) {
        self.events.push_back(Event::Delta(change));
    }

    /// The newest queued change of a key.
    fn newest(&self, key: u8) -> Option<&Change> {
        self.events.iter().rev().filter_map(Event::delta).find(|it| key_of_change(it) == Some(key))
    }

    /// Queues a change. One of a refused object is a write, too (`cache:RF-5`, `RF-6`).
    fn put(
        &mut self,
        change: Result<Change, EnqueueError>,
        silent: &str,
        wakes: &mut Wakes,
    ) -> Queued {
        let silent = self.makes(silent) || change.is_err() && self.makes("refused_is_no_write");
        let (change, end) = match change {
            Ok(change) => (Some(change), Ok(())),
            Err(refused) => (None, Err(refused)),
        };
        self.write(wakes, |list| {
            list.populated |= !silent;
            let Some(change) = change.filter(|change| list.takes(change)) else { return };
            if list.makes("changes_are_merged") {
                list.events.retain(|event| key_of_event(event) != key_of_change(&change));
            }
            list.push(change);
        });
        end
    }

    /// Tells whether a change is queued at all.
    fn takes(&self, change: &Change) -> bool {
        let known = self.known.as_ref().zip(key_of_change(change));
        let stored = known.is_none_or(|(store, key)| store.objects().contains_key(&key));
        let gated = self.closed && self.makes("close_gates_writers");
        let asked = change.is_deleted() && self.makes("delete_asks_the_store");
        !gated && (stored || !asked)
    }

    /// Queues a list: as one event, or tombstones and then its objects (`cache:RF-7`, `RF-10`).
    fn replace(&mut self, list: List, wakes: &mut Wakes) {
        let known = self.known.as_ref().map(|known| known.objects().clone());
        self.write(wakes, |this| {
            if this.makes("list_clears_the_queue") {
                this.events.clear();
            }
            let List { keys, accepted, refused, version: resource_version } = list;
            let pieces = this.makes("list_in_pieces");
            match known {
                None if !pieces => {
                    let snapshot = Snapshot { resource_version, objects: accepted };
                    this.events.push_back(Event::ReplacedAll(Arc::new(snapshot)));
                }
                known => {
                    let gone = known.map(|known| this.tombstones(keys, &known));
                    let mut changes = gone.unwrap_or_default();
                    let front = this.makes("list_before_tombstones");
                    let at = if front { 0 } else { changes.len() };
                    changes.splice(at..at, accepted.into_iter().map(Delta::Replaced));
                    changes.into_iter().for_each(|change| this.push(change));
                }
            }
            if !refused && (!this.populated || this.makes("every_list_counts")) {
                (this.populated, this.initial_left) = (true, this.events.len());
            }
        });
    }

    /// Returns tombstones of what is queued or known, and not listed (`cache:RF-7`, `RF-8`).
    fn tombstones(&self, mut seen: Vec<u8>, known: &BTreeMap<u8, Object>) -> Vec<Change> {
        let mut keys: Vec<u8> = self.events.iter().filter_map(key_of_event).collect();
        if self.makes("queued_is_not_compared") {
            seen.append(&mut keys);
        }
        if !self.makes("known_is_not_compared") {
            keys.extend(known.keys());
        }
        let mut tombstones = Vec::new();
        for key in keys {
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let newest = self.newest(key);
            let is_deleted = newest.is_some_and(Delta::is_deleted);
            if is_deleted && !self.makes("tombstone_behind_deletion") {
                continue;
            }
            let object = match newest {
                Some(newest) if !self.makes("tombstone_from_the_store") => newest.object(),
                _ => known.get(&key),
            };
            let object = object.copied().filter(|_| !is_deleted);
            tombstones.push(Delta::Deleted(LastState::unknown(key, object)));
        }
        tombstones
    }

    /// Shows the consumer's objects, up to the first without a key (`cache:RF-12`, `RF-13`).
    fn resync(&mut self, wakes: &mut Wakes) -> Queued {
        let known = self.known.as_ref().map(|known| known.objects().clone());
        let silent = known.is_none() && self.makes("atomic_resync_shows_nothing");
        if silent || self.makes("resync_shows_nothing") {
            return Ok(());
        }
        let all = self.write(wakes, |list| {
            list.populated |= list.makes("resync_is_a_write");
            let Some(known) = known else {
                list.events.push_back(Event::SyncAll);
                return true;
            };
            let queued: Vec<u8> = list.events.iter().filter_map(key_of_event).collect();
            for (key, object) in known {
                if queued.contains(&key) && !list.makes("resync_over_queued") {
                    continue;
                }
                if object.0 == 0 {
                    return false;
                }
                list.push(Delta::Sync(object));
            }
            true
        });
        if all || self.makes("resync_hides_refused") { Ok(()) } else { Err(nameless().into()) }
    }

    /// Queues a bookmark if bookmarks are events (`cache:RF-14`).
    fn bookmark(&mut self, bookmark: &Arc<Bookmark>, wakes: &mut Wakes) {
        let emits = self.emit_bookmarks || self.makes("bookmarks_everywhere");
        if self.makes("bookmarks_nowhere") {
            return;
        }
        self.write(wakes, |list| {
            if emits {
                list.events.push_back(Event::Bookmark(Arc::clone(bookmark)));
            }
            list.populated |= list.makes("bookmark_is_a_write");
        });
    }

    /// Returns the events that wait, oldest first.
    pub(super) fn events(&self) -> Vec<Happened> {
        self.events.iter().cloned().collect()
    }

    fn is_drained(&self) -> bool {
        self.closed && self.events.is_empty() && self.in_process.is_none()
    }

    fn close(&mut self, wakes: &mut Wakes) {
        self.closed = true;
        wakes.all(POPPERS);
        wakes.all(SYNC);
    }
}

/// The error for an object without a key.
fn nameless() -> KeyError {
    let object = (0, 0);
    KeyError::new(&object, key_of(&object).expect_err("key 0 is none"))
}

impl Machine for EventList {
    type Op = Op<u8, Object>;
    type Ret = Ret<u8, Object>;

    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret> {
        Step::Done(match op {
            Op::Put(Put { verb, object, .. }) => {
                let show = if *verb == Verb::Add { Delta::Added } else { Delta::Updated };
                let Some(object) = object.take() else { return Step::Done(Ret::Put(Ok(()))) };
                Ret::Put(self.put(object.map(show), "put_is_no_write", &mut cx.wakes))
            }
            Op::Delete(Delete { last, .. }) => {
                let Some(last) = last.take() else { return Step::Done(Ret::Delete(Ok(()))) };
                Ret::Delete(self.put(last.map(Delta::Deleted), "delete_is_no_write", &mut cx.wakes))
            }
            Op::Replace(Replace { objects, behind, refused }) => {
                let keys = objects.iter().map(|keyed| &keyed.key).chain(behind.iter());
                let keys: Vec<u8> = keys.map(|key| *key.key()).collect();
                let accepted = objects.iter().map(|keyed| keyed.object).collect();
                let (refused_any, version) = (refused.is_some(), String::new());
                self.replace(List { keys, accepted, refused: refused_any, version }, &mut cx.wakes);
                Ret::Replace(refused.take().map_or(Ok(()), Err))
            }
            Op::ReplaceAll(ReplaceAll(list)) => {
                let Snapshot { resource_version: version, objects: accepted } = (**list).clone();
                let keys = accepted.iter().map(|object| object.0).collect();
                self.replace(List { keys, accepted, refused: false, version }, &mut cx.wakes);
                Ret::ReplaceAll(())
            }
            Op::Resync(_) => Ret::Resync(self.resync(&mut cx.wakes)),
            Op::Mark(Mark(bookmark)) => {
                self.bookmark(bookmark, &mut cx.wakes);
                Ret::Mark(())
            }
            Op::Pop(_) => {
                let popped = self.take(false).and_then(|(mut events, initial)| {
                    Some(Popped { event: events.pop()?, initial, left: self.left() })
                });
                return self.after(popped).map(Ret::Pop);
            }
            Op::PopBatch(_) => return self.pop_batch(),
            Op::Processed(_) => {
                self.processed(&mut cx.wakes);
                Ret::Processed(())
            }
            Op::Close(_) => {
                self.close(&mut cx.wakes);
                Ret::Close(())
            }
            Op::IsClosed(_) => Ret::IsClosed(self.closed && !self.makes("closed_is_denied")),
            Op::HasSynced(_) => Ret::HasSynced(self.has_synced()),
            Op::WaitForSync(_) if self.has_synced() || self.is_drained() => {
                Ret::WaitForSync(self.has_synced())
            }
            Op::WaitForSync(_) if self.closed && self.makes("close_ends_the_wait") => {
                Ret::WaitForSync(false)
            }
            Op::WaitForSync(_) => return Step::Wait { on: SYNC, until: None },
            Op::List(_) if self.makes("list_newest_first") => {
                Ret::List(self.events.iter().rev().cloned().collect())
            }
            Op::List(_) => Ret::List(self.events.iter().cloned().collect()),
            Op::Len(_) => Ret::Len(self.events.len() + self.counted_twice()),
        })
    }
}
