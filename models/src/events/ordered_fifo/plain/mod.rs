//! The ordered FIFO in a few lines: the sequential object, and what concurrency adds to it.
//!
//! It is the specification of every call. A mistake makes a mutant of it with the name of the
//! mistake; with [`REFERENCE`] it behaves like the reference.

pub(super) mod spec;
mod taking;

use std::collections::BTreeMap;

use seatrial_core::delta_fifo::{Delta, Verb};
use seatrial_core::machine::{Cx, Machine, Step, Wakes};
use seatrial_core::ordered_fifo::{
    Delete, Event, Mark, Op, POPPERS, Popped, Put, Replace, ReplaceAll, Ret, SYNC, Snapshot,
};
use seatrial_core::store::{EnqueueError, KeyError, LastState};

use crate::events::fixtures::{Config, Mistakes, Object, Store, key_of};
use spec::{Spec, key_of_change};

type Happened = Event<u8, Object>;
type Queued = Result<(), EnqueueError>;

/// The mistake that the reference still makes and our queue does not.
pub const REFERENCE: &[&str] = &["charged_when_processed"];

/// The sequential object, and the state that concurrency adds.
#[derive(Clone, Debug)]
pub struct EventList {
    mistakes: Mistakes,
    pub(super) spec: Spec,
    /// The consumer's store in plain mode.
    known: Option<Store<u8, Object>>,
    unlock: bool,
    /// Events in process: their number, the number of them in the first list, and whether the lock
    /// is released.
    in_process: Option<(usize, usize, bool)>,
    closed: bool,
}

impl EventList {
    /// Makes an empty queue that makes mistakes.
    pub fn with(mistakes: Mistakes, config: &Config) -> Self {
        let spec_known = config.known.as_ref().map(|_| BTreeMap::new());
        Self {
            mistakes,
            spec: Spec::new(spec_known, config.emit_bookmarks, config.batch_size.get()),
            known: config.known.clone(),
            unlock: config.unlock,
            in_process: None,
            closed: false,
        }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    /// Runs a write on the sequential object, and wakes consumers for the added events.
    fn write(&mut self, wakes: &mut Wakes, write: impl FnOnce(&mut Spec)) {
        if let Some(known) = &self.known {
            self.spec.known = Some(known.objects().clone());
        }
        let (synced, before) = (self.spec.has_synced(), self.spec.events.len());
        write(&mut self.spec);
        wakes.many(POPPERS, self.spec.events.len().saturating_sub(before));
        self.wake_waiters(synced, wakes);
    }

    fn wake_waiters(&self, was_synced: bool, wakes: &mut Wakes) {
        if !was_synced && self.spec.has_synced() {
            wakes.all(SYNC);
        }
    }

    fn put(&mut self, change: Result<Delta<u8, Object>, EnqueueError>, cx: &mut Cx<'_>) -> Queued {
        if change.is_err() && self.makes("refused_is_no_write") {
            return change.map(drop);
        }
        let (change, end) = match change {
            Ok(change) => (Some(change), Ok(())),
            Err(refused) => (None, Err(refused)),
        };
        let change = change.filter(|change| self.takes(change));
        let deletes = change.as_ref().is_some_and(Delta::is_deleted);
        let silent = self.makes(if deletes { "delete_is_no_write" } else { "put_is_no_write" });
        let merge = self.makes("changes_are_merged");
        self.write(&mut cx.wakes, |spec| {
            let populated = spec.populated;
            if merge && let Some(change) = &change {
                let same = |event: &Happened| event.delta().and_then(key_of_change);
                spec.events.retain(|event| same(event) != key_of_change(change));
            }
            spec.put(change);
            spec.populated = populated || !silent;
        });
        end
    }

    /// Tells whether a change is queued at all.
    fn takes(&self, change: &Delta<u8, Object>) -> bool {
        let known = self.known.as_ref().zip(key_of_change(change));
        let stored = known.is_none_or(|(store, key)| store.objects().contains_key(&key));
        let gated = self.closed && self.makes("close_gates_writers");
        let asked = change.is_deleted() && self.makes("delete_asks_the_store");
        !gated && (stored || !asked)
    }

    fn replace(&mut self, list: &List, cx: &mut Cx<'_>) {
        let mistakes = self.mistakes;
        let makes = |mistake: &str| mistakes.contains(&mistake);
        self.write(&mut cx.wakes, |spec| {
            let (known, before) = (spec.known.clone(), spec.events.len());
            let plain = known.is_some();
            let mut listed = list.keys.clone();
            if makes("known_is_not_compared") && plain {
                spec.known = Some(BTreeMap::new());
            }
            if makes("queued_is_not_compared") && plain {
                listed
                    .extend(spec.events.iter().filter_map(Event::delta).filter_map(key_of_change));
            }
            if makes("list_clears_the_queue") {
                spec.events.clear();
            }
            if makes("list_in_pieces") && !plain {
                let pieces = list.accepted.iter().map(|object| Delta::Replaced(*object).into());
                spec.events.extend(pieces);
                return spec.populate_with_list();
            }
            spec.replace(&listed, &list.accepted, list.refused, &list.version);
            if makes("tombstone_from_the_store") && plain {
                tombstones_from(spec, known.as_ref(), before);
            }
            if makes("list_before_tombstones") && plain {
                let tombstones = spec.events.len() - before - list.accepted.len();
                spec.events.make_contiguous()[before..].rotate_left(tombstones);
            }
            if makes("tombstone_behind_deletion") && plain {
                repeat_deletions(spec, &listed, before);
            }
            if makes("every_list_counts") && !list.refused {
                spec.initial_left = spec.events.len();
            }
            spec.known = known;
        });
    }

    fn resync(&mut self, cx: &mut Cx<'_>) -> Queued {
        let atomic = self.known.is_none();
        if self.makes("resync_shows_nothing") || atomic && self.makes("atomic_resync_shows_nothing")
        {
            return Ok(());
        }
        let (again, populates) =
            (self.makes("resync_over_queued"), self.makes("resync_is_a_write"));
        let mut all = true;
        self.write(&mut cx.wakes, |spec| {
            if again {
                let queued = std::mem::take(&mut spec.events);
                all = spec.resync();
                let shown = std::mem::replace(&mut spec.events, queued);
                spec.events.extend(shown);
            } else {
                all = spec.resync();
            }
            spec.populated |= populates;
        });
        if all || self.makes("resync_hides_refused") { Ok(()) } else { Err(nameless().into()) }
    }

    fn bookmark(&mut self, version: &str, wakes: &mut Wakes) {
        if self.makes("bookmarks_nowhere") {
            return;
        }
        let (everywhere, populates) =
            (self.makes("bookmarks_everywhere"), self.makes("bookmark_is_a_write"));
        self.write(wakes, |spec| {
            let emits = spec.emit_bookmarks;
            spec.emit_bookmarks |= everywhere;
            spec.bookmark(version);
            spec.emit_bookmarks = emits;
            spec.populated |= populates;
        });
    }

    /// Returns the events that wait, oldest first.
    pub(super) fn events(&self) -> Vec<Happened> {
        self.spec.events.iter().cloned().collect()
    }

    fn is_drained(&self) -> bool {
        self.closed && self.spec.events.is_empty() && self.in_process.is_none()
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

/// A list that was passed to the queue.
struct List {
    keys: Vec<u8>,
    accepted: Vec<Object>,
    refused: bool,
    version: String,
}

/// Queues a tombstone for every deletion that was queued before a list and is not in it.
fn repeat_deletions(spec: &mut Spec, listed: &[u8], before: usize) {
    let queued = spec.events.iter().take(before).filter_map(Event::delta);
    let deleted = queued.filter(|change| change.is_deleted()).filter_map(|change| {
        let key = key_of_change(change).filter(|key| !listed.contains(key))?;
        Some(Event::Delta(Delta::Deleted(LastState::unknown(key, None))))
    });
    let deleted: Vec<_> = deleted.collect();
    spec.events.extend(deleted);
}

/// Puts the consumer's objects into the tombstones of a list.
fn tombstones_from(spec: &mut Spec, known: Option<&BTreeMap<u8, Object>>, before: usize) {
    for event in spec.events.iter_mut().skip(before) {
        if let Event::Delta(Delta::Deleted(LastState::Tombstone(tombstone))) = event {
            tombstone.object = known.and_then(|known| known.get(&tombstone.key)).copied();
        }
    }
}

impl Machine for EventList {
    type Op = Op<u8, Object>;
    type Ret = Ret<u8, Object>;

    fn step(&mut self, op: &mut Self::Op, cx: &mut Cx<'_>) -> Step<Self::Ret> {
        Step::Done(match op {
            Op::Put(Put { verb, object, .. }) => {
                let show = if *verb == Verb::Add { Delta::Added } else { Delta::Updated };
                let Some(object) = object.take() else { return Step::Done(Ret::Put(Ok(()))) };
                Ret::Put(self.put(object.map(show), cx))
            }
            Op::Delete(Delete { last, .. }) => {
                let Some(last) = last.take() else { return Step::Done(Ret::Delete(Ok(()))) };
                Ret::Delete(self.put(last.map(Delta::Deleted), cx))
            }
            Op::Replace(Replace { objects, behind, refused }) => {
                let keys = objects.iter().map(|keyed| &keyed.key).chain(behind.iter());
                let keys: Vec<u8> = keys.map(|key| *key.key()).collect();
                let accepted = objects.iter().map(|keyed| keyed.object).collect();
                let (refused_any, version) = (refused.is_some(), String::new());
                self.replace(&List { keys, accepted, refused: refused_any, version }, cx);
                Ret::Replace(refused.take().map_or(Ok(()), Err))
            }
            Op::ReplaceAll(ReplaceAll(list)) => {
                let Snapshot { resource_version: version, objects: accepted } = (**list).clone();
                let keys = accepted.iter().map(|object| object.0).collect();
                self.replace(&List { keys, accepted, refused: false, version }, cx);
                Ret::ReplaceAll(())
            }
            Op::Resync(_) => Ret::Resync(self.resync(cx)),
            Op::Mark(Mark(bookmark)) => {
                self.bookmark(&bookmark.resource_version.clone(), &mut cx.wakes);
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
            Op::HasSynced(_) => Ret::HasSynced(self.spec.has_synced()),
            Op::WaitForSync(_) if self.spec.has_synced() || self.is_drained() => {
                Ret::WaitForSync(self.spec.has_synced())
            }
            Op::WaitForSync(_) if self.closed && self.makes("close_ends_the_wait") => {
                Ret::WaitForSync(false)
            }
            Op::WaitForSync(_) => return Step::Wait { on: SYNC, until: None },
            Op::List(_) if self.makes("list_newest_first") => {
                Ret::List(self.spec.events.iter().rev().cloned().collect())
            }
            Op::List(_) => Ret::List(self.spec.events.iter().cloned().collect()),
            Op::Len(_) => Ret::Len(self.spec.events.len() + self.counted_twice()),
        })
    }
}
