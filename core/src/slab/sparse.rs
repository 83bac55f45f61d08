//! Values of slots, most of which have none.

use super::Slot;

/// How many slots share a piece of memory.
const CHUNK: usize = 64;

type Values<T> = Box<[Option<T>; CHUNK]>;

/// Values for some of all slots, by their numbers. Growing moves nothing, and memory whose slots
/// have no values is freed.
#[derive(Clone, Debug)]
pub(crate) struct Sparse<T> {
    parts: Vec<Part<T>>,
    /// The piece that was emptied last: a slot that comes and goes causes no allocation.
    spare: Option<Values<T>>,
}

#[derive(Clone, Debug)]
struct Part<T> {
    values: Option<Values<T>>,
    /// How many slots have a value.
    taken: u8,
}

impl<T> Sparse<T> {
    pub(crate) const fn new() -> Self {
        Self { parts: Vec::new(), spare: None }
    }

    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<&T> {
        let (part, at) = split(slot);
        self.parts.get(part)?.values.as_ref()?[at].as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        let (part, at) = split(slot);
        self.parts.get_mut(part)?.values.as_mut()?[at].as_mut()
    }

    /// Sets the value of a slot; it replaces an earlier one.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, value: T) {
        let (part, at) = split(slot);
        if part >= self.parts.len() {
            self.parts.resize_with(part + 1, || Part { values: None, taken: 0 });
        }
        let Self { parts, spare } = self;
        let Part { values, taken } = &mut parts[part];
        let values = values.get_or_insert_with(|| spare.take().unwrap_or_else(empty));
        *taken += u8::from(values[at].replace(value).is_none());
    }

    /// Removes the value of a slot.
    #[inline]
    pub(crate) fn take(&mut self, slot: Slot) -> Option<T> {
        let (part, at) = split(slot);
        let Part { values, taken } = self.parts.get_mut(part)?;
        let value = values.as_mut()?[at].take()?;
        *taken -= 1;
        if *taken == 0 {
            self.spare = values.take();
        }
        Some(value)
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| usize::from(part.taken)).sum()
    }
}

fn split(slot: Slot) -> (usize, usize) {
    (slot.0 as usize / CHUNK, slot.0 as usize % CHUNK)
}

#[cold]
fn empty<T>() -> Values<T> {
    Box::new([const { None }; CHUNK])
}

#[cfg(test)]
impl<T> Sparse<T> {
    /// Returns the capacity in slots.
    pub(crate) fn room(&self) -> usize {
        let parts = self.parts.iter().filter(|part| part.values.is_some()).count();
        (parts + usize::from(self.spare.is_some())) * CHUNK
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
        /// Each call is a slot and its new value, or `None` to remove the value.
        fn values_are_those_of_a_map(calls: Vec<(u8, Option<u8>)>) -> bool {
            let (mut sparse, mut map) = (Sparse::new(), BTreeMap::new());
            for (slot, value) in calls {
                match value {
                    Some(value) => {
                        sparse.set(Slot(slot.into()), value);
                        map.insert(slot, value);
                    }
                    None => assert_eq!(sparse.take(Slot(slot.into())), map.remove(&slot)),
                }
                let same = |at: u8| sparse.get(Slot(at.into())) == map.get(&at);
                assert!((0..=u8::MAX).all(same));
                assert_eq!(sparse.len(), map.len());
                if let Some(value) = sparse.get_mut(Slot(slot.into())) {
                    *value = value.wrapping_add(1);
                    map.entry(slot).and_modify(|value| *value = value.wrapping_add(1));
                }
            }
            true
        }
    }

    #[test]
    fn the_memory_of_slots_without_a_value_is_given_back() {
        let mut sparse = Sparse::new();
        let slots = || (0..100_000).map(Slot);
        slots().for_each(|slot| sparse.set(slot, 7));
        assert!(sparse.room() >= 100_000);
        slots().for_each(|slot| assert_eq!(sparse.take(slot), Some(7)));
        assert_eq!(sparse.room(), CHUNK, "one to spare");
        sparse.set(Slot(64), 1);
        assert_eq!(sparse.room(), CHUNK);
    }
}
