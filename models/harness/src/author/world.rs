//! The world of a scenario: a runtime, the machine under trial, and a way to say things.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;
use std::time::Duration;

use seatrial_core::machine::{Boxed, Step, Wakes};
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::component::{Component, EventOf, MachineOf, OpOf, RetOf};
use super::history::{Event, What};
use super::recorder::{Log, Recorded};
use super::shown;
use super::told::{is_measured, take_told};
use crate::engine::{AnyRuntime, Observed as _};

/// Makes the machine under trial: the real one or a mutant.
pub(crate) type MachineMaker<C> = Arc<dyn Fn() -> MachineOf<C> + Send + Sync>;

/// A thread of a scenario, to be joined.
pub type Join<T> = <AnyRuntime as Runtime>::Join<T>;

/// The surroundings of one execution of a scenario.
pub struct World<C: Component> {
    runtime: AnyRuntime,
    log: Log<OpOf<C>, RetOf<C>>,
    make: MachineMaker<C>,
    objects: Arc<AtomicU8>,
}

impl<C: Component> Clone for World<C> {
    fn clone(&self) -> Self {
        Self {
            runtime: self.runtime.clone(),
            log: self.log.clone(),
            make: Arc::clone(&self.make),
            objects: Arc::clone(&self.objects),
        }
    }
}

impl<C: Component> World<C> {
    pub(crate) fn new(
        runtime: &AnyRuntime,
        log: Log<OpOf<C>, RetOf<C>>,
        make: MachineMaker<C>,
    ) -> Self {
        Self { runtime: runtime.clone(), log, make, objects: Arc::default() }
    }

    /// Returns the runtime of this execution.
    pub fn runtime(&self) -> &AnyRuntime {
        &self.runtime
    }

    /// Makes the machine under trial, recorded, and broken where a mutant is tried.
    pub fn machine(&self) -> Boxed<C::Machine> {
        let runtime = self.runtime.clone();
        drop(take_told());
        let machine = (self.make)();
        let measured = is_measured();
        let object = self.objects.fetch_add(1, Ordering::Relaxed);
        shown::note(object, || (self.log.len(), machine.describe()));
        Boxed(Box::new(Recorded {
            machine,
            measured,
            log: self.log.clone(),
            object,
            thread: Box::new(move || runtime.thread()),
        }))
    }

    /// Records a note that invariants can read. To describe a critical section of your own, call it
    /// inside that section.
    pub fn note(&self, label: &'static str, value: u64) {
        self.record(What::Note { label, value });
    }

    /// Records a step of code that has no machine.
    pub(crate) fn act(&self, op: OpOf<C>)
    where
        RetOf<C>: Default,
    {
        let outcome = Step::Done(RetOf::<C>::default());
        self.record(What::Step { op, outcome, wakes: Wakes::default() });
    }

    fn record(&self, what: What<OpOf<C>, RetOf<C>>) {
        let event: EventOf<C> = Event {
            thread: self.runtime.thread(),
            at: self.runtime.now(),
            object: 0,
            what,
            told: None,
        };
        self.log.push(event);
    }

    /// Starts a thread.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Join<T> {
        self.runtime.spawn(name, body)
    }

    /// Waits for a thread; its panic becomes this thread's.
    pub fn join<T: Send + 'static>(&self, thread: Join<T>) -> T {
        match self.runtime.join(thread) {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Runs a future as a task that gives up where it would have to wait: the future is dropped
    /// there, asleep or woken.
    pub fn at_once<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let once = poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => Poll::Ready(None),
        });
        self.runtime.block_on(once)
    }

    /// Tells whether time passes only where the engine lets it. On real threads any time may pass
    /// between two steps: there a scenario can expect something *not before* a time, never *by* one.
    pub fn has_virtual_time(&self) -> bool {
        self.runtime.jumps_when_quiet()
    }

    /// As [`quiesce`](Self::quiesce), for a scenario that relies on what other threads have done by
    /// then: real threads are waited for until it is so.
    pub fn quiesce_until(&self, is_so: impl Fn() -> bool) {
        /// Half of what an execution may take.
        const LONGEST: Duration = Duration::from_secs(10);
        const A_LITTLE: Duration = Duration::from_millis(1);
        if self.has_virtual_time() {
            return self.quiesce();
        }
        // What never comes about is for the scenario to notice.
        let end = self.runtime.now() + LONGEST;
        while !is_so() && self.runtime.now() < end {
            self.runtime.sleep_until(self.runtime.now() + A_LITTLE);
        }
    }

    /// Sleeps until no other thread can move, and records that moment.
    ///
    /// It catches a lost wake-up before a shutdown that wakes everybody hides it. Real threads
    /// cannot prove that no thread can move: on them it sleeps a little and records nothing, so nothing
    /// may depend on what has happened by then.
    pub fn quiesce(&self) {
        const LONGER_THAN_ANY_DEADLINE: Duration = Duration::from_secs(3_600);
        const A_LITTLE: Duration = Duration::from_millis(2);
        let now = self.runtime.now();
        if self.has_virtual_time() {
            self.runtime.sleep_until(now + LONGER_THAN_ANY_DEADLINE);
            self.record(What::Quiet);
        } else {
            self.runtime.sleep_until(now + A_LITTLE);
        }
    }
}

impl<C: Component> std::fmt::Debug for World<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World of {}", C::NAME)
    }
}
