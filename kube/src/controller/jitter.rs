//! A random part on top of the time that a failed key waits.

use std::time::Duration;

use seatrial_core::limiter::{Item, Limiter};
use seatrial_core::runtime::{Ambient, Instant, Tokio};

use super::ObjectRef;
use super::queue::KeyLimiter;

/// A limiter whose delays are longer by a random part, so that keys that failed together are not
/// tried again together.
pub(super) struct Jittered {
    inner: KeyLimiter,
    factor: f64,
    runtime: Tokio,
}

impl Jittered {
    /// Returns the limiter itself if there is no random part to add.
    pub(super) fn over(inner: KeyLimiter, factor: f64, runtime: &Tokio) -> KeyLimiter {
        if factor > 0.0 && factor.is_finite() {
            Box::new(Self { inner, factor, runtime: runtime.clone() })
        } else {
            inner
        }
    }
}

impl Limiter<ObjectRef> for Jittered {
    fn when(&mut self, item: Item<'_, ObjectRef>, now: Instant) -> Duration {
        let delay = self.inner.when(item, now);
        let more = delay.as_secs_f64() * self.factor * self.runtime.uniform();
        delay.saturating_add(Duration::try_from_secs_f64(more).unwrap_or(Duration::MAX))
    }

    fn forget(&mut self, item: Item<'_, ObjectRef>, left: &mut Vec<ObjectRef>) {
        self.inner.forget(item, left);
    }

    fn num_requeues(&self, item: Item<'_, ObjectRef>) -> u32 {
        self.inner.num_requeues(item)
    }

    fn reads_time(&self) -> bool {
        self.inner.reads_time()
    }
}

#[cfg(test)]
mod tests {
    use seatrial_core::limiter::Exponential;
    use seatrial_core::priority_queue::PriorityQueue;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn keys_that_fail_together_come_back_apart() {
        let second = Duration::from_secs(1);
        let runtime = Tokio::seeded(7);
        let inner: KeyLimiter = Box::new(Exponential::new(second, second));
        let limiter = Jittered::over(inner, 0.5, &runtime);
        let queue = PriorityQueue::with_limiter(&runtime, limiter);
        for number in 0..100 {
            queue.add_rate_limited(ObjectRef::new(&number.to_string()));
        }
        let mut ready = Vec::new();
        for wait in [999, 251, 250] {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            ready.push(queue.len());
        }
        assert_eq!((ready[0], ready[2]), (0, 100), "none before its time, all within half more");
        assert!((20..80).contains(&ready[1]), "{ready:?}");
    }
}
