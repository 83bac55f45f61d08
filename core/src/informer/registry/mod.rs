//! The informers of a program, one for each kind (client-go `SharedInformerFactory`).

mod members;

use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::runtime::{Instant, Runtime, System};
use crate::store::{Described, Handle};

use super::feed::FeedError;
use super::health::Unwell;
use super::list_watch::BoxFuture;
use super::shared::Informer;

pub use members::{Members, Runs};

/// Informers by the types of their objects and by name. The same type and name give the same
/// informer.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use seatrial_core::informer::{Informer, ListWatch, FeedError, Registry};
/// # use seatrial_core::runtime::{Ambient, System};
/// # use seatrial_core::store::{Described, Handle};
/// # fn run<Pod: Handle + Described>(source: Arc<dyn ListWatch<Pod>>) -> Result<(), FeedError> {
/// let system = System::new();
/// let registry = Registry::new(&system);
/// let pods = registry.informer("pods", || Informer::new(&system, source))?;
/// registry.start();
/// let until = system.now() + Duration::from_secs(60);
/// if let Err(late) = registry.wait_for_sync(until) {
///     println!("no first list yet: {late:?}");
/// }
/// println!("{} pods", pods.store().len());
/// registry.shut_down(); // every thread has ended
/// # Ok(())
/// # }
/// ```
///
/// Dropping it stops all informers that it started, without waiting for them.
pub struct Registry<R: Runtime = System> {
    runtime: R,
    members: Members<R>,
}

impl<O: Handle + Described, R: Runtime> Runs<R> for Informer<O, R> {
    fn run(&self, token: &CancelToken<R>) {
        let _ran_already = Self::run(self, token); // an error means that its user runs it already
    }

    fn run_async<'a>(&'a self, token: &'a CancelToken<R>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _ran_already = Self::run_async(self, token).await;
        })
    }

    fn wait_for_sync_async(&self, until: Instant) -> BoxFuture<'_, bool> {
        Box::pin(Self::wait_for_sync_async(self, until))
    }

    fn check(&self) -> Result<(), Unwell> {
        Self::check(self)
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl<R: Runtime> Registry<R> {
    /// A registry without informers.
    pub fn new(runtime: &R) -> Self {
        Self { runtime: runtime.clone(), members: Members::new(runtime) }
    }

    /// Returns the informer of this type and name. If there is none yet, `make` makes it; the next
    /// [`start`](Self::start) runs it.
    ///
    /// # Errors
    /// The registry is shut down.
    pub fn informer<O: Handle + Described>(
        &self,
        name: &str,
        make: impl FnOnce() -> Informer<O, R>,
    ) -> Result<Arc<Informer<O, R>>, FeedError> {
        self.members.get_or_make(name, type_name::<O>(), make)
    }

    /// Returns the informer of this type and name, if there is one.
    pub fn get<O: Handle + Described>(&self, name: &str) -> Option<Arc<Informer<O, R>>> {
        self.members.get(name)
    }

    /// Starts a thread for every informer that does not run yet. With [`System`] and the feature
    /// `tokio`, the threads can use the tokio runtime in which this is called. A source that needs
    /// one, for example one that uses the client of kube, panics without it.
    pub fn start(&self) {
        self.members.start();
    }

    /// As [`start`](Self::start), with tasks: `spawn` runs each on an executor. If the executor has
    /// only one thread, its tasks must wait with
    /// [`wait_for_sync_async`](Self::wait_for_sync_async), [`remove_async`](Self::remove_async) and
    /// [`shut_down_async`](Self::shut_down_async): the blocking forms would keep the informers from
    /// running.
    pub fn start_with(&self, spawn: impl FnMut(BoxFuture<'static, ()>)) {
        self.members.start_with(spawn);
    }

    /// Checks all informers ([`Informer::check`]), for a health check of the program. An informer
    /// whose thread or task has ended is not well.
    ///
    /// # Errors
    /// The names of the informers that are not well, and why.
    pub fn check(&self) -> Result<(), Vec<(String, Unwell)>> {
        self.members.check()
    }

    /// Sleeps until every informer has its first list.
    ///
    /// # Errors
    /// The names of informers that have no list in time, or never will.
    pub fn wait_for_sync(&self, until: Instant) -> Result<(), Vec<String>> {
        self.runtime.block_on(self.wait_for_sync_async(until))
    }

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks.
    ///
    /// # Errors
    /// As [`wait_for_sync`](Self::wait_for_sync).
    pub async fn wait_for_sync_async(&self, until: Instant) -> Result<(), Vec<String>> {
        self.members.wait_for_sync(until).await
    }

    /// Stops the informer of this type and name, forgets it, and sleeps until it and all its
    /// handlers have ended; so do not call it from one of these handlers. Returns whether there was
    /// one.
    pub fn remove<O: Handle + Described>(&self, name: &str) -> bool {
        self.runtime.block_on(self.remove_async::<O>(name))
    }

    /// As [`remove`](Self::remove), for tasks. Dropping the future stops the wait.
    pub async fn remove_async<O: Handle + Described>(&self, name: &str) -> bool {
        self.members.remove::<Informer<O, R>>(name).await
    }

    /// Stops all informers, and sleeps until they and all their handlers have ended; so do not call
    /// it from one of these handlers. No informers are left. If some panicked, it panics with the
    /// first panic, once all have ended.
    pub fn shut_down(&self) {
        self.runtime.block_on(self.shut_down_async());
    }

    /// As [`shut_down`](Self::shut_down), for tasks. Dropping the future stops the wait.
    pub async fn shut_down_async(&self) {
        self.members.shut_down().await;
    }
}

impl<R: Runtime> fmt::Debug for Registry<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registry")
    }
}
