//! The parts that both ends of a channel share.

use std::sync::Arc;

use super::{Act, Acts, Case, Choose, Chosen, Hold, Leave, Len, Message, PipeId, Shared, Side};
use crate::caught::drop_each;
use crate::runtime::{Instant, Runtime};

/// A copy of one end of a channel. The end is in use while a copy exists.
pub(super) struct End<T: Message, R: Runtime> {
    pub(super) group: Shared<T, R>,
    pub(super) pipe: PipeId,
    pub(super) capacity: Option<usize>,
    side: Side,
}

impl<T: Message, R: Runtime> End<T, R> {
    /// Makes a copy of an end that the channel has already counted.
    pub(super) fn new(
        group: &Shared<T, R>,
        pipe: PipeId,
        capacity: Option<usize>,
        side: Side,
    ) -> Self {
        Self { group: Arc::clone(group), pipe, capacity, side }
    }

    pub(super) fn call(&self, act: Act<T>, until: Instant) -> Chosen<T> {
        self.group.call(Choose::new(Acts::One([act]), until))
    }

    pub(super) async fn call_async(&self, act: Act<T>) -> Chosen<T> {
        self.group.call_async(Choose::new(Acts::One([act]), Instant::NEVER)).await
    }

    pub(super) fn case(&self, act: Act<T>) -> Case<'_, T, R> {
        Case { group: &self.group, act }
    }

    /// Counts the messages that wait; in a rendezvous none ever waits.
    pub(super) fn len(&self) -> usize {
        if self.capacity == Some(0) { 0 } else { self.group.call(Len(self.pipe)) }
    }
}

impl<T: Message, R: Runtime> Clone for End<T, R> {
    fn clone(&self) -> Self {
        self.group.call(Hold(self.pipe, self.side));
        Self::new(&self.group, self.pipe, self.capacity, self.side)
    }
}

impl<T: Message, R: Runtime> Drop for End<T, R> {
    fn drop(&mut self) {
        drop_each(self.group.call(Leave(self.pipe, self.side))); // without the lock
    }
}

/// Writes the methods that both ends have.
macro_rules! ends {
    ($($end:ident),+) => {$(
        impl<T: Message, R: Runtime> $end<T, R> {
            /// Counts the messages that wait.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Tells whether no message waits.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Tells whether there is no room. A rendezvous never has room.
            pub fn is_full(&self) -> bool {
                self.capacity().is_some_and(|capacity| self.len() >= capacity)
            }

            /// Returns how many messages may wait; `None` for any number.
            pub fn capacity(&self) -> Option<usize> {
                self.0.capacity
            }
        }

        impl<T: Message, R: Runtime> Clone for $end<T, R> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T: Message, R: Runtime> std::fmt::Debug for $end<T, R> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($end));
                shown.field("capacity", &self.capacity()).finish_non_exhaustive()
            }
        }
    )+};
}

pub(super) use ends;
