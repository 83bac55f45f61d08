//! A runtime that runs a check whenever a lock has been released, and so sees the state that a
//! waiting thread would see.

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;

use super::through_system::from_system;
use super::{Ambient, GuardOf, Instant, Runtime, System, WallTime};

type Look = Arc<dyn Fn() + Send + Sync>;

/// [`System`], with a function that is called whenever a mutex has been released.
#[derive(Clone)]
pub(crate) struct Peeking {
    system: System,
    look: Arc<Mutex<Option<Look>>>,
}

impl Peeking {
    pub(crate) fn new() -> Self {
        Self { system: System::new(), look: Arc::default() }
    }

    /// Sets the function to call. It may use locks; their release does not call it again.
    pub(crate) fn looks(&self, look: impl Fn() + Send + Sync + 'static) {
        *self.look.lock() = Some(Arc::new(look));
    }

    /// Removes the function.
    pub(crate) fn ends(&self) {
        let look = self.look.lock().take();
        drop(look);
    }

    fn look(&self) {
        let Some(look) = self.look.lock().take() else { return };
        look();
        *self.look.lock() = Some(look);
    }
}

/// Access to a value; `None` once it is released.
pub(crate) struct Peeked<'a, T: Send + 'static>(Option<GuardOf<'a, System, T>>, Peeking);

impl<'a, T: Send + 'static> Peeked<'a, T> {
    fn into_inner(mut self) -> GuardOf<'a, System, T> {
        self.0.take().expect("it is over when it is dropped")
    }
}

impl<T: Send + 'static> Deref for Peeked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is over when it is dropped")
    }
}

impl<T: Send + 'static> DerefMut for Peeked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is over when it is dropped")
    }
}

impl<T: Send + 'static> Drop for Peeked<'_, T> {
    fn drop(&mut self) {
        if let Some(guard) = self.0.take() {
            drop(guard);
            self.1.look();
        }
    }
}

impl Ambient for Peeking {
    fn now(&self) -> Instant {
        self.system.now()
    }

    fn wall(&self) -> WallTime {
        self.system.wall()
    }

    fn entropy(&self) -> u64 {
        self.system.entropy()
    }
}

impl Runtime for Peeking {
    type Guard<'a, T: Send + 'static> = Peeked<'a, T>;
    type Condvar = <System as Runtime>::Condvar;
    type Timer = <System as Runtime>::Timer;

    from_system!();

    fn condvar(&self) -> Self::Condvar {
        self.system.condvar()
    }

    fn lock<'a, T: Send + 'static>(&self, mutex: &'a Self::Mutex<T>) -> Self::Guard<'a, T> {
        Peeked(Some(self.system.lock(mutex)), self.clone())
    }

    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T> {
        Peeked(Some(self.system.wait(condvar, guard.into_inner())), self.clone())
    }

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        let (guard, timed_out) = self.system.wait_until(condvar, guard.into_inner(), deadline);
        (Peeked(Some(guard), self.clone()), timed_out)
    }

    fn notify_one(&self, condvar: &Self::Condvar) {
        self.system.notify_one(condvar);
    }

    fn notify_all(&self, condvar: &Self::Condvar) {
        self.system.notify_all(condvar);
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> Self::Timer {
        self.system.wake_at(deadline, waker)
    }

    fn sleep_until(&self, deadline: Instant) {
        self.system.sleep_until(deadline);
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.system.block_on(future)
    }
}

impl fmt::Debug for Peeking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Peeking")
    }
}
