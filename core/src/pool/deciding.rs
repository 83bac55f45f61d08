//! Turns a function that takes the attempt and judges its errors into a reconciler.

use super::answer::{Action, Attempt, Fault};
use super::awaited::ReconcileAsync;
use super::reconcile::Reconcile;

/// The reconciler that [`deciding`] makes.
#[derive(Clone, Copy, Debug)]
pub struct Deciding<F>(F);

/// Makes a reconciler from a function that is given the number of the attempt and decides which
/// errors are worth another attempt: `Fn(&K, u32) -> Result<Action, Fault<E>>`. For tasks the
/// function takes an owned `K` and returns a future of the same result.
///
/// ```
/// use std::time::Duration;
/// use seatrial_core::limited_queue::LimitedQueue;
/// use seatrial_core::pool::{Action, Fault, awaited, deciding};
/// use seatrial_core::runtime::{Runtime, System};
///
/// let system = System::new();
/// let queue = LimitedQueue::with_default_limiter(&system);
/// queue.add_all(["", "web"]);
/// queue.shut_down();
/// let reconcile = deciding(async |key: &str, attempt: u32| {
///     match (key, attempt) {
///         ("", _) => Err(Fault::Terminal("it has no name")),
///         (_, 1) => Err(Fault::RetryAfter("the server asks for patience", Duration::from_secs(1))),
///         _ => Ok(Action::Done),
///     }
/// });
/// system.block_on(awaited::work(&queue, &reconcile));
/// ```
pub const fn deciding<F>(function: F) -> Deciding<F> {
    Deciding(function)
}

impl<K, E, F> Reconcile<K> for Deciding<F>
where
    F: Fn(&K, u32) -> Result<Action, Fault<E>> + Send + Sync + 'static,
{
    type Error = E;

    fn reconcile(&self, key: &K, attempt: Attempt<'_>) -> Result<Action, Fault<E>> {
        (self.0)(key, attempt.number())
    }
}

impl<K, E, T, F> ReconcileAsync<K> for Deciding<F>
where
    K: Clone + Send + Sync,
    E: Send,
    T: Future<Output = Result<Action, Fault<E>>> + Send,
    F: Fn(K, u32) -> T + Send + Sync + 'static,
{
    type Error = E;

    fn reconcile(
        &self,
        key: &K,
        attempt: Attempt<'_>,
    ) -> impl Future<Output = Result<Action, Fault<E>>> + Send {
        (self.0)(key.clone(), attempt.number())
    }
}
