//! Taking the next event, or several together, by threads and by tasks.

use crate::events::{Closed, Taken, Taking};
use crate::machine::Operation;
use crate::runtime::Runtime;
use crate::store::{Handle, Key, KnownObjects};

use super::{Batch, Event, OrderedFifo, OrderedQueue, Pop, PopBatch, Popped, Processed};

/// The events that were taken at once.
trait Events<K, O>: Taken {
    fn first(&self) -> Option<&Event<K, O>>;
}

impl<K, O> Taken for Popped<K, O> {
    fn left(&self) -> usize {
        self.left
    }
}

impl<K, O> Events<K, O> for Popped<K, O> {
    fn first(&self) -> Option<&Event<K, O>> {
        Some(&self.event)
    }
}

impl<K, O> Taken for Batch<K, O> {
    fn entries(&self) -> usize {
        self.events.len()
    }

    fn left(&self) -> usize {
        self.left
    }
}

impl<K, O> Events<K, O> for Batch<K, O> {
    fn first(&self) -> Option<&Event<K, O>> {
        self.events.first()
    }
}

impl<K, O, N, R> OrderedFifo<K, O, N, R>
where
    K: Key,
    O: Handle,
    N: KnownObjects<K, O>,
    R: Runtime,
{
    /// Takes the next event, sleeping until there is one, and lets `process` look at it.
    ///
    /// The event is removed whatever `process` returns, and even if it panics. In plain mode, and
    /// while the queue is long, `process` runs under the queue's lock and must not call the queue
    /// (`cache:QU-12`). It never runs twice at the same time.
    ///
    /// # Errors
    /// The queue is closed and empty.
    #[inline]
    pub fn pop<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> T,
    ) -> Result<(Popped<K, O>, T), Closed> {
        self.take(Pop, process)
    }

    /// As [`pop`](Self::pop), for tasks; `process` awaits nothing. A future that is dropped takes
    /// nothing, and a wake-up that was meant for it goes to another consumer.
    ///
    /// # Errors
    /// The queue is closed and empty.
    pub async fn pop_async<T>(
        &self,
        process: impl FnOnce(&Popped<K, O>) -> T,
    ) -> Result<(Popped<K, O>, T), Closed> {
        self.take_async(Pop, process).await
    }

    /// As [`pop`](Self::pop), for events that may be processed together: changes of different
    /// objects up to the batch size, or one event of another kind (`cache:RF-19`).
    ///
    /// Objects are distinguished by their keys, which are computed here, under the queue's lock.
    ///
    /// # Errors
    /// The queue is closed and empty.
    pub fn pop_batch<T>(
        &self,
        process: impl FnOnce(&Batch<K, O>) -> T,
    ) -> Result<(Batch<K, O>, T), Closed> {
        self.take(PopBatch, process)
    }

    /// As [`pop_batch`](Self::pop_batch), for tasks; see [`pop_async`](Self::pop_async).
    ///
    /// # Errors
    /// The queue is closed and empty.
    pub async fn pop_batch_async<T>(
        &self,
        process: impl FnOnce(&Batch<K, O>) -> T,
    ) -> Result<(Batch<K, O>, T), Closed> {
        self.take_async(PopBatch, process).await
    }

    #[inline(always)]
    fn take<A, P, T>(&self, first: A, process: impl FnOnce(&P) -> T) -> Result<(P, T), Closed>
    where
        A: Operation<OrderedQueue<K, O, N>, Ret = Option<P>>,
        P: Events<K, O>,
    {
        let name = |taken: &P| self.name(taken);
        self.taking().take(first, Processed, name, |taken| ((), process(taken)), |_, ()| Processed)
    }

    async fn take_async<A, P, T>(
        &self,
        first: A,
        process: impl FnOnce(&P) -> T,
    ) -> Result<(P, T), Closed>
    where
        A: Operation<OrderedQueue<K, O, N>, Ret = Option<P>>,
        P: Events<K, O>,
    {
        let name = |taken: &P| self.name(taken);
        self.taking()
            .take_async(first, Processed, name, |taken| ((), process(taken)), |_, ()| Processed)
            .await
    }

    #[inline]
    fn taking(&self) -> Taking<'_, OrderedQueue<K, O, N>, R> {
        Taking { monitor: &self.monitor, on_slow: self.on_slow.as_ref() }
    }

    /// Returns the key of the first event as text; empty if it is not a change of an object.
    fn name(&self, taken: &impl Events<K, O>) -> String {
        let first = taken.first().and_then(Event::delta);
        match first.map(|delta| self.intake.key_of_delta(delta)) {
            Some(Ok(key)) => format!("{key:?}"),
            _ => String::new(),
        }
    }
}
