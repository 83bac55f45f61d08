//! Taking what is next, by threads and by tasks, one by one or together.

use std::slice;

use crate::fifo::{Closed, Handled, SlowProcessing, Stopwatch};
use crate::machine::{Host, Operation};
use crate::runtime::Runtime;
use crate::store::{Handle, Key, KnownObjects};

use super::{Batch, Event, OrderedFifo, OrderedQueue, Pop, PopBatch, Popped, Processed};

/// What was taken at once.
trait Taken<K, O> {
    fn events(&self) -> &[Event<K, O>];
    fn left(&self) -> usize;
}

impl<K, O> Taken<K, O> for Popped<K, O> {
    fn events(&self) -> &[Event<K, O>] {
        slice::from_ref(&self.event)
    }

    fn left(&self) -> usize {
        self.left
    }
}

impl<K, O> Taken<K, O> for Batch<K, O> {
    fn events(&self) -> &[Event<K, O>] {
        &self.events
    }

    fn left(&self) -> usize {
        self.left
    }
}

impl<K, O, N, R, H> OrderedFifo<K, O, N, R, H>
where
    K: Key,
    O: Handle,
    N: KnownObjects<K, O>,
    R: Runtime,
    H: Host<OrderedQueue<K, O, N>>,
{
    /// Takes the next event, sleeping until there is one, and lets `process` look at it.
    ///
    /// The event is gone whatever `process` returns, and if it panics. In plain mode, and while
    /// the queue is long, `process` runs under the queue's lock; then it must not call the queue
    /// (`cache:QU-12`). It never runs twice at a time.
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

    /// As [`pop`](Self::pop), for tasks. `process` awaits nothing. A future that is dropped takes
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

    /// As [`pop`](Self::pop), for as many events as may be processed together: changes of
    /// different objects up to the batch size, or one event of another kind (`cache:RF-19`).
    ///
    /// Objects are told by their keys. From the first call on, the queue notes a hash of every key
    /// that comes in; where it has none, or two are equal, it asks for keys here, under its lock.
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
        P: Taken<K, O>,
    {
        let mut slow = None;
        let body = |taken| self.process(taken, process, &mut slow);
        let outcome = self.monitor.around(first, Processed, body);
        self.tell(slow);
        outcome.ok_or(Closed)
    }

    async fn take_async<A, P, T>(
        &self,
        first: A,
        process: impl FnOnce(&P) -> T,
    ) -> Result<(P, T), Closed>
    where
        A: Operation<OrderedQueue<K, O, N>, Ret = Option<P>>,
        P: Taken<K, O>,
    {
        let mut slow = None;
        let body = |taken| self.process(taken, process, &mut slow);
        let outcome = self.monitor.around_async(first, Processed, body).await;
        self.tell(slow);
        outcome.ok_or(Closed)
    }

    /// Lets `process` look at what was taken.
    #[inline(always)]
    fn process<P: Taken<K, O>, T>(
        &self,
        taken: Option<P>,
        process: impl FnOnce(&P) -> T,
        slow: &mut Option<SlowProcessing>,
    ) -> Handled<Processed, P, T> {
        let Some(taken) = taken else { return (None, None) };
        let watch = self.watch(&taken);
        let result = process(&taken);
        if let Some(watch) = watch {
            *slow = watch.stop(self.monitor.runtime());
        }
        (Some(Processed), Some((taken, result)))
    }

    #[inline]
    fn watch(&self, taken: &impl Taken<K, O>) -> Option<Stopwatch> {
        let (events, left) = (taken.events(), taken.left());
        let first = events.first().and_then(Event::delta);
        let key = || match first.map(|delta| self.intake.key_of_delta(delta)) {
            Some(Ok(key)) => format!("{key:?}"),
            _ => String::new(),
        };
        Stopwatch::start(self.on_slow.is_some(), self.monitor.runtime(), key, left, events.len())
    }

    #[inline]
    fn tell(&self, slow: Option<SlowProcessing>) {
        if let (Some(hook), Some(slow)) = (&self.on_slow, slow) {
            hook(slow);
        }
    }
}
