//! The parts of a runtime with its own clock that come from the machine: locks, atomics, threads.

/// Emits these parts of an `impl Runtime`, for a type that has a [`System`](super::System) in its
/// field `system`; all but taking a mutex and waiting.
macro_rules! from_system {
    () => {
        type Mutex<T: Send> = parking_lot::Mutex<T>;
        type RwLock<T: Send + Sync> = parking_lot::RwLock<T>;
        type ReadGuard<'a, T: Send + Sync + 'static> =
            <$crate::runtime::System as Runtime>::ReadGuard<'a, T>;
        type WriteGuard<'a, T: Send + Sync + 'static> =
            <$crate::runtime::System as Runtime>::WriteGuard<'a, T>;
        type Atomic = <$crate::runtime::System as Runtime>::Atomic;
        type Join<T: Send + 'static> = <$crate::runtime::System as Runtime>::Join<T>;
        type Published<T: Send + Sync> = arc_swap::ArcSwap<T>;

        fn mutex<T: Send + 'static>(&self, value: T) -> Self::Mutex<T> {
            self.system.mutex(value)
        }

        fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> Self::RwLock<T> {
            self.system.rw_lock(value)
        }

        fn read<'a, T: Send + Sync + 'static>(
            &self,
            lock: &'a Self::RwLock<T>,
        ) -> Self::ReadGuard<'a, T> {
            self.system.read(lock)
        }

        fn write<'a, T: Send + Sync + 'static>(
            &self,
            lock: &'a Self::RwLock<T>,
        ) -> Self::WriteGuard<'a, T> {
            self.system.write(lock)
        }

        fn atomic(&self, value: u64) -> Self::Atomic {
            self.system.atomic(value)
        }

        fn published<T: Send + Sync + 'static>(
            &self,
            value: std::sync::Arc<T>,
        ) -> Self::Published<T> {
            self.system.published(value)
        }

        fn publish<T: Send + Sync + 'static>(
            &self,
            cell: &Self::Published<T>,
            value: std::sync::Arc<T>,
        ) {
            self.system.publish(cell, value);
        }

        fn load<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>) -> std::sync::Arc<T> {
            self.system.load(cell)
        }

        fn spawn<T: Send + 'static>(
            &self,
            name: &str,
            body: impl FnOnce() -> T + Send + 'static,
        ) -> Self::Join<T> {
            self.system.spawn(name, body)
        }

        fn join<T: Send + 'static>(
            &self,
            thread: Self::Join<T>,
        ) -> Result<T, $crate::runtime::Panic> {
            self.system.join(thread)
        }
    };
}

/// As [`from_system`], with mutexes whose threads wait on a
/// [`ManualCondvar`](super::ManualCondvar).
macro_rules! through_system {
    () => {
        $crate::runtime::through_system::from_system!();

        type Guard<'a, T: Send + 'static> = parking_lot::MutexGuard<'a, T>;
        type Condvar = $crate::runtime::ManualCondvar;

        fn lock<'a, T: Send + 'static>(&self, mutex: &'a Self::Mutex<T>) -> Self::Guard<'a, T> {
            self.system.lock(mutex)
        }

        fn condvar(&self) -> Self::Condvar {
            Self::Condvar::default()
        }

        fn wait<'a, T: Send + 'static>(
            &self,
            condvar: &Self::Condvar,
            guard: Self::Guard<'a, T>,
        ) -> Self::Guard<'a, T> {
            self.wait_until(condvar, guard, $crate::runtime::Instant::NEVER).0
        }
    };
}

pub(super) use {from_system, through_system};
