//! Taking the next object, by threads and by tasks.

use crate::events::{Taken, Taking};
use crate::runtime::Runtime;
use crate::store::{Handle, Key};

use super::{AddIfAbsent, AfterPop, Closed, Fifo, FifoQueue, Pop, Popped, Processed};

impl<K, O> Taken for Popped<K, O> {
    fn left(&self) -> usize {
        self.left
    }
}

fn name<K: Key, O>(popped: &Popped<K, O>) -> String {
    format!("{:?}", popped.key)
}

impl<K: Key, O: Handle, R: Runtime> Fifo<K, O, R> {
    /// Takes the next object, sleeping until there is one, and lets `process` look at it.
    ///
    /// `process` runs under the queue's lock (`cache:QU-12`) and must not call the queue. The
    /// object is removed whatever `process` returns, and even if it panics.
    ///
    /// # Errors
    /// The queue is closed and empty.
    pub fn pop<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> T,
    ) -> Result<(Popped<K, O>, T), Closed> {
        self.pop_or_requeue(|popped| (AfterPop::Forget, process(popped)))
    }

    /// As [`pop`](Self::pop), for a `process` that may put the object back.
    ///
    /// # Errors
    /// The queue is closed and empty.
    pub fn pop_or_requeue<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> (AfterPop, T),
    ) -> Result<(Popped<K, O>, T), Closed> {
        let end = |popped: &_, after| self.ended(popped, after);
        self.taking().take(Pop::new(), Processed { requeue: None }, name, process, end)
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
        self.taking().take_async(Pop::new(), Processed { requeue: None }, name, process, end).await
    }

    fn taking(&self) -> Taking<'_, FifoQueue<K, O>, R> {
        Taking { monitor: &self.monitor, on_slow: self.on_slow.as_ref() }
    }

    /// Makes the call that ends the processing of an object.
    fn ended(&self, popped: &Popped<K, O>, after: AfterPop) -> Processed<K, O> {
        let requeue = (after == AfterPop::Requeue).then(|| {
            let (key, object) = (Some(self.hashed(&popped.key)), Some(popped.object.clone()));
            Box::new(AddIfAbsent { key, object })
        });
        Processed { requeue }
    }
}
