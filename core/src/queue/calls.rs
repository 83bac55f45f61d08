//! The calls that `WorkQueue`, `DelayingQueue` and `LimitedQueue` share, written once.

/// Writes the calls that all queues share: add, take, end a delivery, drain, batches, loops, and
/// the impls that follow from these. `Drain` is the operation of the calling module.
macro_rules! queue_calls {
    ($name:literal, [$($generics:tt)*] $queue:ty, [$($bounds:tt)*]) => {
        /// Calls on single items, and shutdown. Each call that may wait also has a form for tasks.
        impl<$($generics)*> $queue
        where
            $($bounds)*
        {
            /// Adds an item at once.
            ///
            /// An item that waits already keeps its place; one that is in processing is delivered
            /// once more afterwards; after shutdown nothing happens (`workqueue:WQ-4`). A delay
            /// that it was given before still runs (`workqueue:DQ-11`).
            #[inline]
            pub fn add(&self, key: K) {
                let hash = self.hasher.hash_one(&key);
                self.monitor.call($crate::queue::Add { key: Some(key), hash });
            }

            /// Takes the next item, sleeping until there is one; `None` once the queue is shut down and
            /// empty (`workqueue:WQ-9` to `WQ-12`).
            ///
            /// The item is done when the returned [`Work`](crate::queue::Work) drops, also by a panic.
            #[must_use = "the item is done when it drops"]
            #[inline]
            pub fn get(&self) -> Option<$crate::queue::Work<'_, Self>> {
                let (token, key) = self.take()?;
                Some($crate::queue::Work::new(self, token, key))
            }

            /// As [`get`](Self::get), for callers that keep the token and end the delivery
            /// themselves, for example by [`done`](Self::done).
            #[must_use = "the delivery lasts until its token is done"]
            #[inline]
            pub fn take(&self) -> Option<(Token, K)> {
                self.monitor.call($crate::queue::Get)
            }

            /// As [`get`](Self::get), for tasks. Dropping the future stops the wait. Poll it when
            /// it is woken, or drop it: see [`take_async`](Self::take_async).
            pub async fn get_async(&self) -> Option<$crate::queue::Work<'_, Self>> {
                let (token, key) = self.take_async().await?;
                Some($crate::queue::Work::new(self, token, key))
            }

            /// As [`take`](Self::take), for tasks. A future that is dropped takes nothing, and a
            /// wake-up that was meant for it goes to another consumer.
            ///
            /// Any executor will do: when an item becomes due, the runtime of the queue wakes a
            /// task ([`wake_at`](crate::runtime::Runtime::wake_at)).
            ///
            /// Poll the future when it is woken, or drop it. Each wake-up goes to one task, and one
            /// task holds the timer for all tasks that wait. While it is kept and not polled, the
            /// others wake only for further items that are added or handed back, not for items that
            /// become due. Threads have a timer of their own.
            pub fn take_async(&self) -> impl Future<Output = Option<(Token, K)>> + Send {
                self.monitor.call_async($crate::queue::Get)
            }

            /// Ends a delivery; an item that was added meanwhile waits again (`workqueue:WQ-16`).
            ///
            /// Returns false, and does nothing, if that delivery has ended before.
            #[inline]
            pub fn done(&self, token: Token) -> bool {
                self.monitor.call($crate::queue::Done(token)).has_ended()
            }

            /// Ends a delivery and takes the next item in one critical section, as
            /// [`done`](Self::done) followed by [`take`](Self::take) would. A worker that goes from
            /// one item to the next locks once for both.
            #[must_use = "the delivery lasts until its token is done"]
            #[inline]
            pub fn done_then_take(&self, token: Token) -> Option<(Token, K)> {
                self.monitor.call_then($crate::queue::Done(token), $crate::queue::Get)
            }

            /// As [`done`](Self::done), for an item named by its value.
            ///
            /// Returns false, and does nothing, if the item is not in processing
            /// (`workqueue:WQ-21`). A late call can end the delivery of another consumer, so prefer
            /// the token.
            pub fn done_key(&self, key: &K) -> bool {
                let hash = self.hasher.hash_one(key);
                self.monitor.call($crate::queue::DoneKey { key: key.clone(), hash }).has_ended()
            }

            /// Returns how many items could be handed out now. Items in processing and items whose
            /// time has not come do not count (`workqueue:DQ-12`).
            pub fn len(&self) -> usize {
                self.monitor.call($crate::queue::Len)
            }

            /// Tells whether no item could be handed out now.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Tells whether shutdown has begun; true for ever after (`workqueue:WQ-24`).
            pub fn is_shutting_down(&self) -> bool {
                self.monitor.call($crate::queue::ShuttingDown)
            }

            /// Begins the shutdown, then waits until nothing is in processing, or until somebody
            /// calls [`shut_down`](Self::shut_down). Waiting items may be left (`workqueue:WQ-32`).
            pub fn shut_down_with_drain(&self) {
                self.monitor.call(Drain::new(DrainUntil::NothingInFlight));
            }

            /// Begins the shutdown, then waits until every accepted item is processed, or until
            /// somebody calls [`shut_down`](Self::shut_down) (`workqueue:WQ-33`).
            ///
            /// A consumer must ask for another item after every done. An item that was added while
            /// it was processed waits again at its done, and the other consumers may have found the
            /// queue empty and left (`workqueue:WQ-13`).
            pub fn shut_down_when_done(&self) {
                self.monitor.call(Drain::new(DrainUntil::AllWorkDone));
            }

            /// As [`shut_down_with_drain`](Self::shut_down_with_drain), for tasks. The queue is
            /// shut down at the first poll. Dropping the future stops the wait.
            pub fn drain_async(&self) -> impl Future<Output = ()> + Send {
                self.monitor.call_async(Drain::new(DrainUntil::NothingInFlight))
            }

            /// As [`shut_down_when_done`](Self::shut_down_when_done), for tasks.
            pub fn drain_when_done_async(&self) -> impl Future<Output = ()> + Send {
                self.monitor.call_async(Drain::new(DrainUntil::AllWorkDone))
            }
        }

        /// Several items in one critical section. The effect is that of single calls in a row, with
        /// no other call in between. Each added item wakes one consumer.
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
                let all: $crate::machine::Remains<_> = keys.into_iter().map(hashed).collect();
                if !all.is_empty() {
                    self.monitor.call($crate::machine::Many(all));
                }
            }

            /// Takes the next items, at most `most`, sleeping until there is one; `None` once the
            /// queue is shut down and empty. It does not wait for a second one.
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

            /// As [`get_batch`](Self::get_batch), for tasks. Dropping the future stops the wait.
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
                $crate::queue::ended(finished)
            }
        }

        /// Streams of items, and the loop that refreshes the metrics.
        impl<$($generics)*> $queue
        where
            $($bounds)*
        {
            /// Returns the items as a stream, for tasks: repeated calls of
            /// [`get_async`](Self::get_async). It ends once the queue is shut down and empty.
            /// Dropping it stops the wait.
            #[cfg(feature = "stream")]
            pub fn stream(
                &self,
            ) -> impl ::futures_core::Stream<Item = $crate::queue::Work<'_, Self>> {
                $crate::queue::Repeated::new(
                    move || self.take_async(),
                    move |(token, key)| $crate::queue::Work::new(self, token, key),
                )
            }

            /// As [`stream`](Self::stream), but owns a share of the queue, so it can be spawned.
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

            /// Tells the metrics at this interval how much is unfinished, and returns when shutdown
            /// begins (`workqueue:MX-10`). Run it in a thread of its own;
            /// [`Updater`](crate::metrics::Updater) does that for you.
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

        impl<$($generics)*> $crate::queue::Deliver for $queue
        where
            $($bounds)*
        {
            type Key = K;

            #[inline]
            fn take(&self) -> Option<(Token, K)> {
                Self::take(self)
            }

            #[inline]
            fn done(&self, token: Token) -> bool {
                Self::done(self, token)
            }

            fn done_all(&self, tokens: Vec<Token>) -> usize {
                Self::done_all(self, tokens)
            }
        }

        impl<$($generics)*> $crate::metrics::Measured for $queue
        where
            $($bounds)*
        {
            fn refresh_metrics(&self, every: ::std::time::Duration) {
                Self::refresh_metrics(self, every);
            }
        }

        impl<$($generics)*> ::std::fmt::Debug for $queue
        where
            $($bounds)*
        {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str($name)
            }
        }
    };
}

pub(crate) use queue_calls;
