//! In which order waiting items are handed out.

use std::collections::VecDeque;

use crate::slab::Slot;

/// The order of the waiting items (`workqueue:ST-1`).
///
/// The queue calls it under its lock. It owns the order alone; it must hand out every slot that
/// was pushed once, and no other (`workqueue:ST-4`). It must not call back into the queue.
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

    /// Returns the slots that will be handed out next, if that is cheap to say: the queue fetches
    /// their items from memory before it needs them. It matters for speed only, and so does a wrong
    /// answer.
    #[inline]
    fn upcoming(&self) -> impl Iterator<Item = Slot> {
        std::iter::empty()
    }

    /// Learns that an item which it holds was added again; a storage with priorities may rank it
    /// anew (`workqueue:ST-3`).
    fn touch(&mut self, slot: Slot, key: &K) {
        let _ = (slot, key);
    }
}

/// First in, first out: the default.
///
/// Holds plain numbers, so a slot that was popped keeps nothing alive (`workqueue:ST-5`).
#[derive(Debug, Default)]
pub struct Fifo {
    /// Who came when nobody waited: most queues hardly ever hold more.
    first: Option<Slot>,
    behind: VecDeque<Slot>,
}

impl Clone for Fifo {
    fn clone(&self) -> Self {
        Self { first: self.first, behind: self.behind.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.first = source.first;
        self.behind.clone_from(&source.behind);
    }
}

impl Fifo {
    /// Returns the slots in the order of delivery.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.first.into_iter().chain(self.behind.iter().copied())
    }
}

impl<K> Storage<K> for Fifo {
    #[inline]
    fn push(&mut self, slot: Slot, _: &K) {
        if self.behind.is_empty() && self.first.is_none() {
            self.first = Some(slot);
        } else {
            self.behind.push_back(slot);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Slot> {
        if self.first.is_some() { self.first.take() } else { self.behind.pop_front() }
    }

    #[inline]
    fn len(&self) -> usize {
        self.behind.len() + usize::from(self.first.is_some())
    }

    #[inline]
    fn upcoming(&self) -> impl Iterator<Item = Slot> {
        self.slots()
    }
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
        /// Calls as a slot to push, or none to pop one.
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
