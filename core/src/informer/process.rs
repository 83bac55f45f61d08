//! The loop of an informer: the reflector fills its queue, and the events of the queue change the
//! store and are told to readers.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use crate::cancel::CancelToken;
use crate::caught::drop_caught;
use crate::delta_fifo::Delta;
use crate::ordered_fifo::{Batch, Event};
use crate::runtime::{Atomic, Runtime};
use crate::slab::Line;
use crate::store::{Described, Handle, LastState};

use super::apply::{ApplyError, Change};
use super::feed::{Complete, Push, Shared, Told};
use super::health::Panics;
use super::partly::apply_what_can_be;
use super::readers::{Reader, is_wanted, mark};
use super::reflector::{Config, Forget, pause};
use super::shared::{Informer, ObjectChange};

/// How many changes are told at a time, so that the changes of a long list are not all in memory
/// twice.
const PART: usize = 1024;

/// The versions of deletions of which only the keys are queued.
pub(super) type Forgotten<R> = <R as Runtime>::Mutex<BTreeMap<String, u64>>;

impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    /// Follows the collection until the token ends.
    pub(super) async fn follow(&self, config: Config, token: &CancelToken<R>) {
        let reflect = async {
            self.reflector.run_with(config, &self.queue, token).await;
            self.queue.close();
        };
        let (mut reflect, mut process) = (pin!(reflect), pin!(self.process(token)));
        let (mut reflects, mut processes) = (true, true);
        // Entries still queued when the token ends may stay (`cache:CT-3`).
        poll_fn(|context| {
            reflects = reflects && reflect.as_mut().poll(context).is_pending();
            processes = processes && process.as_mut().poll(context).is_pending();
            if reflects || processes { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// Changes the store by the events of the queue, and tells readers of the changes.
    async fn process(&self, token: &CancelToken<R>) {
        // Whether the last list is in the store, except for its refused objects.
        let mut stored = false;
        let apply = |batch: &Batch<String, O>| {
            let mut told = Line::new();
            let readers = self.lock();
            let before = self.visible.prepare(&batch.events).then(|| self.store.list());
            let is_wanted = is_wanted(&readers.feeds);
            let deleted = self.stored_before(&batch.events);
            let tell = &mut |change| {
                let Some(change) = as_known(change, &deleted) else { return };
                if before.is_none() || is_wanted(&change) {
                    told.push_back(mark(change, batch.initial));
                }
            };
            let result = apply_what_can_be(&batch.events, batch.initial, &self.store, tell);
            // The caller drops the replaced objects, without the lock.
            (told, before, readers.feeds.clone(), result)
        };
        loop {
            if token.is_cancelled() {
                return;
            }
            let Ok((batch, (told, before, readers, result))) =
                self.queue.pop_batch_async(apply).await
            else {
                return;
            };
            if matches!(&batch.events[..], [Event::ReplacedAll(_)]) {
                stored = !matches!(result, Err(ApplyError::Store(_)));
                if stored {
                    *self.runtime.lock(&self.panics) = Panics::default();
                }
            }
            // This comes before readers are told, so that a reader that is told of a version can
            // wait for it.
            let gone = self.take_forgotten(&batch.events);
            let deleted_at = gone.iter().map(|(_, version)| *version).max();
            self.visible.gone(gone);
            self.visible.advance(&batch.events, result.as_ref().err());
            if let Some(version) = deleted_at {
                self.visible.advance_to(version);
            }
            if let Err(error) = result {
                crate::caught::tell(|| (self.refused)(&error));
            }
            drop_caught(before);
            drop_caught(batch);
            self.tell(&readers, told).await;
            if stored {
                self.note_sync();
            }
        }
    }

    /// Tells readers of changes, in parts: a long list must not keep this thread from its other tasks.
    async fn tell(&self, readers: &[Reader<O, R>], told: Line<Told<ObjectChange<O>>>) {
        let mut rest = Untold { informer: self, readers, told };
        while rest.tell_part() {
            pause().await;
        }
    }

    /// Returns the stored states of deleted objects, by key, if the deletion cannot be told as it
    /// is: the last state is not known, or perhaps the object was never stored, because it was
    /// refused.
    fn stored_before(&self, events: &[Event<String, O>]) -> Deleted<O> {
        let last_states = events.iter().filter_map(|event| match event.delta()? {
            Delta::Deleted(last) => Some(last),
            _ => None,
        });
        let key = |last: &LastState<String, O>| match last {
            LastState::Final(object) => {
                object.key().ok().filter(|key| self.visible.lacks_a_state_of(key))
            }
            LastState::Tombstone(gone) => Some(gone.key.clone()),
        };
        let keys = last_states.filter_map(key);
        keys.map(|key| (self.store.get(&key), key)).map(|(object, key)| (key, object)).collect()
    }

    /// Returns the deletions of which only the keys were queued, with their versions.
    fn take_forgotten(&self, events: &[Event<String, O>]) -> Vec<(String, u64)> {
        let gone = events.iter().filter_map(|event| match event.delta()? {
            Delta::Deleted(LastState::Tombstone(gone)) => Some(&gone.key),
            _ => None,
        });
        gone.filter_map(|key| self.runtime.lock(&self.forgotten).remove_entry(key)).collect()
    }

    /// Forgets readers whose subscription is over.
    fn forget(&self, gone: &[&Shared<ObjectChange<O>, R>]) {
        if !gone.is_empty() {
            self.lock().feeds.retain(|it| !gone.iter().any(|gone| Arc::ptr_eq(gone, &it.feed)));
        }
    }

    /// Tells readers, once, that the first list is complete (`cache:PL-21`, `PL-22`).
    fn note_sync(&self) {
        if !self.queue.has_synced() {
            return;
        }
        let feeds = {
            let mut readers = self.lock();
            if std::mem::replace(&mut readers.has_synced, true) {
                return;
            }
            self.synced.store(1, Ordering::Release);
            readers.feeds.clone()
        };
        self.visible.synced();
        for reader in feeds {
            reader.feed.call(Complete);
        }
    }
}

/// Changes that are in the store. They are told even if the informer panics or is dropped meanwhile: a later list
/// shows them as known.
struct Untold<'a, O: Handle + Described, R: Runtime> {
    informer: &'a Informer<O, R>,
    readers: &'a [Reader<O, R>],
    told: Line<Told<ObjectChange<O>>>,
}

impl<O: Handle + Described, R: Runtime> Untold<'_, O, R> {
    /// Tells the next part, and forgets readers whose subscription is over. Tells whether more is left.
    fn tell_part(&mut self) -> bool {
        if self.told.is_empty() {
            return false;
        }
        let part: Vec<_> = std::iter::from_fn(|| self.told.pop_front()).take(PART).collect();
        let mut gone = Vec::new();
        for reader in self.readers {
            // A panic on the way to one reader must not keep the change from the others.
            let push = || {
                let lost = reader.feed.call(Push(reader.wanted(&part)));
                if !lost.is_empty() {
                    gone.push(&reader.feed);
                }
            };
            crate::caught::tell(push);
        }
        self.informer.forget(&gone);
        !self.told.is_empty()
    }
}

impl<O: Handle + Described, R: Runtime> Drop for Untold<'_, O, R> {
    fn drop(&mut self) {
        while !self.told.is_empty() {
            self.tell_part();
        }
    }
}

/// Notes the versions of deletions of which only the keys are queued.
pub(super) fn forget<R: Runtime>(runtime: &R, forgotten: &Arc<Forgotten<R>>) -> Forget {
    let (runtime, forgotten) = (runtime.clone(), Arc::clone(forgotten));
    Arc::new(move |key, version| {
        let version = version.parse().unwrap_or_default();
        runtime.lock(&forgotten).insert(key.to_owned(), version);
    })
}

/// Objects by key, as they were stored.
type Deleted<O> = BTreeMap<String, Option<O>>;

/// Returns a change as readers know the object; `None` if they were never told of it.
fn as_known<O: Handle + Described>(
    change: ObjectChange<O>,
    deleted: &Deleted<O>,
) -> Option<ObjectChange<O>> {
    let Change::Deleted(last) = &change else { return Some(change) };
    let key = match last {
        _ if deleted.is_empty() => return Some(change),
        LastState::Final(object) => object.key().ok(),
        LastState::Tombstone(gone) => Some(gone.key.clone()),
    };
    let Some((key, stored)) = key.and_then(|key| deleted.get_key_value(&key)) else {
        return Some(change); // its deletion was missed, and a list does not have it
    };
    let stored = stored.clone()?;
    Some(match last {
        LastState::Final(_) => change,
        LastState::Tombstone(_) => Change::Deleted(LastState::unknown(key.clone(), Some(stored))),
    })
}
