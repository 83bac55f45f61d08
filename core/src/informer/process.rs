//! The loop of an informer: what the reflector gives changes the store and is told to readers, in
//! one step.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::cancel::CancelToken;
use crate::caught::{Remains, drop_caught, drop_each};
use crate::events::{Bookmark, Delta, Event, Snapshot};
use crate::runtime::{Atomic, Runtime};
use crate::slab::Line;
use crate::store::{Described, EnqueueError, Handle, Hashed, KeySet, LastState, indexed};

use super::apply::ApplyError;
use super::change::{Change, ObjectChange};
use super::feed::{Complete, Push, Shared, Told};
use super::health::Panics;
use super::partly::apply_what_can_be;
use super::readers::{Reader, is_wanted, mark};
use super::reflector::{Config, Consumer, Delivery, pause};
use super::shared::Informer;

/// How many changes are told at a time, so that the changes of a long list are not all in memory
/// twice.
const PART: usize = 1024;

/// Changes that come together and become one change of the store: of different objects, in their
/// order (`cache:RF-19`, `RF-22`). Any other event is applied alone.
pub(super) struct Batch<'a, O: Handle + Described, R: Runtime> {
    informer: &'a Informer<O, R>,
    token: &'a CancelToken<R>,
    events: Remains<Event<String, O>>,
    /// The keys of the objects that they change.
    keys: KeySet<String, Hashed<String>>,
    /// The deletions among them whose last states the transformer refused: keys and versions.
    stateless: Vec<(String, u64)>,
}

impl<O: Handle + Described, R: Runtime> Batch<'_, O, R> {
    /// Adds a change of an object. If the batch has one of the same object, it is applied first.
    async fn add(&mut self, key: Hashed<String>, delta: Delta<String, O>) {
        if self.keys.contains(&key) {
            self.settle().await;
        }
        self.keys.insert(key);
        self.events.push(delta.into());
    }

    async fn alone(&mut self, event: Event<String, O>) {
        self.settle().await;
        self.apply(vec![event].into(), Vec::new()).await;
    }

    /// Once the token has ended, what waits is left out: the owner of the store may be gone.
    async fn apply(&self, events: Remains<Event<String, O>>, stateless: Vec<(String, u64)>) {
        if !self.token.has_ended() {
            self.informer.take_in(events, stateless).await;
        }
    }

    /// Adds a deletion. The object is gone whatever the transformer thinks of its last state, so
    /// if that is refused, the key alone remains.
    async fn delete(&mut self, object: O) -> Result<(), EnqueueError> {
        let intake = &self.informer.intake;
        let key = intake.key(&object)?;
        let version = number(&object);
        let last = match intake.transform(object) {
            Ok(object) => LastState::Final(object),
            Err(_) => LastState::unknown(key.key().clone(), None),
        };
        let stateless = last.is_tombstone().then(|| (key.key().clone(), version));
        self.add(key, Delta::Deleted(last)).await;
        self.stateless.extend(stateless);
        Ok(())
    }
}

impl<O: Handle + Described, R: Runtime> Consumer<O> for Batch<'_, O, R> {
    async fn take(&mut self, delivery: Delivery<O>) -> Result<(), EnqueueError> {
        let intake = &self.informer.intake;
        match delivery {
            Delivery::Add(object) => {
                let keyed = intake.keyed(object)?;
                self.add(keyed.key, Delta::Added(keyed.object)).await;
            }
            Delivery::Update(object) => {
                let keyed = intake.keyed(object)?;
                self.add(keyed.key, Delta::Updated(keyed.object)).await;
            }
            Delivery::Delete(object) => self.delete(object).await?,
            Delivery::Replace(objects, resource_version) => {
                let objects = objects.into_iter().map(|object| intake.transform(object));
                let objects = objects.collect::<Result<_, _>>()?;
                let list = Arc::new(Snapshot { resource_version, objects });
                self.alone(Event::ReplacedAll(list)).await;
            }
            Delivery::Bookmark(resource_version) => {
                self.alone(Event::Bookmark(Arc::new(Bookmark { resource_version }))).await;
            }
            Delivery::Resync => self.alone(Event::SyncAll).await,
        }
        Ok(())
    }

    async fn settle(&mut self) {
        if !self.events.is_empty() {
            self.keys.clear();
            let (events, stateless) =
                (std::mem::take(&mut self.events), std::mem::take(&mut self.stateless));
            self.apply(events, stateless).await;
        }
    }
}

/// The version of an object; zero if it is not a number.
fn number<O: Described>(object: &O) -> u64 {
    let metadata = object.metadata();
    metadata.and_then(|it| it.resource_version.parse().ok()).unwrap_or_default()
}

impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    /// An empty batch. It outlives a panic of foreign code: what was received before is applied when the
    /// informer begins anew.
    pub(super) fn batch<'a>(&'a self, token: &'a CancelToken<R>) -> Batch<'a, O, R> {
        let (keys, events) = (KeySet::with_capacity(0), Remains::default());
        Batch { informer: self, token, events, keys, stateless: Vec::new() }
    }

    /// Follows the collection until the token ends. Changes that are not applied by then may stay
    /// so (`cache:CT-3`).
    pub(super) async fn follow(&self, config: Config, batch: &mut Batch<'_, O, R>) {
        let token = batch.token;
        self.reflector.run_with(config, batch, token).await;
    }

    /// Changes the store by events that belong together, and tells readers of the changes.
    /// `stateless` are the deletions among them whose last states were refused.
    async fn take_in(&self, events: Remains<Event<String, O>>, stateless: Vec<(String, u64)>) {
        let is_list = matches!(&events[..], [Event::ReplacedAll(_)]);
        let (untold, before, result) = self.store_all(&events);
        let is_stored = is_list && !matches!(result, Err(ApplyError::Store(_)));
        if is_stored {
            *self.runtime.lock(&self.panics) = Panics::default();
        }
        // This comes before readers are told, so that a reader that is told of a version can
        // wait for it.
        let deleted_at = stateless.iter().map(|(_, version)| *version).max();
        self.visible.gone(stateless);
        self.visible.advance(&events, result.as_ref().err());
        if let Some(version) = deleted_at {
            self.visible.advance_to(version);
        }
        if let Err(error) = result {
            crate::caught::tell(|| (self.refused)(&error));
        }
        drop_caught(before);
        drop(events);
        untold.tell().await;
        if is_stored {
            self.note_sync();
        }
    }

    /// Changes the store. Returns the changes to tell, and the replaced objects of a list, to be
    /// dropped without the lock.
    fn store_all(&self, events: &[Event<String, O>]) -> Stored<'_, O, R> {
        // What comes before the lock goes after it, also if something panics.
        let mut untold = Untold { informer: self, readers: Vec::new(), told: Line::new() };
        let deleted = OnceCell::new();
        let readers = self.lock();
        untold.readers.clone_from(&readers.feeds);
        let is_list = matches!(events, [Event::ReplacedAll(_)]);
        let initial = is_list && !readers.has_synced;
        let before = self.visible.prepare(events).then(|| self.store.list());
        let is_wanted = is_wanted(&readers.feeds);
        let deleted = deleted.get_or_init(|| self.stored_before(events));
        let tell = &mut |change| {
            let Some(change) = as_known(change, deleted) else { return };
            if before.is_none() || is_wanted(&change) {
                untold.told.push_back(mark(change, initial));
            }
        };
        let result = apply_what_can_be(events, initial, &self.store, tell);
        (untold, before, result)
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

    /// Forgets readers whose subscription is over.
    fn forget(&self, gone: &[&Shared<ObjectChange<O>, R>]) {
        if !gone.is_empty() {
            self.lock().feeds.retain(|it| !gone.iter().any(|gone| Arc::ptr_eq(gone, &it.feed)));
        }
    }

    /// Tells readers, once, that the first list is complete (`cache:PL-21`, `PL-22`).
    fn note_sync(&self) {
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

/// What a change of the store leaves to do.
type Stored<'a, O, R> =
    (Untold<'a, O, R>, Option<indexed::Snapshot<String, O>>, Result<(), ApplyError>);

/// Changes that are in the store. They are told even if the informer panics or is dropped
/// meanwhile: a later list shows them as known.
struct Untold<'a, O: Handle + Described, R: Runtime> {
    informer: &'a Informer<O, R>,
    readers: Vec<Reader<O, R>>,
    told: Line<Told<ObjectChange<O>>>,
}

impl<O: Handle + Described, R: Runtime> Untold<'_, O, R> {
    /// Tells readers of the changes, in parts: a long list must not keep this thread from its other
    /// tasks.
    async fn tell(mut self) {
        while self.tell_part() {
            pause().await;
        }
    }

    /// Tells the next part, and forgets readers whose subscription is over. Tells whether more is left.
    fn tell_part(&mut self) -> bool {
        if self.told.is_empty() {
            return false;
        }
        let part: Vec<_> = std::iter::from_fn(|| self.told.pop_front()).take(PART).collect();
        let mut gone = Vec::new();
        for reader in &self.readers {
            // A panic on the way to one reader must not keep the change from the others.
            let push = || {
                let lost = reader.feed.call(Push(reader.wanted(&part)));
                if !lost.is_empty() {
                    gone.push(&reader.feed);
                }
            };
            crate::caught::tell(push);
        }
        drop_each(part);
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
