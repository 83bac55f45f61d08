//! Reading a store.

use std::borrow::Borrow;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::runtime::Runtime;
use crate::slab::spread;
use crate::store::{Handle, Key, KeyError, KnownObjects, LookupFailed};

use super::content::Content;
use super::index::{IndexFunction, Value, Values};
use super::members::Members;
use super::slots::{Entry, Shared};
use super::{IndexError, IndexFailed, IndexedStore, Snapshot};

/// Up to this number of objects are read under the lock. For more, a shared copy is taken under the
/// lock and read afterwards.
const FEW: usize = 64;

/// Members of an index, or their objects.
enum Found<K, O, T> {
    /// The objects, read already.
    Read(Vec<T>),
    /// Members that are to be read from this copy.
    Later(Vec<Members>, Shared<K, O>),
}

impl<K: Key, O: Handle, R: Runtime> IndexedStore<K, O, R> {
    /// Returns an object.
    #[inline(always)]
    pub fn get(&self, key: &K) -> Option<O> {
        let hash = self.intake.hasher().hash(key);
        self.runtime.lock(&self.content).get(key, hash).cloned()
    }

    /// Returns the object that is stored under the key of an object.
    ///
    /// # Errors
    /// The object has no key.
    pub fn get_stored(&self, object: &O) -> Result<Option<O>, KeyError> {
        let key = self.intake.key(object)?;
        Ok(self.runtime.lock(&self.content).get(key.key(), key.hash()).cloned())
    }

    /// Returns all current objects with their keys, without copying them (`cache:ST-6`).
    pub fn list(&self) -> Snapshot<K, O> {
        self.runtime.lock(&self.content).snapshot()
    }

    /// Returns all keys, in no particular order.
    pub fn list_keys(&self) -> Vec<K> {
        self.list().collect(|entry| entry.key.clone())
    }

    /// Returns how many objects there are.
    pub fn len(&self) -> usize {
        self.runtime.lock(&self.content).len()
    }

    /// Tells whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the resource version of the content; empty if the store does not follow it
    /// (`cache:ST-12`, `ST-14`).
    pub fn last_resource_version(&self) -> String {
        self.runtime.lock(&self.content).version.clone()
    }

    /// Does nothing, and always succeeds (`cache:ST-9`).
    pub fn resync(&self) {}

    /// Returns the objects under a value, in no particular order (`cache:IX-12`).
    ///
    /// # Errors
    /// There is no index of that name.
    pub fn by_index(&self, name: &str, value: &str) -> Result<Vec<O>, IndexError> {
        let value = Value::new(value, self.intake.hasher());
        self.select(name, &[value], |entry| entry.object.clone())
    }

    /// Returns the keys under a value, sorted.
    ///
    /// # Errors
    /// There is no index of that name.
    pub fn index_keys(&self, name: &str, value: &str) -> Result<Vec<K>, IndexError>
    where
        K: Ord,
    {
        let value = Value::new(value, self.intake.hasher());
        let mut keys = self.select(name, &[value], |entry| entry.key.clone())?;
        keys.sort_unstable();
        Ok(keys)
    }

    /// Returns the objects that share a value with an object, each once. The object need not be
    /// stored (`cache:IX-11`).
    ///
    /// # Errors
    /// There is no index of that name, or its function fails on the object.
    pub fn index(&self, name: &str, object: &O) -> Result<Vec<O>, IndexError> {
        let unknown = || IndexError::Unknown(name.to_owned());
        let function = self.function(name).ok_or_else(unknown)?;
        let mut values = Values::new(self.intake.hasher().clone());
        function(object, &mut values)
            .map_err(|cause| IndexError::Failed(IndexFailed { index: name.into(), cause }))?;
        let wanted: Vec<_> = values.range(0..values.count()).collect();
        self.select(name, &wanted, |entry| entry.object.clone())
    }

    fn function(&self, name: &str) -> Option<IndexFunction<O>> {
        let content = self.runtime.lock(&self.content);
        content.index(name).map(|index| Arc::clone(&index.function))
    }

    /// Reads every object that has one of the values, once.
    fn select<T>(
        &self,
        name: &str,
        values: &[Value<'_>],
        read: impl Fn(&Entry<K, O>) -> T,
    ) -> Result<Vec<T>, IndexError> {
        let found = find(&self.runtime.lock(&self.content), name, values, &read);
        Ok(match found.ok_or_else(|| IndexError::Unknown(name.to_owned()))? {
            Found::Read(objects) => objects,
            Found::Later(members, slots) => read_all(&members, |slot| slots.get(slot), &read),
        })
    }

    /// Returns every value that has objects, in no particular order; none if there is no index of
    /// that name (`cache:IX-13`). Other calls wait while the values are copied.
    pub fn list_index_values(&self, name: &str) -> Vec<Arc<str>> {
        let content = self.runtime.lock(&self.content);
        content.index(name).map(|index| index.values().cloned().collect()).unwrap_or_default()
    }

    /// Returns names and functions of the indices (`cache:IX-17`).
    pub fn indexers(&self) -> Vec<(Arc<str>, IndexFunction<O>)> {
        let content = self.runtime.lock(&self.content);
        let indices = content.indices.iter();
        indices.map(|index| (Arc::clone(&index.name), Arc::clone(&index.function))).collect()
    }
}

/// Finds the members of values under an index; `None` if there is no such index.
fn find<K: Key, O: Handle, T>(
    content: &Content<K, O>,
    name: &str,
    values: &[Value<'_>],
    read: impl Fn(&Entry<K, O>) -> T,
) -> Option<Found<K, O, T>> {
    let index = content.index(name)?;
    let members: Vec<&Members> = values.iter().filter_map(|value| index.members(*value)).collect();
    if members.iter().map(|members| members.len()).sum::<usize>() <= FEW {
        return Some(Found::Read(read_all(&members, |slot| content.slots().get(slot), read)));
    }
    Some(Found::Later(members.into_iter().cloned().collect(), content.copy_slots()))
}

/// Reads members, each once.
fn read_all<'s, K: 's, O: 's, T, M: Borrow<Members>>(
    members: &[M],
    stored: impl Fn(u32) -> Option<&'s Entry<K, O>>,
    read: impl Fn(&Entry<K, O>) -> T,
) -> Vec<T> {
    let mut objects = Vec::with_capacity(members.iter().map(|some| some.borrow().len()).sum());
    if let [only] = members {
        only.borrow().for_each(|slot| objects.extend(stored(slot).map(&read)));
        return objects;
    }
    let mut seen: HashTable<u32> = HashTable::with_capacity(objects.capacity());
    for some in members {
        some.borrow().for_each(|slot| {
            if seen.find(spread(slot), |other| *other == slot).is_none() {
                seen.insert_unique(spread(slot), slot, |other| spread(*other));
                objects.extend(stored(slot).map(&read));
            }
        });
    }
    objects
}

impl<K: Key, O: Handle, R: Runtime> KnownObjects<K, O> for IndexedStore<K, O, R> {
    fn keys(&self) -> Vec<K> {
        self.list_keys()
    }

    fn get(&self, key: &K) -> Result<Option<O>, LookupFailed> {
        Ok(self.get(key))
    }
}
