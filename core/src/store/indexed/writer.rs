//! How writes are prepared: all foreign code - index functions - runs here, under the writers'
//! lock, before anything changes.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::store::{Handle, Hashed, Key, KeyHasher, spread};

use super::IndexFailed;
use super::index::{Index, IndexFunction, Values};
use super::slots::Slots;

/// What is to become of a key: a new object, or none.
#[derive(Debug)]
pub(super) struct Change<K, O> {
    pub(super) key: Hashed<K>,
    pub(super) object: Option<O>,
}

/// The values of an object under one index, before and after a change, as numbers of [`Values`].
#[derive(Clone, Debug)]
pub(super) struct Span {
    start: usize,
    middle: usize,
    end: usize,
}

impl Span {
    pub(super) fn before(&self) -> Range<usize> {
        self.start..self.middle
    }

    pub(super) fn after(&self) -> Range<usize> {
        self.middle..self.end
    }
}

/// What lies under the writers' lock. The buffers are kept from one write to the next.
pub(super) struct Writer<O> {
    functions: Vec<(Arc<str>, IndexFunction<O>)>,
    pub(super) values: Values,
    /// One span per change and index.
    pub(super) spans: Vec<Span>,
    /// The version that a write sets, if it sets one.
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

    /// Computes the values of every change. `before` are the objects that are stored now.
    pub(super) fn plan<K: Key>(
        &mut self,
        changes: &[Change<K, O>],
        before: &[Option<O>],
    ) -> Result<(), IndexFailed> {
        self.values.clear();
        self.spans.clear();
        if self.functions.is_empty() {
            return Ok(());
        }
        let earlier = earlier_changes(changes);
        for (number, change) in changes.iter().enumerate() {
            let old = match earlier.get(number).copied().flatten() {
                Some(earlier) => changes[earlier].object.as_ref(),
                None => before[number].as_ref(),
            };
            for (name, function) in &self.functions {
                let start = self.values.count();
                call(name, function, old, &mut self.values)?;
                let middle = self.values.count();
                call(name, function, change.object.as_ref(), &mut self.values)?;
                self.spans.push(Span { start, middle, end: self.values.count() });
            }
        }
        Ok(())
    }

    /// Computes an index over what is in slots.
    pub(super) fn index<K>(
        &mut self,
        name: Arc<str>,
        function: IndexFunction<O>,
        slots: &Slots<K, O>,
    ) -> Result<Index<O>, IndexFailed> {
        let mut index = Index::new(name, function);
        for (slot, entry) in slots.iter() {
            self.values.clear();
            call(&index.name, &index.function, Some(&entry.object), &mut self.values)?;
            for value in self.values.range(0..self.values.count()) {
                index.insert(value, slot);
            }
        }
        Ok(index)
    }
}

fn call<O>(
    name: &Arc<str>,
    function: &IndexFunction<O>,
    object: Option<&O>,
    values: &mut Values,
) -> Result<(), IndexFailed> {
    let Some(object) = object else { return Ok(()) };
    function(object, values).map_err(|cause| IndexFailed { index: Arc::clone(name), cause })
}

/// For every change, the number of the last one before it of the same key. Empty if there is only
/// one change.
fn earlier_changes<K: Key, O>(changes: &[Change<K, O>]) -> Vec<Option<usize>> {
    if changes.len() < 2 {
        return Vec::new();
    }
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
