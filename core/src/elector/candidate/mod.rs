//! Candidates of a coordinated election, in which the server chooses the holder
//! (`election:LC-1` to `LC-9`).
//!
//! A candidate publishes an object with its identity and versions, and renews it every five minutes
//! and whenever the server pings it. It never touches the lease; the elector of the same identity
//! renews the lease once the server has named it
//! ([`Config::coordinated`](super::Config::coordinated)).

mod awaited;
mod spec;
mod strategy;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::caught;
use crate::limited_queue::{LimitedQueue, Outcome};
use crate::runtime::{Runtime, System};

use super::lock::{Call, Meta, Object, ObjectName, ObjectStore, StoreError};
use super::record::Timestamp;

pub use awaited::AsyncWatchCandidate;
pub use spec::CandidateSpec;

for_harness! {
    use strategy::{Applicant, OLDEST_EMULATION_VERSION, nominate, oldest_emulation_version};
}

/// How often a candidate renews its object (`election:LC-5`).
pub const RENEW_EVERY: Duration = Duration::from_secs(300);

/// Receives every state of the candidate's object that a watch sees; `None` if there is none.
pub type Seen = Arc<dyn Fn(Option<Object<CandidateSpec>>) + Send + Sync>;

/// Watches exactly one object (`election:LC-3`).
pub trait WatchCandidate<R: Runtime>: Send + Sync {
    /// Ends the watch when it drops, and waits until it has stopped completely.
    type Watching;

    /// Starts to watch the object of that name, passes its first state to `seen`, and returns.
    /// Later states are passed on in the background. `None` if the token ended before.
    fn watch(
        &self,
        name: &ObjectName,
        seen: Seen,
        token: &CancelToken<R>,
    ) -> Option<Self::Watching>;
}

/// A candidate of a coordinated election.
pub struct Candidate<S, R: Runtime = System> {
    inside: Arc<Inside<S, R>>,
}

struct Inside<S, R: Runtime> {
    runtime: R,
    store: S,
    name: ObjectName,
    spec: CandidateSpec,
    /// The object as the watch last saw it. It is copied before it is changed.
    cached: R::Mutex<Option<Object<CandidateSpec>>>,
    /// Holds the only item: "renew the object".
    queue: LimitedQueue<(), R>,
    failed: Box<dyn Fn(&StoreError) + Send + Sync>,
}

impl<S: Send + Sync + 'static, R: Runtime> Candidate<S, R> {
    /// Makes a candidate whose object has that name. It sets the times of the object when it
    /// renews.
    pub fn new(runtime: &R, store: S, namespace: &str, name: &str, spec: CandidateSpec) -> Self {
        Self::reporting(runtime, store, namespace, name, spec, |_| {})
    }

    /// As [`new`](Self::new); `failed` is called for every renewal that failed and will be retried.
    pub fn reporting(
        runtime: &R,
        store: S,
        namespace: &str,
        name: &str,
        spec: CandidateSpec,
        failed: impl Fn(&StoreError) + Send + Sync + 'static,
    ) -> Self {
        let inside = Inside {
            runtime: runtime.clone(),
            store,
            name: ObjectName::new(namespace, name),
            spec,
            cached: runtime.mutex(None),
            queue: LimitedQueue::with_default_limiter(runtime),
            failed: Box::new(failed),
        };
        Self { inside: Arc::new(inside) }
    }

    /// Returns the function that takes the states of a watch.
    fn seen(&self) -> Seen {
        let inside = Arc::clone(&self.inside);
        Arc::new(move |object| inside.see(object))
    }
}

impl<S: ObjectStore<CandidateSpec> + Sync, R: Runtime> Candidate<S, R> {
    /// Publishes and renews the candidate's object until the token ends (`election:LC-4`). It runs
    /// once: a candidate that has ended cannot be started again.
    pub fn run(&self, token: &CancelToken<R>, watch: &impl WatchCandidate<R>) {
        let inside = &self.inside;
        let Some(watching) = watch.watch(&inside.name, self.seen(), token) else { return };
        let end = token.on_end(Arc::new(EndWork(Arc::clone(inside))).into());
        inside.queue.add(());
        inside.queue.work(|()| inside.came_to(inside.ensure()));
        drop(end);
        drop(watching);
    }
}

impl<S: Send + Sync + 'static, R: Runtime> Inside<S, R> {
    /// Stores the state that the watch sees, and answers a ping (`election:LC-7`).
    fn see(&self, object: Option<Object<CandidateSpec>>) {
        let pinged = object.as_ref().is_some_and(|object| object.content.is_pinged());
        let previous = std::mem::replace(&mut *self.runtime.lock(&self.cached), object);
        caught::drop_caught(previous); // outside the lock: it may hold foreign values
        if pinged {
            self.queue.add(());
        }
    }

    fn came_to(&self, result: Result<(), StoreError>) -> Outcome {
        match result {
            Ok(()) => {
                self.queue.add_after((), RENEW_EVERY);
                Outcome::Success
            }
            Err(error) => {
                caught::tell(|| (self.failed)(&error));
                Outcome::Retry
            }
        }
    }

    /// Returns the object to send: the last state from the watch, renewed, or a new object.
    fn renewed(&self) -> Renewed {
        let renew_time = Some(Timestamp::from(self.runtime.wall()));
        let cached = self.runtime.lock(&self.cached).clone();
        match cached {
            None => {
                let content = CandidateSpec { renew_time, ..self.spec.clone() };
                Renewed::New(Object { meta: Meta::new(self.name.clone()), content })
            }
            Some(mut object) => {
                object.content.renew_time = renew_time;
                Renewed::Seen(object)
            }
        }
    }
}

/// The object to send.
enum Renewed {
    New(Object<CandidateSpec>),
    Seen(Object<CandidateSpec>),
}

impl<S: ObjectStore<CandidateSpec> + Sync, R: Runtime> Inside<S, R> {
    /// Creates or renews the object (`election:LC-6`). If the watch is behind, this gives a
    /// conflict and is retried.
    fn ensure(&self) -> Result<(), StoreError> {
        match self.renewed() {
            Renewed::New(object) => self.store.create(&object, Call::default())?,
            Renewed::Seen(object) => self.store.update(&object, Call::default())?,
        };
        Ok(())
    }
}

/// Ends the worker when the token ends.
struct EndWork<S, R: Runtime>(Arc<Inside<S, R>>);

impl<S: Send + Sync + 'static, R: Runtime> Wake for EndWork<S, R> {
    fn wake(self: Arc<Self>) {
        self.0.queue.shut_down();
    }
}

impl<S, R: Runtime> fmt::Debug for Candidate<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate").field("name", &self.inside.name).finish_non_exhaustive()
    }
}
