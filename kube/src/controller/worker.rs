//! The work on one key: take the object from the store, call the reconcile function, apply the
//! policy.

use std::fmt;
use std::sync::Arc;

use seatrial_core::informer::Informer;
use seatrial_core::pool::tasks::ReconcileAsync;
use seatrial_core::pool::{Action, Attempt, Fault};
use seatrial_core::runtime::{Instant, Tokio};

use super::ObjectRef;
use super::queue::{FairQueue, PARKED};
use crate::object::Object;

/// A reconcile function with its policy and context.
pub(super) struct Worker<K: kube::Resource + fmt::Debug + Send + Sync + 'static, F, P, C> {
    pub(super) queue: Arc<FairQueue>,
    pub(super) main: Arc<Informer<Object<K>, Tokio>>,
    pub(super) reconcile: F,
    pub(super) error_policy: P,
    pub(super) context: Arc<C>,
}

impl<K, F, W, E, P, C> ReconcileAsync<ObjectRef> for Worker<K, F, P, C>
where
    K: kube::Resource + fmt::Debug + Send + Sync + 'static,
    F: Fn(Arc<K>, Arc<C>) -> W + Send + Sync + 'static,
    W: Future<Output = Result<Action, E>> + Send,
    E: Send + 'static,
    P: Fn(Arc<K>, &E, Arc<C>) -> Action + Send + Sync + 'static,
    C: Send + Sync + 'static,
{
    type Error = E;

    async fn reconcile(&self, key: &ObjectRef, _: Attempt<'_>) -> Result<Action, Fault<E>> {
        let object = match self.main.get_written_async(&key.to_string(), Instant::ZERO).await {
            Ok(Some(object)) => object,
            // A deleted object has nothing left to reconcile; finalizers have run before.
            Ok(None) => return Ok(Action::Done),
            // The worker takes other keys until the write is visible.
            Err(_) => {
                self.queue.park(key.clone());
                return Ok(Action::Priority(PARKED, None));
            }
        };
        let context = Arc::clone(&self.context);
        let error = match (self.reconcile)(Arc::clone(&object.0), context).await {
            Ok(Action::Priority(PARKED, delay)) => return Ok(Action::Priority(PARKED + 1, delay)),
            Ok(action) => return Ok(action),
            Err(error) => error,
        };
        Err(match (self.error_policy)(object.0, &error, Arc::clone(&self.context)) {
            Action::Done => Fault::Terminal(error),
            Action::RequeueAfter(delay) | Action::Priority(_, Some(delay)) => {
                Fault::RetryAfter(error, delay)
            }
            _ => Fault::Retry(error),
        })
    }
}
