//! An item that was handed out and is not done.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Token;

/// A queue as its consumers see it: it hands out items, one delivery at a time.
pub trait Deliver {
    /// The type of item.
    type Key;

    /// Takes the next item, sleeping until there is one; `None` once there will be none.
    fn take(&self) -> Option<(Token, Self::Key)>;

    /// Ends a delivery; false if it has ended before.
    fn done(&self, token: Token) -> bool;

    /// Ends deliveries in one step; returns how many of them had not ended before.
    fn done_all(&self, tokens: Vec<Token>) -> usize;
}

/// An item in processing, with a reference to its queue; done when it drops (`workqueue:WQ-22`,
/// `CL-2`).
///
/// No other consumer receives the item while this value lives.
pub type Work<'q, Q> = InProcessing<&'q Q>;

/// As [`Work`], with a share of the queue, so it can be moved to any task or thread.
pub type OwnedWork<Q> = InProcessing<Arc<Q>>;

/// An item in processing; done when it drops. See [`Work`] and [`OwnedWork`].
pub struct InProcessing<H: Deref<Target: Deliver>> {
    queue: H,
    /// `None` once `take_over` has passed on the duty to end the delivery.
    token: Option<Token>,
    key: <H::Target as Deliver>::Key,
}

impl<H: Deref<Target: Deliver>> InProcessing<H> {
    pub(crate) fn new(queue: H, token: Token, key: <H::Target as Deliver>::Key) -> Self {
        Self { queue, token: Some(token), key }
    }

    /// Passes the duty to end the delivery to the caller.
    pub(crate) fn take_over(mut self) -> Option<Token> {
        self.token.take()
    }

    /// Says explicitly that the item is done, as dropping the value also would.
    pub fn done(self) {}
}

impl<H: Deref<Target: Deliver>> Deref for InProcessing<H> {
    type Target = <H::Target as Deliver>::Key;

    fn deref(&self) -> &Self::Target {
        &self.key
    }
}

impl<H: Deref<Target: Deliver>> Drop for InProcessing<H> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            self.queue.done(token);
        }
    }
}

impl<H: Deref<Target: Deliver<Key: fmt::Debug>>> fmt::Debug for InProcessing<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").field(&self.key).finish()
    }
}
