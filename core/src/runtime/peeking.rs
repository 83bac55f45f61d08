//! A runtime that runs a check whenever a lock has been released, and so sees the state that a
//! waiting thread would see.

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;

use super::{Ambient, GuardOf, Instant, Panic, Runtime, System, WallTime};

type Look = Arc<dyn Fn() + Send + Sync>;

/// [`System`], with a function that is called whenever a mutex has been released.
#[derive(Clone)]
pub(crate) struct Peeking(System, Arc<Mutex<Option<Look>>>);

impl Peeking {
    pub(crate) fn new() -> Self {
        Self(System::new(), Arc::default())
    }

    /// Sets the function to call. It may use locks; their release does not call it again.
    pub(crate) fn looks(&self, look: impl Fn() + Send + Sync + 'static) {
        *self.1.lock() = Some(Arc::new(look));
    }

    /// Removes the function.
    pub(crate) fn ends(&self) {
        let look = self.1.lock().take();
        drop(look);
    }

    fn look(&self) {
        let Some(look) = self.1.lock().take() else { return };
        look();
        *self.1.lock() = Some(look);
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
        self.0.now()
    }

    fn wall(&self) -> WallTime {
        self.0.wall()
    }

    fn entropy(&self) -> u64 {
        self.0.entropy()
    }
}

impl Runtime for Peeking {
    type Mutex<T: Send> = <System as Runtime>::Mutex<T>;
    type Guard<'a, T: Send + 'static> = Peeked<'a, T>;
    type RwLock<T: Send + Sync> = <System as Runtime>::RwLock<T>;
    type ReadGuard<'a, T: Send + Sync + 'static> = <System as Runtime>::ReadGuard<'a, T>;
    type WriteGuard<'a, T: Send + Sync + 'static> = <System as Runtime>::WriteGuard<'a, T>;
    type Atomic = <System as Runtime>::Atomic;
    type Condvar = <System as Runtime>::Condvar;
    type Join<T: Send + 'static> = <System as Runtime>::Join<T>;
    type Timer = <System as Runtime>::Timer;
    type Published<T: Send + Sync> = <System as Runtime>::Published<T>;

    fn mutex<T: Send + 'static>(&self, value: T) -> Self::Mutex<T> {
        self.0.mutex(value)
    }

    fn condvar(&self) -> Self::Condvar {
        self.0.condvar()
    }

    fn lock<'a, T: Send + 'static>(&self, mutex: &'a Self::Mutex<T>) -> Self::Guard<'a, T> {
        Peeked(Some(self.0.lock(mutex)), self.clone())
    }

    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T> {
        Peeked(Some(self.0.wait(condvar, guard.into_inner())), self.clone())
    }

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        let (guard, timed_out) = self.0.wait_until(condvar, guard.into_inner(), deadline);
        (Peeked(Some(guard), self.clone()), timed_out)
    }

    fn notify_one(&self, condvar: &Self::Condvar) {
        self.0.notify_one(condvar);
    }

    fn notify_all(&self, condvar: &Self::Condvar) {
        self.0.notify_all(condvar);
    }

    fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> Self::RwLock<T> {
        self.0.rw_lock(value)
    }

    fn read<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a Self::RwLock<T>,
    ) -> Self::ReadGuard<'a, T> {
        self.0.read(lock)
    }

    fn write<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a Self::RwLock<T>,
    ) -> Self::WriteGuard<'a, T> {
        self.0.write(lock)
    }

    fn atomic(&self, value: u64) -> Self::Atomic {
        self.0.atomic(value)
    }

    fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> Self::Published<T> {
        self.0.published(value)
    }

    fn publish<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>, value: Arc<T>) {
        self.0.publish(cell, value);
    }

    fn load<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>) -> Arc<T> {
        self.0.load(cell)
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> Self::Timer {
        self.0.wake_at(deadline, waker)
    }

    fn sleep_until(&self, deadline: Instant) {
        self.0.sleep_until(deadline);
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Self::Join<T> {
        self.0.spawn(name, body)
    }

    fn join<T: Send + 'static>(&self, thread: Self::Join<T>) -> Result<T, Panic> {
        self.0.join(thread)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

impl fmt::Debug for Peeking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Peeking")
    }
}
