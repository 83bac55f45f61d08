//! Taking the next entry, by threads and by tasks.

use crate::events::{AfterPop, Closed, Taken, Taking};
use crate::runtime::Runtime;
use crate::store::{Handle, Key, KnownObjects};

use super::{AddIfAbsent, DeltaFifo, DeltaQueue, Pop, Popped, Processed};

impl<K, O> Taken for Popped<K, O> {
    fn left(&self) -> usize {
        self.left
    }
}

fn name<K: Key, O>(popped: &Popped<K, O>) -> String {
    format!("{:?}", popped.key)
}

impl<K, O, N, R> DeltaFifo<K, O, N, R>
where
    K: Key,
    O: Handle,
    N: KnownObjects<K, O>,
    R: Runtime,
{
    /// Takes the next entry, sleeping until there is one, and lets `process` look at it.
    ///
    /// `process` runs under the queue's lock (`cache:QU-12`). It is the only place to update the
    /// known objects, and it must not call the queue. The entry is removed whatever `process`
    /// returns, and even if it panics.
    ///
    /// # Errors
    /// The queue is closed and empty.
    #[inline]
    pub fn pop<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> T,
    ) -> Result<(Popped<K, O>, T), Closed> {
        self.pop_or_requeue(|popped| (AfterPop::Forget, process(popped)))
    }

    /// As [`pop`](Self::pop), for a `process` that may put the entry back.
    ///
    /// # Errors
    /// The queue is closed and empty.
    #[inline]
    pub fn pop_or_requeue<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> (AfterPop, T),
    ) -> Result<(Popped<K, O>, T), Closed> {
        let end = |popped: &_, after| self.ended(popped, after);
        self.taking().take(Pop, Processed { requeue: None }, name, process, end)
    }

    /// As [`pop`](Self::pop), for tasks. Here, too, `process` runs under the lock, so it awaits
    /// nothing. A future that is dropped takes nothing, and a wake-up that was meant for it goes to
    /// another consumer.
    ///
    /// # Errors
    /// The queue is closed and empty.
    pub async fn pop_async<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> T,
    ) -> Result<(Popped<K, O>, T), Closed> {
        self.pop_or_requeue_async(|popped| (AfterPop::Forget, process(popped))).await
    }

    /// As [`pop_or_requeue`](Self::pop_or_requeue), for tasks; see [`pop_async`](Self::pop_async).
    ///
    /// # Errors
    /// The queue is closed and empty.
    pub async fn pop_or_requeue_async<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> (AfterPop, T),
    ) -> Result<(Popped<K, O>, T), Closed> {
        let end = |popped: &_, after| self.ended(popped, after);
        self.taking().take_async(Pop, Processed { requeue: None }, name, process, end).await
    }

    #[inline]
    fn taking(&self) -> Taking<'_, DeltaQueue<K, O, N>, R> {
        Taking { monitor: &self.monitor, on_slow: self.on_slow.as_ref() }
    }

    /// Makes the call that ends the processing of an entry.
    #[inline]
    fn ended(&self, popped: &Popped<K, O>, after: AfterPop) -> Processed<K, O> {
        let requeue = match after {
            AfterPop::Forget => None,
            AfterPop::Requeue => {
                let (key, deltas) = (Some(self.hashed(&popped.key)), popped.deltas.clone());
                Some(Box::new(AddIfAbsent { key, deltas }))
            }
        };
        Processed { requeue }
    }
}
