//! Several items in one critical section.

#[cfg(test)]
pub(crate) mod pair;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Deref;

use super::Token;
use super::work::Deliver;

/// Items in processing; all done, in one step, when this drops (`workqueue:CL-2`).
///
/// Looks like a slice of the items, in the order in which they were handed out. No other consumer
/// receives any of them while this value lives.
pub struct Batch<'q, Q: Deliver> {
    queue: &'q Q,
    tokens: Vec<Token>,
    keys: Vec<Q::Key>,
}

impl<'q, Q: Deliver> Batch<'q, Q> {
    /// Guards deliveries; `None` if there are none.
    pub(crate) fn new(queue: &'q Q, taken: Vec<(Token, Q::Key)>) -> Option<Self> {
        let (tokens, keys): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
        (!tokens.is_empty()).then_some(Self { queue, tokens, keys })
    }

    /// Says explicitly that the items are done, as dropping the value also would.
    pub fn done(self) {}
}

impl<Q: Deliver> Deref for Batch<'_, Q> {
    type Target = [Q::Key];

    fn deref(&self) -> &[Q::Key] {
        &self.keys
    }
}

impl<Q: Deliver> Drop for Batch<'_, Q> {
    fn drop(&mut self) {
        self.queue.done_all(std::mem::take(&mut self.tokens));
    }
}

impl<Q: Deliver<Key: fmt::Debug>> fmt::Debug for Batch<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Batch").field(&self.keys).finish()
    }
}
