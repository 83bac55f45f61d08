//! Reconciling only when the informer shows the client's own last write.

use std::sync::Arc;
use std::time::Duration;

use crate::pool::awaited::ReconcileAsync;
use crate::pool::{Action, Attempt, Failure, Fault, Reconcile};
use crate::runtime::{Instant, Runtime};
use crate::store::{Described, Handle};

use super::shared::Informer;

/// A reconciler that is called for a key once its informer shows the last write to that key; made
/// by [`after_own_writes`].
#[derive(Debug)]
pub struct AfterOwnWrites<F, O: Handle + Described, R: Runtime> {
    reconciler: F,
    informer: Arc<Informer<O, R>>,
    patience: Duration,
}

/// Calls a reconciler for a key only once the informer shows what was last
/// [written](Informer::wrote) to it. If that takes longer than `patience`, the key comes back when
/// the queue's limiter says so and counts as a failure there; its worker takes other keys
/// meanwhile. Writes that a server has lost, which went back to an older version, are not waited
/// for again.
pub fn after_own_writes<F, O: Handle + Described, R: Runtime>(
    informer: &Arc<Informer<O, R>>,
    patience: Duration,
    reconciler: F,
) -> AfterOwnWrites<F, O, R> {
    AfterOwnWrites { reconciler, informer: Arc::clone(informer), patience }
}

impl<F, O: Handle + Described, R: Runtime> AfterOwnWrites<F, O, R> {
    fn until(&self) -> Instant {
        self.informer.runtime.now() + self.patience
    }

    fn later(&self) -> Action {
        self.informer.forget_lost_writes();
        Action::Requeue
    }
}

impl<F, O, R> Reconcile<String> for AfterOwnWrites<F, O, R>
where
    F: Reconcile<String>,
    O: Handle + Described,
    R: Runtime,
{
    type Error = F::Error;

    fn reconcile(&self, key: &String, attempt: Attempt<'_>) -> Result<Action, Fault<F::Error>> {
        match self.informer.get_written(key, self.until()) {
            Ok(_) => self.reconciler.reconcile(key, attempt),
            Err(_) => Ok(self.later()),
        }
    }

    fn max_retries(&self) -> Option<u32> {
        self.reconciler.max_retries()
    }

    fn failed(&self, key: &String, failure: &Failure<F::Error>) {
        self.reconciler.failed(key, failure);
    }
}

impl<F, O, R> ReconcileAsync<String> for AfterOwnWrites<F, O, R>
where
    F: ReconcileAsync<String>,
    O: Handle + Described,
    R: Runtime,
{
    type Error = F::Error;

    async fn reconcile(
        &self,
        key: &String,
        attempt: Attempt<'_>,
    ) -> Result<Action, Fault<F::Error>> {
        match self.informer.get_written_async(key, self.until()).await {
            Ok(_) => self.reconciler.reconcile(key, attempt).await,
            Err(_) => Ok(self.later()),
        }
    }

    fn max_retries(&self) -> Option<u32> {
        self.reconciler.max_retries()
    }

    fn failed(&self, key: &String, failure: &Failure<F::Error>) {
        self.reconciler.failed(key, failure);
    }
}
