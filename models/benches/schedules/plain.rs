//! loom and shuttle as they come: their own mutexes and condition variables behind the seam, and
//! their own searches. What the toy programs do not use is not there.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::{Duration, Instant as Begun};

use seatrial_core::runtime::{Ambient, Instant, Panic, Runtime, WallTime};
use seatrial_models::toy::Program;

/// What a search did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Searched {
    /// Executions run.
    pub(crate) executions: u64,
    /// How long it took.
    pub(crate) took: Duration,
    /// Whether it came to its end.
    pub(crate) finished: bool,
}

const UNUSED: &str = "no toy program that is compared needs it";

macro_rules! plain {
    ($runtime:ident over $library:ident) => {
        #[derive(Clone, Copy, Debug)]
        struct $runtime;

        impl Ambient for $runtime {
            fn now(&self) -> Instant {
                unreachable!("{UNUSED}")
            }

            fn wall(&self) -> WallTime {
                unreachable!("{UNUSED}")
            }

            fn entropy(&self) -> u64 {
                unreachable!("{UNUSED}")
            }
        }

        impl Runtime for $runtime {
            type Mutex<T: Send> = ::$library::sync::Mutex<T>;
            type Guard<'a, T: Send + 'static> = ::$library::sync::MutexGuard<'a, T>;
            type RwLock<T: Send + Sync> = ::$library::sync::RwLock<T>;
            type ReadGuard<'a, T: Send + Sync + 'static> = ::$library::sync::RwLockReadGuard<'a, T>;
            type WriteGuard<'a, T: Send + Sync + 'static> =
                ::$library::sync::RwLockWriteGuard<'a, T>;
            type Atomic = AtomicU64;
            type Condvar = ::$library::sync::Condvar;
            type Join<T: Send + 'static> = ::$library::thread::JoinHandle<T>;
            type Timer = ();
            type Published<T: Send + Sync> = Arc<T>;

            fn mutex<T: Send + 'static>(&self, value: T) -> Self::Mutex<T> {
                Self::Mutex::new(value)
            }

            fn rw_lock<T: Send + Sync + 'static>(&self, _: T) -> Self::RwLock<T> {
                unreachable!("{UNUSED}")
            }

            fn read<'a, T: Send + Sync + 'static>(
                &self,
                _: &'a Self::RwLock<T>,
            ) -> Self::ReadGuard<'a, T> {
                unreachable!("{UNUSED}")
            }

            fn write<'a, T: Send + Sync + 'static>(
                &self,
                _: &'a Self::RwLock<T>,
            ) -> Self::WriteGuard<'a, T> {
                unreachable!("{UNUSED}")
            }

            fn atomic(&self, _: u64) -> AtomicU64 {
                unreachable!("{UNUSED}")
            }

            fn condvar(&self) -> Self::Condvar {
                Self::Condvar::new()
            }

            fn lock<'a, T: Send + 'static>(&self, mutex: &'a Self::Mutex<T>) -> Self::Guard<'a, T> {
                mutex.lock().expect("nothing panics")
            }

            fn wait<'a, T: Send + 'static>(
                &self,
                condvar: &Self::Condvar,
                guard: Self::Guard<'a, T>,
            ) -> Self::Guard<'a, T> {
                condvar.wait(guard).expect("nothing panics")
            }

            fn wait_until<'a, T: Send + 'static>(
                &self,
                _: &Self::Condvar,
                _: Self::Guard<'a, T>,
                _: Instant,
            ) -> (Self::Guard<'a, T>, bool) {
                unreachable!("{UNUSED}")
            }

            fn notify_one(&self, condvar: &Self::Condvar) {
                condvar.notify_one();
            }

            fn notify_all(&self, condvar: &Self::Condvar) {
                condvar.notify_all();
            }

            fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> Arc<T> {
                value
            }

            fn publish<T: Send + Sync + 'static>(&self, _: &Arc<T>, _: Arc<T>) {
                unreachable!("{UNUSED}")
            }

            fn load<T: Send + Sync + 'static>(&self, cell: &Arc<T>) -> Arc<T> {
                Arc::clone(cell)
            }

            fn wake_at(&self, _: Instant, _: Waker) {
                unreachable!("{UNUSED}")
            }

            fn sleep_until(&self, _: Instant) {
                unreachable!("{UNUSED}")
            }

            fn spawn<T: Send + 'static>(
                &self,
                _: &str,
                body: impl FnOnce() -> T + Send + 'static,
            ) -> Self::Join<T> {
                ::$library::thread::spawn(body)
            }

            fn join<T: Send + 'static>(&self, thread: Self::Join<T>) -> Result<T, Panic> {
                thread.join()
            }

            fn block_on<F: Future>(&self, _: F) -> F::Output {
                unreachable!("{UNUSED}")
            }
        }
    };
}

plain!(PlainLoom over loom);
plain!(PlainShuttle over shuttle);

/// Lets loom search, for so long.
pub(crate) fn loom(program: Program, most: Duration) -> Searched {
    let executions = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&executions);
    let mut builder = ::loom::model::Builder::new();
    builder.max_branches = 100_000;
    builder.checkpoint_interval = 1_000; // how often it looks at the clock
    builder.max_duration = Some(most);
    let begun = Begun::now();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        program.run(&PlainLoom);
    });
    let took = begun.elapsed();
    Searched { executions: executions.load(Ordering::Relaxed), took, finished: took < most }
}

/// Lets shuttle search, for so long.
pub(crate) fn shuttle(program: Program, most: Duration) -> Searched {
    let mut config = ::shuttle::Config::new();
    config.max_time = Some(most);
    config.silence_warnings = true;
    config.failure_persistence = ::shuttle::FailurePersistence::None;
    let scheduler = ::shuttle::scheduler::DfsScheduler::new(None, false);
    let begun = Begun::now();
    let executions = ::shuttle::Runner::new(scheduler, config).run(move || {
        program.run(&PlainShuttle);
    });
    let took = begun.elapsed();
    Searched { executions: executions as u64, took, finished: took < most }
}
