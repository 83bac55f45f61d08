//! Values by number. Memory grows and shrinks with them, in small pieces.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

/// Only the caller that was given a number removes its value, and does so once: the number may be
/// used again afterwards.
#[derive(Clone, Debug)]
pub(super) struct Slots<T>(BTreeMap<usize, T>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Slots<T> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, value: T) -> usize {
        let at = self.0.last_key_value().map_or(0, |(last, _)| last + 1);
        self.0.insert(at, value);
        at
    }

    /// Removes the value with a number; `None` if there is none.
    pub(super) fn remove(&mut self, at: usize) -> Option<T> {
        self.0.remove(&at)
    }

    /// Removes the first value.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.0.pop_first().map(|(_, value)| value)
    }

    /// Returns the first value after a number.
    pub(super) fn after(&self, at: Option<usize>) -> Option<(usize, &T)> {
        let behind = (at.map_or(Unbounded, Excluded), Unbounded);
        self.0.range(behind).next().map(|(at, value)| (*at, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_under_their_numbers_and_come_in_their_order() {
        let mut slots = Slots::default();
        let [a, b, c] = ['a', 'b', 'c'].map(|value| slots.add(value));
        assert_eq!((slots.remove(b), slots.remove(b), slots.remove(9)), (Some('b'), None, None));
        let d = slots.add('d');
        assert!(d != a && d != c && slots.len() == 3);
        let mut seen = vec![];
        while let Some((at, value)) = slots.after(seen.last().map(|(at, _)| *at)) {
            seen.push((at, *value));
        }
        assert_eq!(seen, [(a, 'a'), (c, 'c'), (d, 'd')]);
        assert_eq!((slots.pop(), slots.remove(d), slots.pop()), (Some('a'), Some('d'), Some('c')));
        assert_eq!((slots.pop(), slots.len(), slots.add('e')), (None, 0, 0));
    }
}
