//! The seam over loom.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use seatrial_core::runtime::{Ambient, Instant, Panic, Runtime, WallTime};

use super::atomic::LoomAtomic;
use super::books::Wanted;
use super::rw_lock::{LoomReadGuard, LoomRwLock, LoomWriteGuard, granted};
use super::session::{Point, Session, lock, message};

/// The wall clock at the beginning of every execution: 2023-11-14T22:13:20Z.
const WALL_EPOCH: WallTime = WallTime::from_nanos(1_700_000_000_000_000_000);

/// The stack of a thread in words: 256 KiB of address space. Only main's cannot be chosen.
const STACK: usize = 0x8000;

/// Threads that loom schedules, and a clock that jumps when no thread can move.
#[derive(Clone)]
pub struct LoomRuntime {
    session: Arc<Session>,
}

impl LoomRuntime {
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }

    /// Starts the thread that lets the clock jump that number of times.
    pub(super) fn start_clock(&self, jumps: u32) {
        let session = Arc::clone(&self.session);
        let clock = self.spawn("clock", move || (0..jumps).for_each(|_| session.tick()));
        drop(clock); // it ends by itself
    }

    /// Returns the number of the running thread: 0 is main, then its children in the order in
    /// which it starts them, then their children. It does not depend on the schedule.
    #[must_use]
    pub fn current_thread(&self) -> u8 {
        let books = self.session.books();
        books.threads[books.running].number
    }

    /// Returns the name that the thread was started with; empty if there is no such thread.
    #[must_use]
    pub fn thread_name(&self, number: u8) -> String {
        let books = self.session.books();
        let named = books.threads.iter().find(|thread| thread.number == number);
        named.map(|thread| thread.name.clone()).unwrap_or_default()
    }

    /// Tells whether the execution is given up: its threads only unwind.
    pub(crate) fn is_given_up(&self) -> bool {
        self.session.books().abort.is_some()
    }

    /// A fence of the program under test.
    pub(crate) fn fence(&self, order: Ordering) {
        self.session.fence_by(order);
    }
}

impl fmt::Debug for LoomRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoomRuntime")
    }
}

/// A mutex whose acquisitions loom puts into every order.
pub struct LoomMutex<T> {
    lock: usize,
    point: Point,
    data: Mutex<T>,
    session: Arc<Session>,
}

impl<T> fmt::Debug for LoomMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomMutex").field(&self.lock).finish()
    }
}

/// Access to the value of a [`LoomMutex`].
pub struct LoomGuard<'a, T> {
    /// Missing only after the guard went into a wait.
    data: Option<MutexGuard<'a, T>>,
    mutex: &'a LoomMutex<T>,
}

impl<'a, T> LoomGuard<'a, T> {
    fn new(mutex: &'a LoomMutex<T>) -> Self {
        Self { data: Some(granted(mutex.data.try_lock())), mutex }
    }

    fn wait(mut self, condvar: &LoomCondvar, until: Instant) -> (Self, bool) {
        self.data = None;
        let mutex = self.mutex;
        let timed_out = mutex.session.wait(condvar.0, mutex.lock, &mutex.point, until);
        (Self::new(mutex), timed_out)
    }
}

impl<T> Deref for LoomGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_deref().expect("present until the guard is gone")
    }
}

impl<T> DerefMut for LoomGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_deref_mut().expect("present until the guard is gone")
    }
}

impl<T> Drop for LoomGuard<'_, T> {
    fn drop(&mut self) {
        if self.data.take().is_some() {
            self.mutex.session.release(self.mutex.lock);
        }
    }
}

impl<T> fmt::Debug for LoomGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomGuard").field(&self.mutex.lock).finish()
    }
}

/// A place to sleep; the longest sleeper is notified first.
#[derive(Debug)]
pub struct LoomCondvar(usize);

/// A thread that can be joined.
pub struct LoomJoin<T> {
    thread: usize,
    result: Arc<Mutex<Option<Result<T, Panic>>>>,
    session: Arc<Session>,
}

impl<T> fmt::Debug for LoomJoin<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomJoin").field(&self.thread).finish()
    }
}

/// An armed waker.
pub struct LoomTimer {
    key: (Instant, u64),
    session: Arc<Session>,
}

impl Drop for LoomTimer {
    fn drop(&mut self) {
        self.session.disarm(self.key);
    }
}

impl fmt::Debug for LoomTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoomTimer").field(&self.key.0).finish()
    }
}

impl Ambient for LoomRuntime {
    fn now(&self) -> Instant {
        self.session.now()
    }

    fn wall(&self) -> WallTime {
        WALL_EPOCH + self.now().since(Instant::ZERO)
    }

    fn entropy(&self) -> u64 {
        self.session.entropy()
    }

    fn choose(&self, options: u32) -> u32 {
        assert!(options > 0, "a choice needs at least one option");
        self.session.choose(options)
    }
}

impl Runtime for LoomRuntime {
    type Mutex<T: Send> = LoomMutex<T>;
    type Guard<'a, T: Send + 'static> = LoomGuard<'a, T>;
    type RwLock<T: Send + Sync> = LoomRwLock<T>;
    type ReadGuard<'a, T: Send + Sync + 'static> = LoomReadGuard<'a, T>;
    type WriteGuard<'a, T: Send + Sync + 'static> = LoomWriteGuard<'a, T>;
    type Atomic = LoomAtomic;
    type Condvar = LoomCondvar;
    type Join<T: Send + 'static> = LoomJoin<T>;
    type Timer = LoomTimer;
    type Published<T: Send + Sync> = LoomMutex<Arc<T>>;

    /// A number that was read before is not read again if a newer one is there: loops that spin come to an end.
    fn give_turn(&self) {
        self.session.give_turn();
    }

    fn mutex<T: Send + 'static>(&self, value: T) -> LoomMutex<T> {
        LoomMutex {
            lock: self.session.books().new_lock(),
            point: Point::new(()),
            data: Mutex::new(value),
            session: Arc::clone(&self.session),
        }
    }

    fn condvar(&self) -> LoomCondvar {
        LoomCondvar(self.session.books().new_condvar())
    }

    fn lock<'a, T: Send + 'static>(&self, mutex: &'a LoomMutex<T>) -> Self::Guard<'a, T> {
        self.session.acquire(Wanted::whole(mutex.lock), &mutex.point);
        LoomGuard::new(mutex)
    }

    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &LoomCondvar,
        guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T> {
        guard.wait(condvar, Instant::NEVER).0
    }

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &LoomCondvar,
        guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        if self.now() >= deadline {
            return (guard, true);
        }
        guard.wait(condvar, deadline)
    }

    fn notify_one(&self, condvar: &LoomCondvar) {
        self.session.notify(condvar.0, 1);
    }

    fn notify_all(&self, condvar: &LoomCondvar) {
        self.session.notify(condvar.0, usize::MAX);
    }

    fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> LoomRwLock<T> {
        LoomRwLock::new(&self.session, value)
    }

    fn read<'a, T: Send + Sync + 'static>(&self, lock: &'a LoomRwLock<T>) -> LoomReadGuard<'a, T> {
        lock.read()
    }

    fn write<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a LoomRwLock<T>,
    ) -> LoomWriteGuard<'a, T> {
        lock.write()
    }

    fn atomic(&self, value: u64) -> LoomAtomic {
        LoomAtomic::new(&self.session, value)
    }

    fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> Self::Published<T> {
        self.mutex(value)
    }

    fn publish<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>, value: Arc<T>) {
        let old = std::mem::replace(&mut *self.lock(cell), value);
        drop(old); // after the lock: dropping a value runs foreign code
    }

    fn load<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>) -> Arc<T> {
        Arc::clone(&self.lock(cell))
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> LoomTimer {
        let key = self.session.arm(deadline, waker);
        LoomTimer { key, session: Arc::clone(&self.session) }
    }

    fn sleep_until(&self, deadline: Instant) {
        self.session.sleep_until(deadline);
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> LoomJoin<T> {
        let thread = self.session.spawn(name);
        let result = Arc::new(Mutex::new(None));
        let (session, slot) = (Arc::clone(&self.session), Arc::clone(&result));
        let start = ::loom::thread::Builder::new().stack_size(STACK);
        let spawned = start.spawn(move || {
            let returned = session.run(thread, body);
            let mut panicked = returned.as_ref().err().and_then(|payload| message(&**payload));
            *lock(&slot) = Some(returned);
            // If no thread joins it, this drops the value that the thread returned, which runs
            // foreign code.
            let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(slot)));
            panicked = panicked.or(dropped.err().and_then(|payload| message(&*payload)));
            session.end(thread, panicked);
        });
        let spawned = spawned.expect("loom refuses no thread that there is room for");
        self.session.spawned(thread, spawned.thread().clone());
        LoomJoin { thread, result, session: Arc::clone(&self.session) }
    }

    fn join<T: Send + 'static>(&self, thread: LoomJoin<T>) -> Result<T, Panic> {
        thread.session.join(thread.thread);
        let result = lock(&thread.result).take();
        result.expect("a thread that ended has left its result")
    }
}
