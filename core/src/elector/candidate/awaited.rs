//! Candidates that run as tasks, on any executor and without a thread.

use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::elector::async_driver::limited;
use crate::elector::lock::{AsyncObjectStore, ObjectName, StoreError};
use crate::runtime::Runtime;

use super::{Candidate, CandidateSpec, EndWork, Inside, Renewed, Seen};

/// As [`WatchCandidate`](super::WatchCandidate), for tasks.
pub trait AsyncWatchCandidate<R: Runtime>: Send + Sync {
    /// Ends the watch when it drops.
    type Watching: Send;

    /// Starts to watch the object of that name, passes its first state to `seen`, and returns.
    /// Later states are passed on in the background. `None` if the token ended before.
    fn watch(
        &self,
        name: &ObjectName,
        seen: Seen,
        token: &CancelToken<R>,
    ) -> impl Future<Output = Option<Self::Watching>> + Send;
}

impl<S: AsyncObjectStore<CandidateSpec>, R: Runtime> Candidate<S, R> {
    /// As [`run`](Self::run), for tasks. A call that is under way when the token ends is dropped.
    pub async fn run_async(&self, token: &CancelToken<R>, watch: &impl AsyncWatchCandidate<R>) {
        let inside = &self.inside;
        let Some(watching) = watch.watch(&inside.name, self.seen(), token).await else { return };
        let end = token.on_end(Arc::new(EndWork(Arc::clone(inside))).into());
        inside.queue.add(());
        while let Some(item) = inside.queue.get_async().await {
            let result = inside.ensure_async(token).await;
            if token.is_cancelled() {
                break;
            }
            let outcome = inside.came_to(result);
            if let Some(delivery) = item.take_over() {
                inside.queue.settle(delivery, outcome);
            }
        }
        drop(end);
        drop(watching);
    }
}

impl<S: AsyncObjectStore<CandidateSpec>, R: Runtime> Inside<S, R> {
    /// As [`ensure`](Self::ensure), until the token ends.
    async fn ensure_async(&self, token: &CancelToken<R>) -> Result<(), StoreError> {
        let until = Some(token);
        match self.renewed() {
            Renewed::New(object) => {
                limited(&self.runtime, self.store.create(&object), None, until).await?
            }
            Renewed::Seen(object) => {
                limited(&self.runtime, self.store.update(&object), None, until).await?
            }
        };
        Ok(())
    }
}
