//! Additions to a reconciler: a maximum of retries, and listeners for its failures.

use std::fmt;
use std::sync::Arc;

use crate::caught::{each, pass_on};
use crate::metrics::{Metrics, Sink};

use super::answer::{Action, Attempt, Failure, Fate, Fault};
use super::awaited::ReconcileAsync;
use super::reconcile::Reconcile;

/// A reconciler with additions, made by [`policy`].
#[derive(Clone)]
pub struct Policy<F, T = Silent> {
    reconciler: F,
    tell: T,
    max_retries: Option<u32>,
    sink: Option<Arc<dyn Sink>>,
}

/// Wraps a reconciler, which may be a function, so that you can add a maximum of retries, metrics
/// and a listener.
///
/// ```
/// use std::time::Duration;
/// use seatrial_core::limited_queue::LimitedQueue;
/// use seatrial_core::metrics::Metrics;
/// use seatrial_core::pool::{Failure, awaited, policy};
/// use seatrial_core::runtime::{Runtime, System};
///
/// let system = System::new();
/// let queue = LimitedQueue::with_default_limiter(&system);
/// queue.add("web");
/// queue.shut_down();
/// let reconcile = policy(async |_: &str| Err::<(), _>("the server is busy"))
///     .at_most(5)
///     .counting(&Metrics::named("pods"))
///     .telling(|key: &&str, failure: &Failure<&str>| eprintln!("{key}: {failure}"));
/// system.block_on(awaited::work(&queue, &reconcile));
/// ```
pub const fn policy<F>(reconciler: F) -> Policy<F> {
    Policy { reconciler, tell: Silent, max_retries: None, sink: None }
}

impl<F, T> Policy<F, T> {
    /// Gives up an item that has failed after that many retries. Its failures are forgotten, and it
    /// comes back when somebody adds it. The queue's limiter counts the retries: with a limiter
    /// that counts none, such as a token bucket alone, an item is tried for ever. An
    /// [`Action::Requeue`] counts as a retry too, so after many of them an item is given up at its
    /// first error. For long waits return [`Action::RequeueAfter`] instead.
    #[must_use]
    pub fn at_most(self, retries: u32) -> Self {
        Self { max_retries: Some(retries), ..self }
    }

    /// Counts failures and items that are given up in the metrics of a queue, through
    /// [`Sink::failed`] and [`Sink::given_up`].
    #[must_use]
    pub fn counting(self, metrics: &Metrics) -> Self {
        Self { sink: metrics.sink(), ..self }
    }

    /// Adds a listener that is called for every failure before its item is given back. Use it to
    /// log failures. The reconciler's own [`failed`](Reconcile::failed) is called first.
    #[must_use]
    pub fn telling<U>(self, tell: U) -> Policy<F, U> {
        let Self { reconciler, max_retries, sink, .. } = self;
        Policy { reconciler, tell, max_retries, sink }
    }

    /// Tells the metrics, the reconciler and the listener of a failure. If one of them panics, the
    /// others are still told.
    fn tell_all<K, E>(&self, key: &K, failure: &Failure<E>, reconciler: &dyn Fn())
    where
        T: Tell<K, E>,
    {
        let all: [&dyn Fn(); 4] = [
            &|| self.sink.iter().for_each(|sink| sink.failed()),
            &|| {
                if let (Some(sink), Fate::GivenUp(why)) = (&self.sink, failure.fate) {
                    sink.given_up(why);
                }
            },
            reconciler,
            &|| self.tell.tell(key, failure),
        ];
        pass_on(each(all, |tell| tell()));
    }
}

/// A listener for failures: a function, or `Silent`.
pub trait Tell<K, E>: Send + Sync + 'static {
    /// Called after a failure.
    fn tell(&self, key: &K, failure: &Failure<E>);
}

/// A listener that does nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl<K, E> Tell<K, E> for Silent {
    fn tell(&self, _: &K, _: &Failure<E>) {}
}

impl<K, E, F: Fn(&K, &Failure<E>) + Send + Sync + 'static> Tell<K, E> for F {
    fn tell(&self, key: &K, failure: &Failure<E>) {
        self(key, failure);
    }
}

impl<K, F: Reconcile<K>, T: Tell<K, F::Error>> Reconcile<K> for Policy<F, T> {
    type Error = F::Error;

    fn reconcile(&self, key: &K, attempt: Attempt<'_>) -> Result<Action, Fault<F::Error>> {
        self.reconciler.reconcile(key, attempt)
    }

    fn max_retries(&self) -> Option<u32> {
        self.max_retries.or_else(|| self.reconciler.max_retries())
    }

    fn failed(&self, key: &K, failure: &Failure<F::Error>) {
        self.tell_all(key, failure, &|| self.reconciler.failed(key, failure));
    }
}

impl<K, F: ReconcileAsync<K>, T: Tell<K, F::Error>> ReconcileAsync<K> for Policy<F, T> {
    type Error = F::Error;

    fn reconcile(
        &self,
        key: &K,
        attempt: Attempt<'_>,
    ) -> impl Future<Output = Result<Action, Fault<F::Error>>> + Send {
        self.reconciler.reconcile(key, attempt)
    }

    fn max_retries(&self) -> Option<u32> {
        self.max_retries.or_else(|| self.reconciler.max_retries())
    }

    fn failed(&self, key: &K, failure: &Failure<F::Error>) {
        self.tell_all(key, failure, &|| self.reconciler.failed(key, failure));
    }
}

impl<F, T> fmt::Debug for Policy<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").field("max_retries", &self.max_retries).finish_non_exhaustive()
    }
}
