//! The indexed store: a map of objects, and per index a map of sets of keys.

use std::sync::Arc;

use parking_lot::RwLock;

use super::{HashMap, HashSet, Hashing};
use crate::measure::Key;
use crate::objects::Object;

type IndexFunction = fn(&Object) -> Vec<Arc<str>>;

struct Index<S> {
    name: &'static str,
    function: IndexFunction,
    keys: HashMap<Arc<str>, HashSet<Key, S>, S>,
}

#[derive(Default)]
struct Inside<S> {
    items: HashMap<Key, Arc<Object>, S>,
    indices: Vec<Index<S>>,
}

#[derive(Default)]
pub(crate) struct Plain<S> {
    inside: RwLock<Inside<S>>,
}

impl<S: Hashing> Index<S> {
    fn update(&mut self, old: Option<&Arc<Object>>, new: &Arc<Object>) {
        let before = old.map(|old| (self.function)(old)).unwrap_or_default();
        let values = (self.function)(new);
        if before == values {
            return;
        }
        for value in before {
            if let Some(keys) = self.keys.get_mut(&value) {
                keys.remove(&new.key);
                if keys.is_empty() {
                    self.keys.remove(&value);
                }
            }
        }
        for value in values {
            self.keys.entry(value).or_default().insert(Arc::clone(&new.key));
        }
    }
}

impl<S: Hashing> Plain<S> {
    pub(crate) fn with_indices(indices: &[(&'static str, IndexFunction)]) -> Self {
        let index = |(name, function): &(&'static str, IndexFunction)| Index {
            name,
            function: *function,
            keys: HashMap::default(),
        };
        let indices = indices.iter().map(index).collect();
        Self { inside: RwLock::new(Inside { items: HashMap::default(), indices }) }
    }

    pub(crate) fn add(&self, object: Arc<Object>) {
        let mut inside = self.inside.write();
        let old = inside.items.insert(Arc::clone(&object.key), Arc::clone(&object));
        inside.indices.iter_mut().for_each(|index| index.update(old.as_ref(), &object));
    }

    #[inline(always)] // as ours
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Object>> {
        self.inside.read().items.get(key).cloned()
    }

    pub(crate) fn list(&self) -> Vec<Arc<Object>> {
        self.inside.read().items.values().cloned().collect()
    }

    pub(crate) fn by_index(&self, name: &str, value: &str) -> Vec<Arc<Object>> {
        let inside = self.inside.read();
        let index = inside.indices.iter().find(|index| index.name == name);
        let keys = index.and_then(|index| index.keys.get(value));
        let found = keys.into_iter().flatten().filter_map(|key| inside.items.get(key).cloned());
        found.collect()
    }

    pub(crate) fn replace(&self, list: Vec<Arc<Object>>) {
        let items = list.into_iter().map(|object| (Arc::clone(&object.key), object));
        let items: HashMap<_, _, S> = items.collect();
        let mut inside = self.inside.write();
        let Inside { items: held, indices } = &mut *inside;
        *held = items;
        indices.iter_mut().for_each(|index| index.keys = HashMap::default());
        for object in held.values() {
            indices.iter_mut().for_each(|index| index.update(None, object));
        }
    }
}
