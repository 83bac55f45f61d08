//! One of two runtimes, told apart while a program runs.
//!
//! What is generic over a runtime is compiled once for each. All engines together are one runtime
//! here, so a component and its scenarios are compiled once, however many engines there are.

use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use seatrial_core::runtime::{Ambient, Atomic, Instant, Panic, Runtime, WallTime};

use super::Observed;

/// A runtime, or what belongs to it, of one of two kinds.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// Of the first kind.
    One(A),
    /// Of the second kind.
    Other(B),
}

use Either::{One, Other};

/// Does the same with either.
macro_rules! with {
    ($either:expr, $inner:ident => $result:expr) => {
        match $either {
            One($inner) => $result,
            Other($inner) => $result,
        }
    };
}

/// A lock, say, was made by the runtime of one engine and is used with that of another.
#[cold]
fn strangers() -> ! {
    panic!("this belongs to the runtime of another engine");
}

impl<T, A: Deref<Target = T>, B: Deref<Target = T>> Deref for Either<A, B> {
    type Target = T;

    fn deref(&self) -> &T {
        with!(self, guard => guard)
    }
}

impl<T, A: DerefMut<Target = T>, B: DerefMut<Target = T>> DerefMut for Either<A, B> {
    fn deref_mut(&mut self) -> &mut T {
        with!(self, guard => guard)
    }
}

impl<A: Ambient, B: Ambient> Ambient for Either<A, B> {
    fn now(&self) -> Instant {
        with!(self, runtime => runtime.now())
    }

    fn wall(&self) -> WallTime {
        with!(self, runtime => runtime.wall())
    }

    fn entropy(&self) -> u64 {
        with!(self, runtime => runtime.entropy())
    }

    fn choose(&self, options: u32) -> u32 {
        with!(self, runtime => runtime.choose(options))
    }
}

impl<A: Observed, B: Observed> Observed for Either<A, B> {
    fn jumps_when_quiet(&self) -> bool {
        with!(self, runtime => runtime.jumps_when_quiet())
    }

    fn thread(&self) -> u8 {
        with!(self, runtime => runtime.thread())
    }

    fn thread_name(&self, thread: u8) -> String {
        with!(self, runtime => runtime.thread_name(thread))
    }

    fn is_given_up(&self) -> bool {
        with!(self, runtime => runtime.is_given_up())
    }

    fn fence(&self, order: Ordering) {
        with!(self, runtime => runtime.fence(order));
    }
}

impl<A: Atomic, B: Atomic> Atomic for Either<A, B> {
    fn load(&self, order: Ordering) -> u64 {
        with!(self, number => number.load(order))
    }

    fn store(&self, value: u64, order: Ordering) {
        with!(self, number => number.store(value, order));
    }

    fn swap(&self, value: u64, order: Ordering) -> u64 {
        with!(self, number => number.swap(value, order))
    }

    fn fetch_add(&self, more: u64, order: Ordering) -> u64 {
        with!(self, number => number.fetch_add(more, order))
    }

    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        with!(self, number => number.compare_exchange(current, new, success, failure))
    }
}

impl<A: Runtime, B: Runtime> Runtime for Either<A, B> {
    type Mutex<T: Send> = Either<A::Mutex<T>, B::Mutex<T>>;
    type Guard<'a, T: Send + 'static> = Either<A::Guard<'a, T>, B::Guard<'a, T>>;
    type RwLock<T: Send + Sync> = Either<A::RwLock<T>, B::RwLock<T>>;
    type ReadGuard<'a, T: Send + Sync + 'static> = Either<A::ReadGuard<'a, T>, B::ReadGuard<'a, T>>;
    type WriteGuard<'a, T: Send + Sync + 'static> =
        Either<A::WriteGuard<'a, T>, B::WriteGuard<'a, T>>;
    type Atomic = Either<A::Atomic, B::Atomic>;
    type Condvar = Either<A::Condvar, B::Condvar>;
    type Join<T: Send + 'static> = Either<A::Join<T>, B::Join<T>>;
    type Timer = Either<A::Timer, B::Timer>;
    type Published<T: Send + Sync> = Either<A::Published<T>, B::Published<T>>;

    fn turns(&self) -> u32 {
        with!(self, runtime => runtime.turns())
    }

    fn give_turn(&self) {
        with!(self, runtime => runtime.give_turn());
    }

    fn mutex<T: Send + 'static>(&self, value: T) -> Self::Mutex<T> {
        match self {
            One(runtime) => One(runtime.mutex(value)),
            Other(runtime) => Other(runtime.mutex(value)),
        }
    }

    fn condvar(&self) -> Self::Condvar {
        match self {
            One(runtime) => One(runtime.condvar()),
            Other(runtime) => Other(runtime.condvar()),
        }
    }

    fn lock<'a, T: Send + 'static>(&self, mutex: &'a Self::Mutex<T>) -> Self::Guard<'a, T> {
        match (self, mutex) {
            (One(runtime), One(mutex)) => One(runtime.lock(mutex)),
            (Other(runtime), Other(mutex)) => Other(runtime.lock(mutex)),
            _ => strangers(),
        }
    }

    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T> {
        match (self, condvar, guard) {
            (One(runtime), One(condvar), One(guard)) => One(runtime.wait(condvar, guard)),
            (Other(runtime), Other(condvar), Other(guard)) => Other(runtime.wait(condvar, guard)),
            _ => strangers(),
        }
    }

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &Self::Condvar,
        guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        match (self, condvar, guard) {
            (One(runtime), One(condvar), One(guard)) => {
                let (guard, timed_out) = runtime.wait_until(condvar, guard, deadline);
                (One(guard), timed_out)
            }
            (Other(runtime), Other(condvar), Other(guard)) => {
                let (guard, timed_out) = runtime.wait_until(condvar, guard, deadline);
                (Other(guard), timed_out)
            }
            _ => strangers(),
        }
    }

    fn notify_one(&self, condvar: &Self::Condvar) {
        match (self, condvar) {
            (One(runtime), One(condvar)) => runtime.notify_one(condvar),
            (Other(runtime), Other(condvar)) => runtime.notify_one(condvar),
            _ => strangers(),
        }
    }

    fn notify_all(&self, condvar: &Self::Condvar) {
        match (self, condvar) {
            (One(runtime), One(condvar)) => runtime.notify_all(condvar),
            (Other(runtime), Other(condvar)) => runtime.notify_all(condvar),
            _ => strangers(),
        }
    }

    fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> Self::RwLock<T> {
        match self {
            One(runtime) => One(runtime.rw_lock(value)),
            Other(runtime) => Other(runtime.rw_lock(value)),
        }
    }

    fn read<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a Self::RwLock<T>,
    ) -> Self::ReadGuard<'a, T> {
        match (self, lock) {
            (One(runtime), One(lock)) => One(runtime.read(lock)),
            (Other(runtime), Other(lock)) => Other(runtime.read(lock)),
            _ => strangers(),
        }
    }

    fn write<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a Self::RwLock<T>,
    ) -> Self::WriteGuard<'a, T> {
        match (self, lock) {
            (One(runtime), One(lock)) => One(runtime.write(lock)),
            (Other(runtime), Other(lock)) => Other(runtime.write(lock)),
            _ => strangers(),
        }
    }

    fn atomic(&self, value: u64) -> Self::Atomic {
        match self {
            One(runtime) => One(runtime.atomic(value)),
            Other(runtime) => Other(runtime.atomic(value)),
        }
    }

    fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> Self::Published<T> {
        match self {
            One(runtime) => One(runtime.published(value)),
            Other(runtime) => Other(runtime.published(value)),
        }
    }

    fn publish<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>, value: Arc<T>) {
        match (self, cell) {
            (One(runtime), One(cell)) => runtime.publish(cell, value),
            (Other(runtime), Other(cell)) => runtime.publish(cell, value),
            _ => strangers(),
        }
    }

    fn load<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>) -> Arc<T> {
        match (self, cell) {
            (One(runtime), One(cell)) => runtime.load(cell),
            (Other(runtime), Other(cell)) => runtime.load(cell),
            _ => strangers(),
        }
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> Self::Timer {
        match self {
            One(runtime) => One(runtime.wake_at(deadline, waker)),
            Other(runtime) => Other(runtime.wake_at(deadline, waker)),
        }
    }

    fn sleep_until(&self, deadline: Instant) {
        with!(self, runtime => runtime.sleep_until(deadline));
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Self::Join<T> {
        let body: Box<dyn FnOnce() -> T + Send> = Box::new(body); // for the same reason
        match self {
            One(runtime) => One(runtime.spawn(name, body)),
            Other(runtime) => Other(runtime.spawn(name, body)),
        }
    }

    fn join<T: Send + 'static>(&self, thread: Self::Join<T>) -> Result<T, Panic> {
        match (self, thread) {
            (One(runtime), One(thread)) => runtime.join(thread),
            (Other(runtime), Other(thread)) => runtime.join(thread),
            _ => strangers(),
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        // Behind a pointer, or the loop of each runtime would be compiled again for each future.
        let future: Pin<&mut dyn Future<Output = F::Output>> = pin!(future);
        with!(self, runtime => runtime.block_on(future))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use seatrial_core::runtime::{Manual, System};

    use super::*;
    use crate::engine::{panic_text, quietly};

    #[test]
    fn what_was_made_by_the_runtime_of_another_engine_is_refused() {
        let system: Either<System, Manual> = One(System::new());
        let manual: Either<System, Manual> = Other(Manual::new());
        let mutex = manual.mutex(1);
        assert_eq!(*manual.lock(&mutex), 1);
        let locked = || catch_unwind(AssertUnwindSafe(|| drop(system.lock(&mutex))));
        let refused = quietly(locked).expect_err("it is not its own");
        assert_eq!(panic_text(&*refused), "this belongs to the runtime of another engine");
    }
}
