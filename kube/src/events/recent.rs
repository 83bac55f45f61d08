//! A map of limited size: the entry that was used least recently makes room.

use std::collections::BTreeMap;

/// How many entries a map has at most, as in the reference.
const MOST: usize = 4_096;

/// Values by key, and the order of their last uses.
pub(super) struct Recent<K, V> {
    values: BTreeMap<K, (V, u64)>,
    uses: BTreeMap<u64, K>,
    next: u64,
}

impl<K: Ord + Clone, V> Recent<K, V> {
    pub(super) const fn new() -> Self {
        Self { values: BTreeMap::new(), uses: BTreeMap::new(), next: 0 }
    }

    /// Uses the value of a key, which is made if there is none.
    pub(super) fn use_or(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        self.next += 1;
        if !self.values.contains_key(key)
            && self.values.len() >= MOST
            && let Some((_, oldest)) = self.uses.pop_first()
        {
            self.values.remove(&oldest);
        }
        let entry = self.values.entry(key.clone()).or_insert_with(|| (make(), 0));
        let before = std::mem::replace(&mut entry.1, self.next);
        self.uses.remove(&before);
        self.uses.insert(self.next, key.clone());
        &mut entry.0
    }

    pub(super) fn forget(&mut self, key: &K) {
        if let Some((_, number)) = self.values.remove(key) {
            self.uses.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_least_recently_makes_room() {
        let mut recent = Recent::new();
        for number in 0..MOST {
            *recent.use_or(&number, || 0) = number;
        }
        recent.use_or(&0, || 7);
        recent.use_or(&MOST, || 8);
        assert_eq!((recent.values.len(), recent.uses.len()), (MOST, MOST));
        assert_eq!(*recent.use_or(&0, || 7), 0, "it was used again");
        assert_eq!(*recent.use_or(&1, || 9), 9, "it had made room");
        recent.forget(&0);
        assert_eq!(*recent.use_or(&0, || 7), 7);
    }
}
