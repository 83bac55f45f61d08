//! The run of a controller: its sources fill the queue, and its workers empty it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kube::Resource;
use seatrial_core::informer::Informer;
use seatrial_core::pool::policy;
use seatrial_core::pool::tasks::TaskPool;
use seatrial_core::runtime::{Ambient as _, Tokio};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};

use super::jitter::Jittered;
use super::queue::FairQueue;
use super::source::{Begun, Source};
use super::worker::Worker;
use super::{Action, Controller, ObjectRef};
use crate::cache::NotSynced;
use crate::object::Object;

/// How long a write of the controller is waited for before it may be lost.
const PATIENCE: Duration = Duration::from_secs(5);

impl<K: Resource + fmt::Debug + Send + Sync + 'static> Controller<K> {
    /// Reconciles until the shutdown. Keys that still wait then are dropped; the next start lists
    /// their objects.
    ///
    /// The error policy decides about an object that failed: [`Action::Requeue`] tries it again,
    /// later each time, [`Action::RequeueAfter`] after that time, [`Action::Done`] when it changes.
    /// A panic is tried again, like an error. Dropping the future stops everything at once,
    /// wherever the reconcile function awaits.
    ///
    /// # Errors
    /// A collection was not listed in time; nothing was reconciled.
    ///
    /// # Panics
    /// If a mapper panics.
    pub async fn run<F, W, E, P, C>(
        self,
        reconcile: F,
        error_policy: P,
        context: Arc<C>,
    ) -> Result<(), NotSynced>
    where
        F: Fn(Arc<K>, Arc<C>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Action, E>> + Send,
        E: Send + 'static,
        P: Fn(Arc<K>, &E, Arc<C>) -> Action + Send + Sync + 'static,
        C: Send + Sync + 'static,
    {
        let Self { main, sources, mut shutdown, listed, .. } = self;
        let (runtime, informer) = (&main.shared.runtime, Arc::clone(&main.shared.informer));
        let limiter = Jittered::over(self.limiter, self.jitter, runtime);
        let queue = Arc::new(FairQueue::new(runtime, limiter, &self.metrics, self.shard));
        let mut helpers = JoinSet::new(); // aborted when it drops
        let its = Source::new(main.clone(), |object| Some(ObjectRef::from_obj(&**object)));
        let sources = sources.into_iter().chain(Some(its)).map(|source| source.begin(&queue));
        let synced = all_listed(sources.collect(), listed, &mut helpers);
        let (ages, measures) = (Arc::clone(&queue), Arc::clone(&queue));
        let waits = Arc::clone(&queue).bring_back(until_visible(&informer, runtime));
        helpers.spawn(async move { ages.age().await });
        helpers.spawn(async move { measures.refresh_metrics().await });
        helpers.spawn(waits);
        let synced = async { crate::race::first(synced, unless_it_panics(&mut helpers)).await };
        match crate::race::first(synced, &mut shutdown).await {
            Some(Some(synced)) => synced?,
            _ => return Ok(()),
        }
        let worker =
            Worker { queue: Arc::clone(&queue), main: informer, reconcile, error_policy, context };
        let pool = TaskPool::start(&queue, self.workers, policy(worker).counting(&self.metrics));
        crate::race::first(shutdown, unless_it_panics(&mut helpers)).await;
        // The queue stops first, so that the end of the caches starts no reconcile.
        seatrial_core::pool::Source::shut_down(&*queue);
        let end = pool.shut_down(Duration::MAX).await;
        tracing::info!(waiting = end.waiting, "the controller has stopped");
        Ok(())
    }
}

/// Spawns the sources, and returns a future that is ready when all of them have been listed.
fn all_listed(
    sources: Vec<Begun>,
    (limit, goes_on): (Duration, bool),
    helpers: &mut JoinSet<()>,
) -> impl Future<Output = Result<(), NotSynced>> + use<> {
    let far = Instant::now() + Duration::from_secs(100 * 365 * 24 * 3600);
    let until = Instant::now().checked_add(limit).unwrap_or(far);
    let begun = |Begun { fill, synced, not_synced }| {
        helpers.spawn(fill);
        (synced, not_synced)
    };
    let sources: Vec<_> = sources.into_iter().map(begun).collect();
    async move {
        for (synced, not_synced) in sources {
            if timeout_at(until, synced).await.is_ok() {
                continue;
            }
            let error = not_synced();
            if !goes_on {
                return Err(error);
            }
            tracing::warn!("the controller begins although {error}");
        }
        Ok(())
    }
}

/// Returns a function that waits until a noted write of an object is visible, or takes too long.
fn until_visible<K: Resource + fmt::Debug + Send + Sync + 'static>(
    informer: &Arc<Informer<Object<K>, Tokio>>,
    runtime: &Tokio,
) -> impl Fn(&ObjectRef) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync + use<K> {
    let (informer, runtime) = (Arc::clone(informer), runtime.clone());
    move |key| {
        let (informer, until, key) =
            (Arc::clone(&informer), runtime.now() + PATIENCE, key.to_string());
        Box::pin(async move {
            let Err(error) = informer.get_written_async(&key, until).await else { return };
            let are_lost = informer.forget_lost_writes();
            tracing::warn!(key, are_lost, "the controller does not see its own write: {error}");
        })
    }
}

/// Runs for ever, unless a task panics: a controller without one of its sources would miss changes.
async fn unless_it_panics(tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if let Err(Ok(panic)) = ended.map_err(JoinError::try_into_panic) {
            std::panic::resume_unwind(panic);
        }
    }
    std::future::pending::<()>().await;
}
