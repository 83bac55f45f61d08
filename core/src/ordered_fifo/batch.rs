//! Events of different objects that are taken out together.
//!
//! Events of the same object are recognised by their keys. Keys are computed only when a batch is
//! made, so only batches pay for them.

use crate::store::{Handle, Hashed, Key, KeySet, KnownObjects};

use super::{Event, OrderedQueue};

/// Events that were taken out of the queue together. If there is more than one, all are changes,
/// of different objects (`cache:RF-22`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch<K, O> {
    /// The events in order of arrival; at least one.
    pub events: Vec<Event<K, O>>,
    /// Whether the first list was not yet processed when these events were taken.
    pub initial: bool,
    /// How many events were left in the queue.
    pub left: usize,
}

impl<K: Key, O: Handle, N: KnownObjects<K, O>> OrderedQueue<K, O, N> {
    /// Takes events that may be processed together (`cache:RF-19`).
    pub(super) fn pop_batch(&mut self) -> Option<Batch<K, O>> {
        let length = self.batch_length();
        if length == 0 {
            return None;
        }
        let events = (0..length).map_while(|_| self.events.pop_front()).collect();
        let initial = self.begin(length);
        Some(Batch { events, initial, left: self.events.len() })
    }

    /// Returns how many events make the next batch (`cache:RF-19`): at most the batch size, not
    /// across the end of the initial batch, only changes, and of different objects. A change whose
    /// key cannot be computed is the last one (`cache:RF-20`). For a single event no keys are
    /// computed.
    fn batch_length(&self) -> usize {
        let left = self.latch.left();
        let limit = if left > 0 { self.batch_size.min(left) } else { self.batch_size };
        let limit = limit.min(self.events.len());
        if limit < 2 {
            return limit;
        }
        let mut seen: KeySet<K, Hashed<K>> = KeySet::with_capacity(limit);
        for (length, event) in self.events.iter().take(limit).enumerate() {
            let Some(change) = event.delta() else { return length.max(1) };
            let Ok(key) = self.intake.key_of_delta(change) else { return length + 1 };
            if !seen.insert(key) {
                return length;
            }
        }
        limit
    }
}
