//! The calls of writers, and the mistakes in them.

use std::collections::BTreeSet;

use seatrial_core::delta_fifo::{Delete, Delta, POPPERS, Put, Replace, Verb};
use seatrial_core::machine::Wakes;
use seatrial_core::store::{EnqueueError, Handle, Key, KnownObjects, LastState};

use super::MapAndKeys;

impl<K: Key + Ord, O: Handle, N: KnownObjects<K, O>> MapAndKeys<K, O, N> {
    /// Queues a change other than a deletion, unless its object was refused.
    pub(super) fn put(
        &mut self,
        put: &mut Put<K, O>,
        wakes: &mut Wakes,
    ) -> Result<(), EnqueueError> {
        let refused = matches!(put.object, Some(Err(_)));
        let ignored = refused && self.makes("refused_put_is_no_write");
        if !ignored && !self.makes("put_is_no_write") {
            self.populate(0, wakes);
        }
        let (Some(object), key) = (put.object.take().transpose()?, put.key.take()) else {
            return Ok(());
        };
        let Some(key) = key else { return Ok(()) };
        let known = || self.known.as_ref().is_some_and(|known| is_there(known, key.key()));
        let corrected = self.makes("verb_is_corrected") && known();
        let delta = match put.verb {
            Verb::Add if !corrected => Delta::Added(object),
            _ => Delta::Updated(object),
        };
        self.enqueue(key.into_key(), delta, wakes);
        Ok(())
    }

    /// Queues a deletion of an object that may exist (`cache:DF-9`).
    pub(super) fn delete(
        &mut self,
        delete: &mut Delete<K, O>,
        wakes: &mut Wakes,
    ) -> Result<(), EnqueueError> {
        let Some(key) = delete.key.take().map(|key| key.into_key()) else { return Ok(()) };
        let exists = self.may_exist(&key);
        if exists || !self.makes("ignored_deletion_is_no_write") {
            self.populate(0, wakes);
        }
        let Some(last) = delete.last.take().filter(|_| exists).transpose()? else {
            return Ok(());
        };
        if self.makes("delete_takes_the_entry") {
            self.items.remove(&key);
            self.queue.retain(|queued| *queued != key);
        } else {
            self.enqueue(key, Delta::Deleted(last), wakes);
        }
        Ok(())
    }

    fn may_exist(&self, key: &K) -> bool {
        let known = self.known.as_ref().is_some_and(|known| match known.get(key) {
            Ok(found) => found.is_some(),
            Err(_) => !self.makes("failed_lookup_is_absence"),
        });
        let pending = self.items.contains_key(key);
        if self.makes("delete_asks_nobody") {
            return true;
        }
        if self.makes("delete_asks_the_store_only") && self.known.is_some() {
            return known;
        }
        pending || (known && !self.makes("delete_asks_the_queue_only"))
    }

    /// Queues a list (`cache:DF-12`), or the part of it in front of a refused object.
    pub(super) fn replace(
        &mut self,
        replace: &mut Replace<K, O>,
        wakes: &mut Wakes,
    ) -> Result<(), EnqueueError> {
        if self.makes("list_clears_pending") {
            self.items.clear();
            self.queue.clear();
        }
        let objects = std::mem::take(&mut replace.objects);
        let (listed_objects, mut listed) = (objects.len(), BTreeSet::new());
        for keyed in objects {
            let replaced = self.emit_replaced && !self.makes("list_looks_like_resync");
            let show = if replaced { Delta::Replaced } else { Delta::Sync };
            listed.insert(keyed.key.key().clone());
            self.enqueue(keyed.key.into_key(), show(keyed.object), wakes);
        }
        let refused = replace.refused.take();
        if refused.is_some() && self.makes("refused_list_counts") {
            self.populate(self.queue.len(), wakes);
        }
        if refused.is_none() || self.makes("refused_list_deletes") {
            let deletions = self.delete_unlisted(&listed, wakes);
            self.count_list(listed_objects, listed.len(), deletions, wakes);
        }
        refused.map_or(Ok(()), Err)
    }

    /// Queues tombstones for objects that are pending or known and not listed; returns how many.
    fn delete_unlisted(&mut self, listed: &BTreeSet<K>, wakes: &mut Wakes) -> usize {
        let mut gone = Vec::new();
        if !self.makes("pending_is_not_compared") {
            for key in self.queue.iter().filter(|key| !listed.contains(*key)) {
                gone.push((key.clone(), self.newest_object(key)));
            }
        }
        for key in self.known_keys() {
            let pending = self.items.contains_key(&key) && !self.makes("pending_is_not_compared");
            if listed.contains(&key) || pending || self.makes("known_is_not_compared") {
                continue;
            }
            let found = self.known.as_ref().and_then(|known| known.get(&key).ok().flatten());
            if found.is_some() || !self.makes("no_tombstone_without_lookup") {
                gone.push((key, found));
            }
        }
        if self.makes("listed_and_unknown_is_deleted") {
            let known: BTreeSet<_> = self.known_keys().into_iter().collect();
            gone = listed.difference(&known).map(|key| (key.clone(), None)).collect();
        }
        let deletions = gone.len();
        for (key, object) in gone {
            self.enqueue(key.clone(), Delta::Deleted(LastState::unknown(key, object)), wakes);
        }
        deletions
    }

    fn newest_object(&self, key: &K) -> Option<O> {
        let known = self.known.as_ref().and_then(|known| known.get(key).ok().flatten());
        if self.makes("tombstone_from_the_store") && known.is_some() {
            return known;
        }
        match self.items.get(key)?.last()? {
            Delta::Deleted(last)
                if last.is_tombstone() && self.makes("tombstone_in_a_tombstone") =>
            {
                None
            }
            newest => newest.object().cloned(),
        }
    }

    fn count_list(&mut self, objects: usize, keys: usize, deletions: usize, wakes: &mut Wakes) {
        let listed = if self.makes("batch_counts_objects") { objects } else { keys };
        let deleted = if self.makes("batch_without_deletions") { 0 } else { deletions };
        if self.makes("every_list_counts") && self.populated {
            self.initial = listed + deleted;
        }
        self.populate(listed + deleted, wakes);
    }

    /// Shows the objects that are known and not pending (`cache:DF-21`).
    pub(super) fn resync(&mut self, wakes: &mut Wakes) {
        if self.makes("resync_shows_nothing") {
            return;
        }
        if self.makes("resync_is_a_write") {
            self.populate(0, wakes);
        }
        for key in self.known_keys() {
            let pending = self.items.contains_key(&key) && !self.makes("resync_over_pending");
            let found = self.known.as_ref().and_then(|known| known.get(&key).ok().flatten());
            match found.filter(|_| !pending) {
                Some(object) => self.enqueue(key, Delta::Sync(object), wakes),
                None if !pending && self.makes("resync_deletes_the_unreadable") => {
                    let gone = LastState::unknown(key.clone(), None);
                    self.enqueue(key, Delta::Deleted(gone), wakes);
                }
                None => {}
            }
        }
    }

    fn known_keys(&self) -> Vec<K> {
        self.known.as_ref().map(KnownObjects::keys).unwrap_or_default()
    }

    fn enqueue(&mut self, key: K, delta: Delta<K, O>, wakes: &mut Wakes) {
        let deleted = self.items.get(&key).and_then(|deltas| deltas.last());
        let deleted = deleted.is_some_and(Delta::is_deleted);
        let dropped = match delta {
            Delta::Sync(_) => deleted && self.makes("sync_lost_behind_deletion"),
            Delta::Replaced(_) => deleted && self.makes("listed_object_lost_behind_deletion"),
            _ => false,
        };
        if dropped || (self.closed && self.makes("close_gates_writers")) {
            return;
        }
        let pending = self.items.contains_key(&key);
        if pending && self.makes("change_moves_to_the_tail") {
            self.queue.retain(|queued| *queued != key);
            self.queue.push_back(key.clone());
        }
        if !pending || self.makes("queued_for_every_change") {
            self.queue.push_back(key.clone());
            wakes.one(POPPERS);
        }
        self.append(key, delta);
    }

    /// Appends a change and compresses the tail (`cache:DF-5`, `DF-6`).
    fn append(&mut self, key: K, delta: Delta<K, O>) {
        let mut deltas = self.items.remove(&key).unwrap_or_default();
        let adjacent = deltas.last().is_some_and(Delta::is_deleted);
        if self.makes("deduplicates_across_changes") && delta.is_deleted() && !adjacent {
            deltas.retain(|earlier| !earlier.is_deleted());
        }
        let cancels = delta.is_deleted() && matches!(deltas.as_slice(), [Delta::Added(_)]);
        if cancels && self.makes("deletion_cancels_addition") {
            self.items.insert(key, Vec::new());
            return;
        }
        if self.makes("deletion_forgets_history") && delta.is_deleted() {
            deltas.clear();
        }
        if self.makes("updates_are_merged") && matches!(delta, Delta::Updated(_)) {
            deltas.pop_if(|earlier| matches!(earlier, Delta::Updated(_)));
        }
        deltas.push(delta);
        if let [.., Delta::Deleted(older), Delta::Deleted(_)] = deltas.as_slice()
            && !self.makes("no_deduplication")
        {
            let newer_wins = !self.makes("older_tombstone_wins")
                && (older.is_tombstone() || self.makes("newer_deletion_wins"));
            let dropped = deltas.len() - if newer_wins { 2 } else { 1 };
            deltas.remove(dropped);
        }
        self.items.insert(key, deltas);
    }
}

fn is_there<K, O>(known: &impl KnownObjects<K, O>, key: &K) -> bool {
    matches!(known.get(key), Ok(Some(_)))
}
