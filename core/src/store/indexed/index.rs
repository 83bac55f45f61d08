//! Indices of a store: they find objects by value.

use std::fmt;
use std::sync::Arc;

use crate::slab::{Stands, Table};
use crate::store::{Cause, KeyHasher};

use super::members::Members;

/// Adds the values of an object to [`Values`]; the object is found under each of them. It must be
/// pure (`cache:IX-5`) and must not write to the store that calls it.
pub type IndexFunction<O> = Arc<dyn Fn(&O, &mut Values) -> Result<(), Cause> + Send + Sync>;

/// Makes an index function from a function that returns the values as a list.
pub fn index_by<O, I>(values_of: impl Fn(&O) -> I + Send + Sync + 'static) -> IndexFunction<O>
where
    I: IntoIterator<Item: AsRef<str>>,
{
    Arc::new(move |object, values| {
        values_of(object).into_iter().for_each(|value| values.add(value.as_ref()));
        Ok(())
    })
}

/// Makes an index function from a function that returns the only value, if there is one. The value
/// is borrowed from the object, so only the value itself is copied, into [`Values`].
///
/// ```
/// use std::sync::Arc;
///
/// use seatrial_core::runtime::System;
/// use seatrial_core::store::{IndexedStore, index_by_one};
///
/// #[derive(Debug)]
/// struct Pod {
///     name: String,
///     node: Option<String>,
/// }
/// let pods = IndexedStore::new(&System::new(), |pod: &Arc<Pod>| Ok(pod.name.clone()));
/// pods.add_indexers([("node", index_by_one(|pod: &Arc<Pod>| pod.node.as_deref()))])?;
/// pods.add(Arc::new(Pod { name: "web".to_owned(), node: Some("n1".to_owned()) }))?;
/// pods.add(Arc::new(Pod { name: "waiting".to_owned(), node: None }))?;
/// assert_eq!(pods.index_keys("node", "n1")?, ["web"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn index_by_one<O>(
    value_of: impl for<'a> Fn(&'a O) -> Option<&'a str> + Send + Sync + 'static,
) -> IndexFunction<O> {
    Arc::new(move |object, values| {
        value_of(object).into_iter().for_each(|value| values.add(value));
        Ok(())
    })
}

/// Makes a key function from an index function: the key of an object is its only value
/// (`cache:KY-11`).
pub fn key_by_index<K: From<String>, O>(
    function: IndexFunction<O>,
) -> impl Fn(&O) -> Result<K, Cause> + Send + Sync {
    move |object| {
        let mut values = Values::new(KeyHasher::fixed(0));
        function(object, &mut values)?;
        match values.distinct().as_slice() {
            [only] => Ok(K::from(only.text.to_owned())),
            several => Err(Arc::new(NotOneValue(several.len()))),
        }
    }
}

/// An object has no value under an index, or several, so it has no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotOneValue(pub usize);

impl fmt::Display for NotOneValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the object has {} values under the index, not one", self.0)
    }
}

impl std::error::Error for NotOneValue {}

/// Values of objects, collected in one buffer.
pub struct Values {
    text: String,
    /// The end of each value in the text, and its hash.
    ends: Vec<(usize, u32)>,
    hasher: KeyHasher,
}

/// More room than this is given back after a write.
pub(super) const KEPT: usize = 1024;

impl Values {
    pub(crate) fn new(hasher: KeyHasher) -> Self {
        Self { text: String::new(), ends: Vec::new(), hasher }
    }

    /// Adds a value. Adding it twice has no further effect. An object without values is under none
    /// (`cache:IX-7`).
    #[inline]
    pub fn add(&mut self, value: &str) {
        self.text.push_str(value);
        self.ends.push((self.text.len(), self.hasher.hash(value)));
    }

    /// Tells whether a value was added.
    pub fn contains(&self, value: &str) -> bool {
        self.range(0..self.count()).any(|other| other.text == value)
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(KEPT);
        self.ends.clear();
        self.ends.shrink_to(KEPT);
    }

    /// Returns how many values there are.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns a value by its number.
    #[inline(always)]
    fn get(&self, number: usize) -> Value<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, hash) = self.ends[number];
        Value { text: &self.text[start..end], hash }
    }

    /// Returns every value once.
    pub(super) fn distinct(&self) -> Vec<Value<'_>> {
        let mut values: Vec<_> = self.range(0..self.count()).collect();
        values.sort_unstable_by_key(|value| value.text);
        values.dedup();
        values
    }

    /// Returns the values with these numbers.
    pub(super) fn range(
        &self,
        numbers: std::ops::Range<usize>,
    ) -> impl ExactSizeIterator<Item = Value<'_>> {
        numbers.map(|number| self.get(number))
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.range(0..self.count()).map(|value| value.text)).finish()
    }
}

/// A value and its hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value<'a> {
    text: &'a str,
    hash: u32,
}

impl<'a> Value<'a> {
    pub(super) fn new(text: &'a str, hasher: &KeyHasher) -> Self {
        Self { text, hash: hasher.hash(text) }
    }
}

/// The objects under one value. There is at least one: a value without objects is removed
/// (`cache:IX-6`).
#[derive(Debug)]
struct Bucket {
    value: Arc<str>,
    hash: u32,
    members: Members,
}

impl Stands for Bucket {
    fn hash(&self) -> u32 {
        self.hash
    }
}

/// One index: its name, its function, and the slots under every value.
pub(super) struct Index<O> {
    pub(super) name: Arc<str>,
    pub(super) function: IndexFunction<O>,
    buckets: Table<Bucket>,
}

impl<O> Index<O> {
    pub(super) fn new(name: Arc<str>, function: IndexFunction<O>) -> Self {
        Self { name, function, buckets: Table::new() }
    }

    pub(super) fn members(&self, value: Value<'_>) -> Option<&Members> {
        let same = |bucket: &Bucket| *bucket.value == *value.text;
        self.buckets.find(value.hash, same).map(|bucket| &bucket.members)
    }

    /// Visits the values that have objects.
    pub(super) fn values(&self) -> impl Iterator<Item = &Arc<str>> {
        self.buckets.iter().map(|bucket| &bucket.value)
    }

    pub(super) fn for_each_bucket(&self, mut visit: impl FnMut(&Members)) {
        self.buckets.iter().for_each(|bucket| visit(&bucket.members));
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, value: Value<'_>, slot: u32) {
        let same = |bucket: &Bucket| *bucket.value == *value.text;
        match self.buckets.find_mut(value.hash, same) {
            Some(bucket) => bucket.members.insert(slot),
            None => self.insert_first(value, slot),
        }
    }

    #[inline(never)]
    fn insert_first(&mut self, Value { text, hash }: Value<'_>, slot: u32) {
        self.buckets.insert(Bucket { value: text.into(), hash, members: Members::One(slot) });
    }

    pub(super) fn remove(&mut self, value: Value<'_>, slot: u32) {
        let same = |bucket: &Bucket| *bucket.value == *value.text;
        if let Some(bucket) = self.buckets.find_mut(value.hash, same)
            && !bucket.members.remove(slot)
        {
            self.buckets.remove(value.hash, same);
        }
    }
}

impl<O> fmt::Debug for Index<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_shows_its_name() {
        let index = Index::new("node".into(), index_by(|name: &&str| [*name]));
        assert!(format!("{index:?}").contains(r#"name: "node""#), "{index:?}");
    }

    #[test]
    fn values_that_are_cleared_give_back_the_memory_of_very_many() {
        let mut values = Values::new(KeyHasher::fixed(0));
        (0..10_000).for_each(|number: u32| values.add(&number.to_string()));
        assert!(values.text.capacity() > KEPT && values.ends.capacity() > KEPT);
        values.clear();
        assert!(values.text.capacity() <= KEPT && values.ends.capacity() <= KEPT);
    }
}
