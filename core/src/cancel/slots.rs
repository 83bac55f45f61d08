//! Values under numbers, each added and removed in constant time.

/// Numbers are used again. Who removes a value has been told its number, and does so once.
#[derive(Clone, Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

/// An empty table of up to this many places keeps its memory.
const KEPT: usize = 16;

impl<T> Slots<T> {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn add(&mut self, value: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.slots[at] = Some(value);
            return at;
        }
        self.slots.push(Some(value));
        self.slots.len() - 1
    }

    /// Returns the value, `None` if nothing is there.
    pub(super) fn remove(&mut self, at: usize) -> Option<T> {
        let value = self.slots.get_mut(at)?.take()?;
        self.free.push(at);
        if self.len() == 0 && self.slots.len() > KEPT {
            *self = Self::default();
        }
        Some(value)
    }

    /// Takes all values out, and keeps no memory.
    pub(super) fn take(&mut self) -> Vec<T> {
        std::mem::take(self).slots.into_iter().flatten().collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }

    pub(super) fn check(&self) {
        assert!(self.free.iter().all(|at| self.slots[*at].is_none()), "a free place is empty");
        assert_eq!(self.iter().count(), self.len(), "an empty place is free");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_under_their_numbers_and_numbers_are_used_again() {
        let mut slots = Slots::default();
        let [a, b, c] = ['a', 'b', 'c'].map(|value| slots.add(value));
        assert_eq!((slots.remove(b), slots.remove(b), slots.remove(9)), (Some('b'), None, None));
        assert_eq!((slots.add('d'), slots.len()), (b, 3));
        slots.check();
        assert_eq!((slots.remove(c), slots.remove(a)), (Some('c'), Some('a')));
        slots.check();
        assert_eq!((slots.take(), slots.len()), (vec!['d'], 0));
    }

    #[test]
    fn a_large_table_gives_its_memory_back_when_it_is_empty() {
        let mut slots = Slots::default();
        let numbers: Vec<_> = (0..=KEPT).map(|value| slots.add(value)).collect();
        for at in &numbers[1..] {
            assert!(slots.remove(*at).is_some());
        }
        assert!(slots.slots.capacity() > KEPT);
        assert!(slots.remove(0).is_some());
        assert_eq!((slots.slots.capacity(), slots.free.capacity()), (0, 0));
        slots.add(0);
        assert!(slots.remove(0).is_some());
        assert!(slots.slots.capacity() > 0, "a small one does not allocate again and again");
    }

    #[test]
    fn places_that_do_not_agree_are_noticed() {
        let breaks: [fn(&mut Slots<u8>); 2] =
            [|slots| slots.free.push(0), |slots| slots.slots.push(None)];
        let make = || Slots { slots: vec![Some(1)], free: vec![] };
        crate::machine::by_hand::each_is_noticed(make, breaks, Slots::check);
    }
}
