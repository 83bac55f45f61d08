//! An ordered map that is copied in one step and shares what has not changed since.
//!
//! A treap whose nodes are behind [`Arc`]: a write copies the path to the node it changes if a copy
//! of the map shares it, and nothing otherwise.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

type Link<K, V> = Option<Arc<Node<K, V>>>;

#[derive(Clone, Debug)]
struct Node<K, V> {
    key: K,
    value: V,
    priority: u64,
    left: Link<K, V>,
    right: Link<K, V>,
}

/// The map.
#[derive(Clone, Debug)]
pub(crate) struct Map<K, V> {
    root: Link<K, V>,
    len: usize,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { root: None, len: 0 }
    }
}

impl<K: Ord + Hash + Clone, V: Clone> Map<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let mut link = &self.root;
        while let Some(node) = link {
            link = match key.cmp(node.key.borrow()) {
                Ordering::Less => &node.left,
                Ordering::Greater => &node.right,
                Ordering::Equal => return Some(&node.value),
            };
        }
        None
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.get(key)?;
        let mut link = &mut self.root;
        while let Some(node) = link {
            let node = Arc::make_mut(node);
            link = match key.cmp(node.key.borrow()) {
                Ordering::Less => &mut node.left,
                Ordering::Greater => &mut node.right,
                Ordering::Equal => return Some(&mut node.value),
            };
        }
        None
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        // The shape depends on the keys alone, so equal maps are equal in cost too.
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let old = insert(&mut self.root, key, value, hasher.finish());
        self.len += usize::from(old.is_none());
        old
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        self.get(key)?;
        let old = remove(&mut self.root, key);
        self.len -= usize::from(old.is_some());
        old
    }

    pub(crate) fn first(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { stack: Vec::new() };
        iter.descend(&self.root);
        iter
    }

    /// The entries whose keys come after `key`, in order.
    pub(crate) fn after(&self, key: &K) -> Iter<'_, K, V> {
        let (mut iter, mut link) = (Iter { stack: Vec::new() }, &self.root);
        while let Some(node) = link {
            if node.key > *key {
                iter.stack.push(node);
                link = &node.left;
            } else {
                link = &node.right;
            }
        }
        iter
    }
}

fn insert<K: Ord + Clone, V: Clone>(
    link: &mut Link<K, V>,
    key: K,
    value: V,
    priority: u64,
) -> Option<V> {
    let Some(shared) = link else {
        *link = Some(Arc::new(Node { key, value, priority, left: None, right: None }));
        return None;
    };
    let node = Arc::make_mut(shared);
    let (old, rises_left) = match key.cmp(&node.key) {
        Ordering::Equal => return Some(std::mem::replace(&mut node.value, value)),
        Ordering::Less => (insert(&mut node.left, key, value, priority), true),
        Ordering::Greater => (insert(&mut node.right, key, value, priority), false),
    };
    let child = if rises_left { &node.left } else { &node.right };
    if child.as_ref().is_some_and(|child| child.priority > node.priority) {
        rotate(link, rises_left);
    }
    old
}

/// Puts the left (or right) child above its parent.
fn rotate<K: Clone, V: Clone>(link: &mut Link<K, V>, left: bool) {
    let Some(mut parent) = link.take() else { return };
    let node = Arc::make_mut(&mut parent);
    let taken = if left { node.left.take() } else { node.right.take() };
    let Some(mut child) = taken else {
        *link = Some(parent);
        return;
    };
    let raised = Arc::make_mut(&mut child);
    if left {
        node.left = raised.right.take();
        raised.right = Some(parent);
    } else {
        node.right = raised.left.take();
        raised.left = Some(parent);
    }
    *link = Some(child);
}

fn remove<K: Ord + Clone, V: Clone>(link: &mut Link<K, V>, key: &K) -> Option<V> {
    let node = Arc::make_mut(link.as_mut()?);
    match key.cmp(&node.key) {
        Ordering::Less => remove(&mut node.left, key),
        Ordering::Greater => remove(&mut node.right, key),
        Ordering::Equal => {
            let (left, right) = (node.left.take(), node.right.take());
            let value = node.value.clone();
            *link = merge(left, right);
            Some(value)
        }
    }
}

fn merge<K: Clone, V: Clone>(left: Link<K, V>, right: Link<K, V>) -> Link<K, V> {
    match (left, right) {
        (None, other) | (other, None) => other,
        (Some(mut left), Some(mut right)) => Some(if left.priority > right.priority {
            let node = Arc::make_mut(&mut left);
            node.right = merge(node.right.take(), Some(right));
            left
        } else {
            let node = Arc::make_mut(&mut right);
            node.left = merge(Some(left), node.left.take());
            right
        }),
    }
}

/// The entries in order.
#[derive(Debug)]
pub(crate) struct Iter<'a, K, V> {
    stack: Vec<&'a Node<K, V>>,
}

impl<'a, K, V> Iter<'a, K, V> {
    fn descend(&mut self, mut link: &'a Link<K, V>) {
        while let Some(node) = link {
            self.stack.push(node);
            link = &node.left;
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.stack.pop()?;
        self.descend(&node.right);
        Some((&node.key, &node.value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Map;

    #[test]
    fn it_is_the_map_of_the_standard_library_and_copies_keep_their_content() {
        let (mut map, mut model, mut copies) = (Map::default(), BTreeMap::new(), Vec::new());
        let mut seed = 7_u64;
        for step in 0..3_000_u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            let key = (seed >> 33) % 200;
            if seed >> 60 < 6 {
                assert_eq!(map.remove(&key), model.remove(&key));
            } else {
                assert_eq!(map.insert(key, step), model.insert(key, step));
            }
            assert_eq!(map.len(), model.len());
            assert!(map.after(&key).eq(model.range(key + 1..)));
            if step % 100 == 0 {
                copies.push((map.clone(), model.clone()));
            }
        }
        assert_eq!(copies.len(), 30);
        for (map, model) in copies {
            assert!(map.iter().eq(model.iter()));
        }
    }
}
