//! What a program asks for threads, locks, time and choices.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_core::runtime::{Ambient as _, Instant, Runtime};

use super::{Act, Atomic, Condvar, Mutex, Programs, RwLock, Sometimes};
use crate::engine::{AnyRuntime, Observed as _};
use crate::trial::World;

thread_local! {
    /// Engines run the threads of one execution on one or several threads of the system; each of them knows the
    /// execution that it runs.
    static CURRENT: RefCell<Option<Seam>> = const { RefCell::new(None) };
}

/// Returns the source of threads, locks, time and choices of the run under way.
///
/// # Panics
/// Outside of a [`#[seatrial::test]`](macro@crate::test).
pub fn seam() -> Seam {
    Seam::current().expect("seatrial::seam() needs a #[seatrial::test] around it")
}

/// The source of threads, locks, time and choices of one run. Cheap to clone.
#[derive(Clone)]
pub struct Seam {
    world: World<Programs>,
    sometimes: Sometimes,
    made: Arc<AtomicU64>,
    /// One more than the number of the thread that unwinds from a panic; zero if none does.
    unwinding: Arc<AtomicU64>,
}

/// A thread of a run, until its end. A panic that ended it is over then.
pub(super) struct Inside {
    unwinding: Arc<AtomicU64>,
    me: u64,
}

/// A test; when it is over nothing is current. Not when the main thread of a run is over: others may go on.
pub(super) struct Current;

impl Seam {
    pub(super) fn new(world: &World<Programs>, sometimes: &Sometimes) -> Self {
        let (world, sometimes) = (world.clone(), sometimes.clone());
        Self { world, sometimes, made: Arc::default(), unwinding: Arc::default() }
    }

    /// Returns that of the run under way; `None` outside of a [`#[seatrial::test]`](macro@crate::test). For
    /// libraries that work in both places.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.with(|current| current.borrow().clone())
    }

    /// Tells whether both are of the same run.
    #[must_use]
    pub fn is_same_run(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.made, &other.made)
    }

    /// Returns the number of the running thread, the same in every order of the threads; main's is 0.
    #[must_use]
    pub fn thread(&self) -> u8 {
        self.world.runtime().thread()
    }

    /// Tells whether the running thread unwinds from a panic. Engines run several threads on one of the system,
    /// so [`std::thread::panicking`] may mean another one.
    #[must_use]
    pub fn is_unwinding(&self) -> bool {
        let (panics, runtime) = (std::thread::panicking(), self.world.runtime());
        if !panics || !runtime.jumps_when_quiet() {
            self.unwinding.store(0, Ordering::Relaxed);
            return panics;
        }
        if runtime.is_given_up() {
            return true; // all of them unwind, or are about to
        }
        let me = u64::from(self.thread()) + 1;
        // The first one to ask is that one: it asks before everything that lets others run.
        let first = self.unwinding.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed);
        first.unwrap_or_else(|first| if first == me { 0 } else { first }) == 0
    }

    /// Makes it the current one of this thread, which ends with what is returned.
    pub(super) fn enter(&self) -> Inside {
        CURRENT.with(|current| *current.borrow_mut() = Some(self.clone()));
        Inside { unwinding: Arc::clone(&self.unwinding), me: u64::from(self.thread()) + 1 }
    }

    /// Returns the runtime of the engine, for code that is generic over one. What such code does is not in the
    /// picture of a failure.
    pub fn runtime(&self) -> &AnyRuntime {
        let _noted = self.is_unwinding(); // others may run from here on
        self.world.runtime()
    }

    /// Makes a mutex.
    pub fn mutex<T: Send + 'static>(&self, value: T) -> Mutex<T> {
        Mutex::new(self, value)
    }

    /// Makes a condition variable.
    pub fn condvar(&self) -> Condvar {
        Condvar::new(self)
    }

    /// Makes a read-write lock.
    pub fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> RwLock<T> {
        RwLock::new(self, value)
    }

    /// Makes a number that threads share without a lock.
    pub fn atomic(&self, value: u64) -> Atomic {
        Atomic::new(self, value)
    }

    /// Reads the clock, which moves only when no thread can, or when a wait ends by its time.
    pub fn now(&self) -> Instant {
        self.runtime().now()
    }

    /// Sleeps. It costs no real time.
    pub fn sleep(&self, time: Duration) {
        self.act(format_args!("sleeps for {time:?}"));
        self.runtime().sleep_until(self.now() + time);
    }

    /// Returns a number below `options`: engines try each of them.
    ///
    /// # Panics
    /// If there is no option.
    pub fn choose(&self, options: u32) -> u32 {
        let chosen = self.runtime().choose(options);
        self.act(format_args!("chooses {chosen} of {options}"));
        chosen
    }

    /// Names a case that must be so in some run; the test fails if it never is. Call it where it may be so.
    pub fn sometimes(&self, what: &'static str, is_so: bool) {
        self.sometimes.note(what, is_so);
        if is_so {
            self.act(what);
        }
    }

    /// A fence of atomic numbers, which only loom needs.
    ///
    /// # Panics
    /// If the order is [`Ordering::Relaxed`].
    pub fn fence(&self, order: Ordering) {
        assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
        self.runtime().fence(order);
        self.act(format_args!("fences: {order:?}"));
    }

    /// Writes a line into the picture of a failure.
    pub fn note(&self, what: impl fmt::Display) {
        self.act(what);
    }

    /// Records a step. Call it inside the critical section that it describes.
    pub(super) fn act(&self, what: impl fmt::Display) {
        let _noted = self.is_unwinding(); // others may run from here on
        self.world.act(Act(what.to_string()));
    }

    /// Returns the number of the next thing that is made, for pictures.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.made.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let order = Ordering::Relaxed;
        let _was_this_one = self.unwinding.compare_exchange(self.me, 0, order, order);
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.with(|current| current.borrow_mut().take());
    }
}

impl fmt::Debug for Seam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seam").finish_non_exhaustive()
    }
}
