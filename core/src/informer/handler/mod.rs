//! Handlers: functions that are told of changes, each on its own thread (`cache` sections 16 and
//! 18).

mod crew;
mod deliver;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::{Runtime, System};
use crate::store::{Described, Handle};

use super::change::ObjectChange;
use super::feed::{End, FeedError, Progress, Shared};
use super::readers::Wants;
use super::shared::Informer;

pub(super) use crew::Crew;
use crew::Member;

/// Handles changes one by one: a function that takes a change. It is never called twice at the same
/// time, and no other handler waits for it (`cache:SI-5`).
pub trait Handler<O>: Send + 'static {
    /// Handles a change.
    fn handle(&mut self, change: ObjectChange<O>);
}

impl<O, F: FnMut(ObjectChange<O>) + Send + 'static> Handler<O> for F {
    fn handle(&mut self, change: ObjectChange<O>) {
        self(change);
    }
}

/// The consequence of a panic in a handler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum OnPanic {
    /// The process ends, as in the reference. A handler that dies alone or misses a change would be
    /// worse (`cache:PL-15`).
    #[default]
    Abort,
    /// The handler misses that change and is told the next one a second later. If the change
    /// belongs to the first list, the handler never [has synced](Registration::has_synced)
    /// (`cache:PL-16`).
    Skip,
}

/// A report about a handler.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Report {
    /// It took long for one change while many wait (`cache:PL-17`).
    Slow {
        /// How long it took.
        took: Duration,
        /// How many changes wait.
        waiting: usize,
    },
    /// It panicked, and misses a change.
    Panicked {
        /// The message of the panic, if it has one.
        message: Option<String>,
    },
    /// More changes waited than its limit allows. It is told nothing more.
    Lagged,
}

read_by_harness! {
    /// How a handler is called.
    #[derive(Clone)]
    #[non_exhaustive]
    pub struct Handling {
        /// The name of its thread.
        name: String,
        /// The changes that it is told.
        wants: Wants,
        /// The consequence of a panic.
        on_panic: OnPanic,
        /// Receives the reports about the handler, on the handler's thread.
        report: Arc<dyn Fn(Report) + Send + Sync>,
    }
}

impl Default for Handling {
    fn default() -> Self {
        let (wants, on_panic) = (Wants::default(), OnPanic::default());
        Self { name: "handler".to_owned(), wants, on_panic, report: Arc::new(|_| ()) }
    }
}

impl Handling {
    /// Names its thread.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the changes that it is told.
    #[must_use]
    pub fn wants(mut self, wants: Wants) -> Self {
        self.wants = wants;
        self
    }

    /// Sets the consequence of a panic.
    #[must_use]
    pub fn on_panic(mut self, on_panic: OnPanic) -> Self {
        self.on_panic = on_panic;
        self
    }

    /// Sets the receiver of reports about the handler. It runs on the handler's thread.
    #[must_use]
    pub fn report(mut self, report: impl Fn(Report) + Send + Sync + 'static) -> Self {
        self.report = Arc::new(report);
        self
    }
}

impl fmt::Debug for Handling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handling")
            .field("name", &self.name)
            .field("wants", &self.wants)
            .field("on_panic", &self.on_panic)
            .finish_non_exhaustive()
    }
}

/// A handler of an informer. Dropping this value does not remove the handler.
pub struct Registration<O: Handle, R: Runtime = System> {
    feed: Shared<ObjectChange<O>, R>,
    progress: Progress<ObjectChange<O>, R>,
    member: Member<R>,
}

impl<O: Handle + Described, R: Runtime> Informer<O, R> {
    /// Adds a handler, before the informer runs or while it does. It is told of all objects that
    /// are there, then of every change; none is missed or told twice (`cache:SI-33`).
    ///
    /// ```
    /// # use seatrial_core::informer::{Change, Informer, FeedError};
    /// # use seatrial_core::store::{Described, Handle};
    /// fn count<O: Handle + Described>(pods: &Informer<O>) -> Result<(), FeedError> {
    ///     let mut known = 0_usize;
    ///     let counting = pods.handle(move |change| {
    ///         match change {
    ///             Change::Added { .. } => known += 1,
    ///             Change::Deleted(_) => known -= 1,
    ///             Change::Updated { .. } => {}
    ///         }
    ///         println!("{known} pods");
    ///     })?;
    ///     assert!(counting.wait_for_sync(), "it has seen all that were there");
    ///     counting.remove_and_wait();
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn handle(&self, handler: impl Handler<O>) -> Result<Registration<O, R>, FeedError> {
        self.handle_with(Handling::default(), handler)
    }

    /// As [`handle`](Self::handle), with settings.
    ///
    /// # Errors
    /// The informer has stopped.
    pub fn handle_with(
        &self,
        handling: Handling,
        handler: impl Handler<O>,
    ) -> Result<Registration<O, R>, FeedError> {
        let mut crew = self.runtime.lock(&self.handlers);
        if crew.is_over() {
            return Err(FeedError::Stopped);
        }
        let changes = self.subscribe_with(handling.wants);
        let (feed, progress) = (Arc::clone(changes.shared()), changes.progress());
        let member = crew.join(&self.runtime, |life, ended| {
            let name = handling.name.clone();
            let body = move || {
                let _ended = ended;
                deliver::deliver(changes, handler, &handling, &life);
            };
            self.runtime.spawn(&name, body)
        });
        Ok(Registration { feed, progress, member })
    }

    /// Ends all handlers, without waiting for them.
    pub(super) fn end_handlers(&self) {
        let life = self.runtime.lock(&self.handlers).end();
        life.cancel();
    }

    /// Waits until all handlers have ended.
    pub(super) async fn join_handlers(&self) {
        let members = self.runtime.lock(&self.handlers).leave();
        for member in members {
            member.join(&self.runtime).await;
        }
    }
}

impl<O: Handle, R: Runtime> Registration<O, R> {
    /// Tells whether the handler has handled the whole first list (`cache:PL-20`).
    pub fn has_synced(&self) -> bool {
        self.progress.has_synced()
    }

    /// Sleeps until [`has_synced`](Self::has_synced); false if the handler ended before.
    pub fn wait_for_sync(&self) -> bool {
        self.progress.wait_for_sync()
    }

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks.
    pub async fn wait_for_sync_async(&self) -> bool {
        self.progress.wait_for_sync_async().await
    }

    /// Removes the handler. A call that is under way goes on; no call follows it. May be called
    /// repeatedly, and from the handler itself (`cache:SI-36` to `SI-39`).
    pub fn remove(&self) {
        drop(self.feed.call(End));
        self.member.life.cancel();
    }

    /// Removes the handler and sleeps until its last call has returned. Do not call it from the
    /// handler: it would wait for itself.
    pub fn remove_and_wait(&self) {
        self.member.runtime().block_on(self.remove_and_wait_async());
    }

    /// As [`remove_and_wait`](Self::remove_and_wait), for tasks.
    pub async fn remove_and_wait_async(&self) {
        self.remove();
        self.member.join(self.member.runtime()).await;
    }

    /// Tells whether the handler has ended: no call is under way and none will come.
    pub fn has_ended(&self) -> bool {
        self.member.ended.is_cancelled()
    }
}

impl<O: Handle, R: Runtime> fmt::Debug for Registration<O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("has_ended", &self.has_ended()).finish()
    }
}
