//! An item that was handed out and is not done.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::Deref;

use crate::machine::Host;
use crate::runtime::Runtime;

use super::{Key, Queue, Storage, Token, WorkQueue};

/// An item in processing; done when it drops (`workqueue:WQ-22`, `CL-2`).
///
/// No other consumer receives the item while this value lives.
pub struct Work<'q, K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Queue<K, S>>,
{
    queue: &'q WorkQueue<K, R, S, B, H>,
    token: Token,
    key: K,
}

impl<'q, K, R, S, B, H> Work<'q, K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Queue<K, S>>,
{
    pub(super) fn new(queue: &'q WorkQueue<K, R, S, B, H>, token: Token, key: K) -> Self {
        Self { queue, token, key }
    }

    /// Says that the item is done, where dropping the value would hide it.
    pub fn done(self) {}
}

impl<K, R, S, B, H> Deref for Work<'_, K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Queue<K, S>>,
{
    type Target = K;

    fn deref(&self) -> &K {
        &self.key
    }
}

impl<K, R, S, B, H> Drop for Work<'_, K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Queue<K, S>>,
{
    fn drop(&mut self) {
        self.queue.done(self.token);
    }
}

impl<K, R, S, B, H> fmt::Debug for Work<'_, K, R, S, B, H>
where
    K: Key + Hash,
    R: Runtime,
    S: Storage<K>,
    B: BuildHasher,
    H: Host<Queue<K, S>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").field(&self.key).finish()
    }
}
