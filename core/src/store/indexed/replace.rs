//! Replacing the content of a store by a list.

use crate::caught::{drop_caught, drop_each};
use crate::runtime::Runtime;
use crate::store::{Handle, Key, KeyHasher};

use super::content::Content;
use super::slots::Shared;
use super::{IndexedStore, StoreError};

/// The old objects, as seen when a list became the content.
pub(crate) struct Replaced<K, O> {
    /// For each object of the list, the object that was stored under its key.
    pub(crate) before: Vec<Option<O>>,
    /// The old objects that are not in the list.
    pub(crate) gone: Vec<(K, O)>,
}

impl<K: Key, O: Handle, R: Runtime> IndexedStore<K, O, R> {
    /// Replaces the content by a list that was read at a resource version. If a key occurs twice,
    /// the last object counts (`cache:ST-7`, `ST-8`).
    ///
    /// # Errors
    /// An object has no key, or the transformer or an index function refused it. Nothing has
    /// changed.
    pub fn replace(&self, objects: Vec<O>, resource_version: &str) -> Result<(), StoreError> {
        self.replace_after(objects, resource_version, |_, _, _| ())
    }

    /// As [`replace`](Self::replace). Returns the objects that were stored before.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub(crate) fn replace_and_compare(
        &self,
        objects: Vec<O>,
        resource_version: &str,
    ) -> Result<Replaced<K, O>, StoreError> {
        let mut replaced = Replaced { before: Vec::new(), gone: Vec::new() };
        self.replace_after(objects, resource_version, |listed, slots, stored| {
            replaced.compare(listed, slots, stored, self.intake.hasher());
        })?;
        Ok(replaced)
    }

    /// Replaces the content. Before that, `look` sees the list, its slots, and the stored objects.
    fn replace_after(
        &self,
        objects: Vec<O>,
        resource_version: &str,
        look: impl FnOnce(&Content<K, O>, &[u32], &Shared<K, O>),
    ) -> Result<(), StoreError> {
        let (mut content, mut doubles) = (Content::with_room(objects.len()), Vec::new());
        let mut slots = Vec::with_capacity(objects.len());
        for object in objects {
            slots.push(content.put_listed(self.intake.keyed(object)?, |gone| doubles.push(gone)));
        }
        let mut writer = self.runtime.lock(&self.writer);
        content.indices = writer.indices(&content.copy_slots())?;
        if self.version_of.is_some() {
            resource_version.clone_into(&mut content.version);
        }
        // No one writes meanwhile, so the content may be read without the readers' lock.
        let stored = self.runtime.lock(&self.content).copy_slots();
        look(&content, &slots, &stored);
        drop(stored);
        std::mem::swap(&mut *self.runtime.lock(&self.content), &mut content);
        drop(writer);
        drop_caught(content); // the old content, outside the locks
        drop_each(doubles);
        Ok(())
    }
}

impl<K: Key, O: Handle> Replaced<K, O> {
    fn compare(
        &mut self,
        listed: &Content<K, O>,
        slots: &[u32],
        stored: &Shared<K, O>,
        hasher: &KeyHasher,
    ) {
        // The slots of new content are numbered without gaps.
        let mut before = vec![None; listed.len()];
        for (_, entry) in stored.iter() {
            match listed.slot(&entry.key, hasher.hash(&entry.key)) {
                Some(slot) => before[slot as usize] = Some(entry.object.clone()),
                None => self.gone.push((entry.key.clone(), entry.object.clone())),
            }
        }
        self.before.extend(slots.iter().map(|&slot| before[slot as usize].clone()));
    }
}
