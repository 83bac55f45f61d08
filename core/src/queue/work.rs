//! An item that was handed out and is not done.

use std::fmt;
use std::ops::Deref;

use super::Token;

/// A queue as its consumers see it: it hands out items, one delivery at a time.
pub trait Deliver {
    /// What it hands out.
    type Key;

    /// Takes the next item, sleeping until there is one; `None` once there will be none.
    fn take(&self) -> Option<(Token, Self::Key)>;

    /// Ends a delivery; false if it has ended before.
    fn done(&self, token: Token) -> bool;

    /// Ends deliveries in one step; returns how many of them had not ended before.
    fn done_all(&self, tokens: Vec<Token>) -> usize;
}

/// An item in processing; done when it drops (`workqueue:WQ-22`, `CL-2`).
///
/// No other consumer receives the item while this value lives.
pub struct Work<'q, Q: Deliver> {
    queue: &'q Q,
    /// `None` once somebody else has taken over to end the delivery.
    token: Option<Token>,
    key: Q::Key,
}

impl<'q, Q: Deliver> Work<'q, Q> {
    pub(crate) fn new(queue: &'q Q, token: Token, key: Q::Key) -> Self {
        Self { queue, token: Some(token), key }
    }

    /// Hands the duty to end the delivery to the caller.
    pub(crate) fn take_over(mut self) -> Option<Token> {
        self.token.take()
    }

    /// Says that the item is done, where dropping the value would hide it.
    pub fn done(self) {}
}

impl<Q: Deliver> Deref for Work<'_, Q> {
    type Target = Q::Key;

    fn deref(&self) -> &Q::Key {
        &self.key
    }
}

impl<Q: Deliver> Drop for Work<'_, Q> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            self.queue.done(token);
        }
    }
}

impl<Q: Deliver<Key: fmt::Debug>> fmt::Debug for Work<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").field(&self.key).finish()
    }
}
