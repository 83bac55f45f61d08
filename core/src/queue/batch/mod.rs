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

    /// Says that the items are done, where dropping the value would hide it.
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

/// Writes the batch forms and the loops of a queue whose plain calls are those of the work queue.
macro_rules! batch_calls {
    ([$($generics:tt)*] $queue:ty, [$($bounds:tt)*]) => {
        /// Several items in one critical section: what the same calls would do one after the other,
        /// with nobody else between them. As many consumers wake as items came.
        impl<$($generics)*> $queue
        where
            $($bounds)*
        {
            /// Adds items in their order, as repeated calls of [`add`](Self::add) would.
            pub fn add_all(&self, keys: impl IntoIterator<Item = K>) {
                let hashed = |key: K| {
                    let hash = self.hasher.hash_one(&key);
                    $crate::queue::Add { key: Some(key), hash }
                };
                let all: Vec<_> = keys.into_iter().map(hashed).collect();
                if !all.is_empty() {
                    self.monitor.call($crate::machine::Many(all));
                }
            }

            /// Takes the next items, `most` at most, sleeping until there is one; `None` once the
            /// queue is shut down and empty. It does not wait for more than one.
            ///
            /// They are done together when the returned [`Batch`](crate::queue::Batch) drops, also
            /// by a panic.
            #[must_use = "the items are done when it drops"]
            pub fn get_batch(
                &self,
                most: ::std::num::NonZeroUsize,
            ) -> Option<$crate::queue::Batch<'_, Self>> {
                $crate::queue::Batch::new(self, self.take_batch(most))
            }

            /// As [`get_batch`](Self::get_batch), for callers that keep the tokens and call
            /// [`done`](Self::done) or [`done_all`](Self::done_all). Empty once the queue is shut
            /// down and empty.
            #[must_use = "the deliveries last until their tokens are done"]
            pub fn take_batch(&self, most: ::std::num::NonZeroUsize) -> Vec<(Token, K)> {
                self.monitor.call($crate::queue::GetBatch { most, call: $crate::queue::Get })
            }

            /// As [`get_batch`](Self::get_batch), for tasks: to drop the future is to stop
            /// waiting.
            pub async fn get_batch_async(
                &self,
                most: ::std::num::NonZeroUsize,
            ) -> Option<$crate::queue::Batch<'_, Self>> {
                $crate::queue::Batch::new(self, self.take_batch_async(most).await)
            }

            /// As [`take_batch`](Self::take_batch), for tasks. A future that is dropped takes
            /// nothing, and a wake-up that was meant for it goes to another consumer.
            pub fn take_batch_async(
                &self,
                most: ::std::num::NonZeroUsize,
            ) -> impl Future<Output = Vec<(Token, K)>> + Send {
                self.monitor.call_async($crate::queue::GetBatch { most, call: $crate::queue::Get })
            }

            /// Ends deliveries in their order, as repeated calls of [`done`](Self::done) would.
            /// Returns how many of them had not ended before.
            pub fn done_all(&self, tokens: impl IntoIterator<Item = Token>) -> usize {
                let all = tokens.into_iter().map($crate::queue::Done).collect();
                let finished = self.monitor.call($crate::machine::Many::<$crate::queue::Done>(all));
                $crate::queue::ended(&finished)
            }
        }

        /// Loops: the items one after the other, and what runs beside the workers.
        impl<$($generics)*> $queue
        where
            $($bounds)*
        {
            /// Returns the items as a stream, for tasks: as [`get_async`](Self::get_async) again
            /// and again. It ends once the queue is shut down and empty; to drop it is to stop
            /// waiting.
            #[cfg(feature = "stream")]
            pub fn stream(
                &self,
            ) -> impl ::futures_core::Stream<Item = $crate::queue::Work<'_, Self>> {
                $crate::queue::Repeated::new(
                    move || self.take_async(),
                    move |(token, key)| $crate::queue::Work::new(self, token, key),
                )
            }

            /// As [`stream`](Self::stream), with a share of the queue: it can be spawned.
            #[cfg(feature = "stream")]
            pub fn owned_stream(
                self: &::std::sync::Arc<Self>,
            ) -> impl ::futures_core::Stream<Item = $crate::queue::OwnedWork<Self>> + Send + Unpin + use<$($generics)*>
            where
                Self: Send + Sync + 'static,
            {
                $crate::queue::owned(self, |queue: ::std::sync::Arc<Self>| async move {
                    let (token, key) = queue.take_async().await?;
                    Some($crate::queue::OwnedWork::new(queue, token, key))
                })
            }

            /// Tells the metrics so often how much is unfinished, until shutdown begins, which it
            /// then returns from: the loop of a thread of its own (`workqueue:MX-10`). See
            /// [`Updater`](crate::metrics::Updater).
            pub fn refresh_metrics(&self, every: ::std::time::Duration) {
                self.monitor.call($crate::queue::Refresh { every, next: None });
            }

            /// As [`refresh_metrics`](Self::refresh_metrics), for tasks.
            pub fn refresh_metrics_async(
                &self,
                every: ::std::time::Duration,
            ) -> impl Future<Output = ()> + Send {
                self.monitor.call_async($crate::queue::Refresh { every, next: None })
            }
        }
    };
}

pub(crate) use batch_calls;
