//! Taking the next entry and letting the consumer process it, written once for all queues of
//! objects.

use crate::caught;
use crate::machine::{Machine, Operation};
use crate::monitor::Monitor;
use crate::runtime::Runtime;

use super::{Closed, SlowHook, SlowProcessing, Stopwatch};

/// The entries that were taken at once.
pub(crate) trait Taken {
    /// How many entries it holds.
    fn entries(&self) -> usize {
        1
    }

    /// How many entries were left in the queue.
    fn left(&self) -> usize;
}

/// A queue to take entries from, and the hook for slow processing.
pub(crate) struct Taking<'a, M: Machine, R: Runtime> {
    pub(crate) monitor: &'a Monitor<M, R>,
    pub(crate) on_slow: Option<&'a SlowHook>,
}

impl<M: Machine, R: Runtime> Taking<'_, M, R> {
    /// Steps `first`, lets `process` look at the result, and steps the call that `end` makes of the
    /// answer, or `abandoned` if either panics. Slow processing is reported with `name`; the time
    /// of `end` does not count.
    ///
    /// # Errors
    /// There is nothing to take and never will be.
    #[inline(always)]
    pub(crate) fn take<A, B, P, S, T>(
        &self,
        first: A,
        abandoned: B,
        name: impl FnOnce(&P) -> String,
        process: impl FnOnce(&P) -> (S, T),
        end: impl FnOnce(&P, S) -> B,
    ) -> Result<(P, T), Closed>
    where
        A: Operation<M, Ret = Option<P>>,
        B: Operation<M>,
        P: Taken,
    {
        let mut slow = None;
        let body = |taken| self.process(taken, name, process, end, &mut slow);
        let outcome = self.monitor.around(first, abandoned, body);
        self.tell(slow);
        outcome.ok_or(Closed)
    }

    /// As [`take`](Self::take), for tasks.
    pub(crate) async fn take_async<A, B, P, S, T>(
        self,
        first: A,
        abandoned: B,
        name: impl FnOnce(&P) -> String,
        process: impl FnOnce(&P) -> (S, T),
        end: impl FnOnce(&P, S) -> B,
    ) -> Result<(P, T), Closed>
    where
        A: Operation<M, Ret = Option<P>>,
        B: Operation<M>,
        P: Taken,
    {
        let mut slow = None;
        let body = |taken| self.process(taken, name, process, end, &mut slow);
        let outcome = self.monitor.around_async(first, abandoned, body).await;
        self.tell(slow);
        outcome.ok_or(Closed)
    }

    /// Lets `process` look at the entries, if there are any, and measures its time. Returns the call
    /// that ends the processing.
    #[inline(always)]
    fn process<B, P: Taken, S, T>(
        &self,
        taken: Option<P>,
        name: impl FnOnce(&P) -> String,
        process: impl FnOnce(&P) -> (S, T),
        end: impl FnOnce(&P, S) -> B,
        slow: &mut Option<SlowProcessing>,
    ) -> (Option<B>, Option<(P, T)>) {
        let Some(taken) = taken else { return (None, None) };
        let watch = self.watch(&taken, name);
        let (said, result) = process(&taken);
        if let Some(watch) = watch {
            *slow = watch.stop(self.monitor.runtime());
        }
        (Some(end(&taken, said)), Some((taken, result)))
    }

    #[inline]
    fn watch<P: Taken>(&self, taken: &P, name: impl FnOnce(&P) -> String) -> Option<Stopwatch> {
        let (wanted, name) = (self.on_slow.is_some(), || name(taken));
        Stopwatch::start(wanted, self.monitor.runtime(), name, taken.left(), taken.entries())
    }

    #[inline]
    fn tell(&self, slow: Option<SlowProcessing>) {
        if let (Some(hook), Some(slow)) = (self.on_slow, slow) {
            caught::tell(|| hook(slow));
        }
    }
}
