//! The order in which waiting items are handed out.

use crate::slab::{Line, Slot};

/// The order of the waiting items (`workqueue:ST-1`).
///
/// The queue calls it under its lock. It stores only the order: it must hand out every slot that
/// was pushed exactly once, and no other (`workqueue:ST-4`). It must not call back into the queue,
/// and must not panic: an item that it loses is never delivered.
pub trait Storage<K>: Send + 'static {
    /// Takes in a slot that it does not hold (`workqueue:ST-2`).
    fn push(&mut self, slot: Slot, key: &K);

    /// Hands out the next slot. Called only when it holds one (`workqueue:ST-2`).
    fn pop(&mut self) -> Option<Slot>;

    /// Returns how many slots it holds.
    fn len(&self) -> usize;

    /// Tells whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Called when an item which it holds is added again; a storage with priorities may rank it
    /// anew (`workqueue:ST-3`).
    fn touch(&mut self, slot: Slot, key: &K) {
        let _ = (slot, key);
    }
}

/// First in, first out: the default.
///
/// Holds plain numbers, so a slot that was popped keeps nothing alive (`workqueue:ST-5`).
#[derive(Clone, Debug, Default)]
pub struct Fifo(Line<Slot>);

impl Fifo {
    /// Returns the slots in the order of delivery.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.0.iter().copied()
    }
}

impl<K> Storage<K> for Fifo {
    #[inline]
    fn push(&mut self, slot: Slot, _: &K) {
        self.0.push_back(slot);
    }

    #[inline]
    fn pop(&mut self) -> Option<Slot> {
        self.0.pop_front()
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
        /// Each call is a slot to push, or `None` to pop one.
        fn slots_come_in_the_order_of_a_list(calls: Vec<Option<u8>>) -> bool {
            let (mut fifo, mut copy, mut list) = (Fifo::default(), Fifo::default(), VecDeque::new());
            for call in calls {
                match call.map(|slot| Slot(slot.into())) {
                    Some(slot) => {
                        Storage::<()>::push(&mut fifo, slot, &());
                        list.push_back(slot);
                    }
                    None => assert_eq!(Storage::<()>::pop(&mut fifo), list.pop_front()),
                }
                copy.clone_from(&fifo);
                for fifo in [&fifo, &copy, &fifo.clone()] {
                    assert!(fifo.slots().eq(list.iter().copied()));
                    assert_eq!(Storage::<()>::len(fifo), list.len());
                }
            }
            true
        }
    }
}
