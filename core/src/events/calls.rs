//! The calls that `Fifo`, `DeltaFifo` and `OrderedFifo` share, written once.

/// Writes the calls that are the same in all queues of objects. The attributes in front are those
/// of `has_synced`, which counts differently in each queue.
macro_rules! event_queue_calls {
    ($name:literal, $(#[$synced:meta])* [$($generics:tt)*] $queue:ty, [$($bounds:tt)*]) => {
        /// Its progress, and its end.
        impl<$($generics)*> $queue
        where
            $($bounds)*
        {
            /// Ends every `pop` once the queue is empty. Writes still work (`cache:QU-3` to
            /// `QU-5`).
            pub fn close(&self) {
                self.monitor.call(Close);
            }

            /// Tells whether the queue is closed.
            pub fn is_closed(&self) -> bool {
                self.monitor.call(IsClosed)
            }

            $(#[$synced])*
            pub fn has_synced(&self) -> bool {
                self.monitor.call(HasSynced)
            }

            /// Sleeps until [`has_synced`](Self::has_synced); false if the queue was closed and
            /// drained before.
            pub fn wait_for_sync(&self) -> bool {
                self.monitor.call(WaitForSync)
            }

            /// As [`wait_for_sync`](Self::wait_for_sync), for tasks. Dropping the future stops the
            /// wait.
            pub fn wait_for_sync_async(&self) -> impl Future<Output = bool> + Send {
                self.monitor.call_async(WaitForSync)
            }

            /// Returns how many entries wait.
            pub fn len(&self) -> usize {
                self.monitor.call(Len)
            }

            /// Tells whether nothing waits.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
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

/// Writes the methods of an implementation of [`Queue`](super::Queue) that call the queue's own
/// methods of the same name.
macro_rules! own_calls {
    () => {
        fn pop<T>(
            &self,
            process: impl FnOnce(&Self::Popped) -> T,
        ) -> Result<(Self::Popped, T), $crate::events::Closed> {
            self.pop(process)
        }

        fn pop_async<T: Send>(
            &self,
            process: impl FnOnce(&Self::Popped) -> T + Send,
        ) -> impl Future<Output = Result<(Self::Popped, T), $crate::events::Closed>> + Send {
            self.pop_async(process)
        }

        fn has_synced(&self) -> bool {
            self.has_synced()
        }

        fn wait_for_sync(&self) -> bool {
            self.wait_for_sync()
        }

        fn wait_for_sync_async(&self) -> impl Future<Output = bool> + Send {
            self.wait_for_sync_async()
        }

        fn close(&self) {
            self.close();
        }

        fn is_closed(&self) -> bool {
            self.is_closed()
        }

        fn len(&self) -> usize {
            self.len()
        }
    };
}

pub(crate) use {event_queue_calls, own_calls};
