//! Taking what is next, by threads and by tasks.

use crate::fifo::{AfterPop, Closed, Handled, SlowProcessing, Stopwatch};
use crate::machine::Host;
use crate::runtime::Runtime;
use crate::store::{Handle, Key, KnownObjects};

use super::{AddIfAbsent, DeltaFifo, DeltaQueue, Pop, Popped, Processed};

impl<K, O, N, R, H> DeltaFifo<K, O, N, R, H>
where
    K: Key,
    O: Handle,
    N: KnownObjects<K, O>,
    R: Runtime,
    H: Host<DeltaQueue<K, O, N>>,
{
    /// Takes the next entry, sleeping until there is one, and lets `process` look at it.
    ///
    /// `process` runs under the queue's lock (`cache:QU-12`): it is the place, and the only one,
    /// to update the known objects, and it must not call the queue. The entry is gone whatever it
    /// returns, and if it panics.
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
        let mut slow = None;
        let body = |popped| self.process(popped, process, &mut slow);
        let outcome = self.monitor.around(Pop, Processed { requeue: None }, body);
        self.tell(slow);
        outcome.ok_or(Closed)
    }

    /// As [`pop`](Self::pop), for tasks. `process` runs under the lock here as well, and awaits
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
        let mut slow = None;
        let body = |popped| self.process(popped, process, &mut slow);
        let outcome = self.monitor.around_async(Pop, Processed { requeue: None }, body).await;
        self.tell(slow);
        outcome.ok_or(Closed)
    }

    /// Lets `process` look at what was taken, and says how that ends.
    #[inline(always)]
    fn process<T>(
        &self,
        popped: Option<Popped<K, O>>,
        process: impl FnOnce(&Popped<K, O>) -> (AfterPop, T),
        slow: &mut Option<SlowProcessing>,
    ) -> Handled<Processed<K, O>, Popped<K, O>, T> {
        let Some(popped) = popped else { return (None, None) };
        let watch = self.watch(&popped);
        let (after, result) = process(&popped);
        if let Some(watch) = watch {
            *slow = watch.stop(self.monitor.runtime());
        }
        (Some(self.processed(after, &popped)), Some((popped, result)))
    }

    #[inline]
    fn watch(&self, popped: &Popped<K, O>) -> Option<Stopwatch> {
        let key = || format!("{:?}", popped.key);
        Stopwatch::start(self.on_slow.is_some(), self.monitor.runtime(), key, popped.left, 1)
    }

    #[inline]
    fn tell(&self, slow: Option<SlowProcessing>) {
        if let (Some(hook), Some(slow)) = (&self.on_slow, slow) {
            hook(slow);
        }
    }

    #[inline]
    fn processed(&self, after: AfterPop, popped: &Popped<K, O>) -> Processed<K, O> {
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
