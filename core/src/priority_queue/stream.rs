//! The items of a priority queue as a stream (feature `stream`).

use std::hash::Hash;
use std::sync::Arc;

use futures_core::Stream;

use crate::limiter::Limiter;
use crate::queue::{Key, OwnedWork, Repeated, Work, owned};
use crate::runtime::Runtime;

use super::{Observer, PriorityQueue};

impl<K: Key + Hash, R: Runtime, L: Limiter<K>, O: Observer> PriorityQueue<K, R, L, O> {
    /// Returns the items and their priorities as a stream, for tasks: repeated calls of
    /// [`get_async`](Self::get_async). It ends after shutdown. Dropping it stops the wait.
    pub fn stream(&self) -> impl Stream<Item = (Work<'_, Self>, i32)> {
        Repeated::new(
            move || self.take_async(),
            move |(token, key, priority)| (Work::new(self, token, key), priority),
        )
    }

    /// As [`stream`](Self::stream), but owns a share of the queue, so it can be spawned.
    pub fn owned_stream(
        self: &Arc<Self>,
    ) -> impl Stream<Item = (OwnedWork<Self>, i32)> + Send + Unpin + use<K, R, L, O>
    where
        Self: Send + Sync + 'static,
    {
        owned(self, |queue: Arc<Self>| async move {
            let (token, key, priority) = queue.take_async().await?;
            Some((OwnedWork::new(queue, token, key), priority))
        })
    }
}
