//! How writes are prepared: all foreign code - index functions - runs here, under the writers'
//! lock, before anything changes.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::slab::spread;
use crate::store::{Handle, Hashed, Key, KeyHasher};

use super::IndexFailed;
use super::index::{Index, IndexFunction, KEPT, Values};
use super::slots::Shared;

/// The new object of a key, or its removal.
#[derive(Debug)]
pub(super) struct Change<K, O> {
    pub(super) key: Hashed<K>,
    pub(super) object: Option<O>,
}

/// The values of an object under one index before and after a change, as numbers into [`Values`].
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
}

/// The state that the writers' lock guards. Its buffers are reused from one write to the next.
pub(super) struct Writer<O> {
    functions: Vec<(Arc<str>, IndexFunction<O>)>,
    pub(super) values: Values,
    /// One span per change and index.
    pub(super) spans: Vec<Span>,
    /// The new version of the store, if a write sets one.
    pub(super) version: String,
}

impl<O: Handle> Writer<O> {
    pub(super) fn new(hasher: KeyHasher) -> Self {
        Self {
            functions: Vec::new(),
            values: Values::new(hasher),
            spans: Vec::new(),
            version: String::new(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.functions.iter().any(|(known, _)| **known == *name)
    }

    pub(super) fn functions(&self) -> &[(Arc<str>, IndexFunction<O>)] {
        &self.functions
    }

    pub(super) fn adopt(&mut self, index: &Index<O>) {
        self.functions.push((Arc::clone(&index.name), Arc::clone(&index.function)));
    }

    /// Computes the values of every change. `before` has the objects that are stored now.
    pub(super) fn plan<K: Key>(
        &mut self,
        changes: &[Change<K, O>],
        before: &[Option<O>],
    ) -> Result<(), IndexFailed> {
        self.begin();
        if self.functions.is_empty() {
            return Ok(());
        }
        let earlier = earlier_changes(changes);
        for (number, change) in changes.iter().enumerate() {
            let old = match earlier[number] {
                Some(earlier) => changes[earlier].object.as_ref(),
                None => before[number].as_ref(),
            };
            let first = self.plan_after(change.object.as_ref())?;
            self.plan_before(first, old)?;
        }
        Ok(())
    }

    /// Forgets the values of the previous write, and gives back the memory of a large one.
    pub(super) fn begin(&mut self) {
        self.values.clear();
        self.spans.clear();
        self.spans.shrink_to(KEPT);
    }

    /// Computes the values of a change's new object. Returns the number of its first span.
    pub(super) fn plan_after(&mut self, new: Option<&O>) -> Result<usize, IndexFailed> {
        let first = self.spans.len();
        for (name, function) in &self.functions {
            let after = call(name, function, new, &mut self.values)?;
            self.spans.push(Span { before: 0..0, after });
        }
        Ok(first)
    }

    /// Computes the values of a change's old object; `first` is the number of its first span.
    pub(super) fn plan_before(&mut self, first: usize, old: Option<&O>) -> Result<(), IndexFailed> {
        for ((name, function), span) in self.functions.iter().zip(&mut self.spans[first..]) {
            span.before = call(name, function, old, &mut self.values)?;
        }
        Ok(())
    }

    /// Computes all indices over the objects in slots.
    pub(super) fn indices<K>(
        &mut self,
        slots: &Shared<K, O>,
    ) -> Result<Vec<Index<O>>, IndexFailed> {
        let functions = self.functions.clone();
        functions.into_iter().map(|(name, function)| self.index(name, function, slots)).collect()
    }

    /// Computes an index over the objects in slots.
    pub(super) fn index<K>(
        &mut self,
        name: Arc<str>,
        function: IndexFunction<O>,
        slots: &Shared<K, O>,
    ) -> Result<Index<O>, IndexFailed> {
        let mut index = Index::new(name, function);
        for (slot, entry) in slots.iter() {
            self.values.clear();
            let all = call(&index.name, &index.function, Some(&entry.object), &mut self.values)?;
            self.values.range(all).for_each(|value| index.insert(value, slot));
        }
        Ok(index)
    }
}

/// Calls an index function for an object, if there is one. Returns the numbers of its values.
fn call<O>(
    name: &Arc<str>,
    function: &IndexFunction<O>,
    object: Option<&O>,
    values: &mut Values,
) -> Result<Range<usize>, IndexFailed> {
    let first = values.count();
    if let Some(object) = object {
        function(object, values).map_err(|cause| IndexFailed { index: Arc::clone(name), cause })?;
    }
    Ok(first..values.count())
}

/// Returns, for every change, the number of the last earlier change of the same key.
fn earlier_changes<K: Key, O>(changes: &[Change<K, O>]) -> Vec<Option<usize>> {
    let mut last: HashTable<usize> = HashTable::with_capacity(changes.len());
    let hash_of = |&number: &usize| spread(changes[number].key.hash());
    let mut earlier = Vec::with_capacity(changes.len());
    for (number, change) in changes.iter().enumerate() {
        let same = |&other: &usize| changes[other].key == change.key;
        match last.find_mut(hash_of(&number), same) {
            Some(found) => earlier.push(Some(std::mem::replace(found, number))),
            None => {
                last.insert_unique(hash_of(&number), number, hash_of);
                earlier.push(None);
            }
        }
    }
    earlier
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::indexed::index_by;

    #[test]
    fn a_plan_keeps_nothing_of_the_one_before() {
        let hasher = KeyHasher::fixed(0);
        let mut writer = Writer::new(hasher.clone());
        writer.adopt(&Index::new(
            "by length".into(),
            index_by(|name: &&str| [name.len().to_string()]),
        ));
        for _ in 0..2 {
            let change = Change { key: hasher.hashed("a"), object: Some("new") };
            writer.plan(&[change], &[Some("old")]).unwrap();
            assert_eq!((writer.values.count(), writer.spans.len()), (2, 1));
        }
    }
}
