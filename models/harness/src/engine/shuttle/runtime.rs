//! The seam over coroutines.
//!
//! Every call publishes what it is about to do, switches, and goes on when it was chosen. The data
//! lie in the standard library's mutexes, which the kernel's grant makes free to take.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use seatrial_core::runtime::{Ambient, Instant, Panic, Runtime, WallTime};

use super::WakeUps;
use super::alarms::{self, Timer};
use super::cells::{ShuttleAtomic, ShuttlePublished};
use super::kernel::{Kernel, ObjectId, Operation, Phase};
use super::rw_lock::{Shared, ShuttleRwLock, Whole, released, take_soon};
use super::session;
use super::threads::{self, Join, leave, perform, perform_after};

/// The runtime of the program under test, inside [`explore`](super::explore).
///
/// Locks, condition variables and published values belong to the execution that made them. After
/// it, a lock can still be taken to look at what is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShuttleRuntime;

/// The wall clock at the beginning of every execution: 2023-11-14T22:13:20Z.
const WALL_BEGIN: i64 = 1_700_000_000_000_000_000;

impl ShuttleRuntime {
    /// Returns the number of the running thread, as in schedules: 0 is the main thread, the others
    /// follow in the order of their start.
    #[must_use]
    pub fn current_thread(self) -> u8 {
        session::try_with(|session| session.kernel.running() as u8).unwrap_or(0)
    }

    /// Returns the name that a thread of the current or the last execution was started with.
    #[must_use]
    pub fn thread_name(self, thread: u8) -> String {
        let name = |session: &mut session::Session| {
            session.kernel.thread_label(usize::from(thread)).to_owned()
        };
        session::try_with(name).unwrap_or_default()
    }

    /// Tells whether the execution is given up: its threads only unwind.
    pub(crate) fn is_given_up(self) -> bool {
        !is_running()
    }
}

pub(super) fn is_running() -> bool {
    session::try_with(|session| session.kernel.phase() == Phase::Running).unwrap_or(false)
}

pub(super) fn is_inside() -> bool {
    session::try_with(|session| session.kernel.phase() != Phase::Outside).unwrap_or(false)
}

/// Notes a call that no schedule can interrupt; a thread that makes nothing else is stopped.
fn idle_call() {
    let stopped = session::try_with(|session| {
        session.kernel.phase() == Phase::Running && !session.kernel.idle_call()
    });
    if stopped == Some(true) {
        leave();
    }
}

impl Ambient for ShuttleRuntime {
    fn now(&self) -> Instant {
        let shared = |session: &mut session::Session| {
            session.kernel.phase() == Phase::Running && session.kernel.clock_is_shared()
        };
        if session::try_with(shared) == Some(true) {
            perform(Operation::ReadClock);
        } else {
            idle_call();
        }
        session::try_with(|session| session.kernel.now()).unwrap_or(Instant::ZERO)
    }

    /// The wall clock advances together with the monotonic clock.
    fn wall(&self) -> WallTime {
        let passed = i64::try_from(self.now().as_nanos()).unwrap_or(i64::MAX);
        WallTime::from_nanos(WALL_BEGIN.saturating_add(passed))
    }

    fn entropy(&self) -> u64 {
        idle_call();
        session::try_with(|session| session.kernel.entropy()).unwrap_or(0)
    }

    fn choose(&self, options: u32) -> u32 {
        assert!(options > 0, "a choice needs at least one option");
        if options == 1 || !is_running() {
            return 0;
        }
        session::with(|session| session.answer(options)).unwrap_or_else(|| {
            leave();
            0
        })
    }
}

/// Mutual exclusion among the threads of one execution.
pub struct ShuttleMutex<T> {
    id: Option<ObjectId>,
    value: Mutex<T>,
}

impl<T> ShuttleMutex<T> {
    pub(super) fn with_id(id: ObjectId, value: T) -> Self {
        Self { id: Some(id), value: Mutex::new(value) }
    }

    /// Takes the value after the kernel's grant; as soon as others have let go if there was none.
    fn take_soon(&self) -> Held<'_, T> {
        Held { guard: Some(take_soon(|| self.value.try_lock())), mutex: self }
    }

    /// Returns its number in the running execution.
    fn index(&self) -> usize {
        index(self.id)
    }
}

pub(super) fn index(id: Option<ObjectId>) -> usize {
    let id = id.expect("what was made outside `explore` is used inside");
    session::with(|session| session.kernel.index(id))
}

impl<T> fmt::Debug for ShuttleMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShuttleMutex")
    }
}

/// Access to the value of a locked [`ShuttleMutex`].
pub struct Held<'a, T> {
    /// `None` only while a wait has given it up.
    guard: Option<MutexGuard<'a, T>>,
    mutex: &'a ShuttleMutex<T>,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("a guard that is not waiting holds the value")
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("a guard that is not waiting holds the value")
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        if self.guard.take().is_some() {
            released(self.mutex.id, Kernel::release);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Held<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.guard.fmt(f)
    }
}

/// A condition variable of one execution.
pub struct ShuttleCondvar {
    id: Option<ObjectId>,
}

// Its number says how many executions came before it, which depends on the cores that help.
impl fmt::Debug for ShuttleCondvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShuttleCondvar")
    }
}

impl ShuttleCondvar {
    pub(super) fn with_id(id: ObjectId) -> Self {
        Self { id: Some(id) }
    }
}

impl ShuttleRuntime {
    /// Gives the mutex up, sleeps, takes it again; true if the deadline ended the sleep.
    fn sleep<'a, T>(
        condvar: &ShuttleCondvar,
        mut held: Held<'a, T>,
        deadline: Option<Instant>,
    ) -> (Held<'a, T>, bool) {
        let mutex = held.mutex;
        if !is_running() {
            assert!(is_inside(), "outside an execution nobody can wait");
            drop(held);
            leave();
            return (mutex.take_soon(), false);
        }
        let (at, on) = (mutex.index(), index(condvar.id));
        if wakes_spuriously() {
            drop(held);
            perform(Operation::Lock(at));
            return (mutex.take_soon(), false);
        }
        drop(held.guard.take());
        let granted = perform_after(|session| {
            session.kernel.wait(on, at, deadline);
            session.chooser.released(&session.kernel, at);
        });
        let timed_out = granted && session::with(|session| session.kernel.timed_out());
        (mutex.take_soon(), timed_out)
    }
}

/// Asks the strategy whether this wait ends at once for no reason. A wait that ends for no reason
/// later looks to other threads like a notified one, or like this one.
fn wakes_spuriously() -> bool {
    session::with(|session| {
        let wakes = session.kernel.can_wake_spuriously() && session.answer(2) == Some(1);
        if wakes {
            session.kernel.wake_spuriously();
        }
        wakes
    })
}

/// Notifies under the mutex.
fn notify(condvar: &ShuttleCondvar, wake: fn(&mut Kernel, usize)) {
    if !is_running() {
        return; // everybody is awake
    }
    let condvar = index(condvar.id);
    let permitted = session::with(|session| session.kernel.may_notify(condvar));
    assert!(permitted, "a condition variable is notified without holding its mutex");
    if session::with(|session| session.kernel.notification_reads_clock(condvar)) {
        perform(Operation::ReadClock);
    }
    let late = session::with(|session| session.kernel.late_waiters(condvar));
    late.for_each(|waiter| dismiss_late(condvar, waiter));
    session::with(|session| wake(&mut session.kernel, condvar));
}

/// Settles whether a waiter whose deadline has passed is out of the line. In order of arrival it
/// always is; otherwise that is a choice.
fn dismiss_late(condvar: usize, waiter: usize) {
    session::with(|session| {
        if session.kernel.can_step_out(condvar, waiter) {
            let is_out =
                session.kernel.config.wake_ups == WakeUps::InOrder || session.answer(2) == Some(1);
            if is_out {
                session.kernel.step_out(condvar, waiter);
            }
        }
    });
}

impl Runtime for ShuttleRuntime {
    type Mutex<T: Send> = ShuttleMutex<T>;
    type Guard<'a, T: Send + 'static> = Held<'a, T>;
    type RwLock<T: Send + Sync> = ShuttleRwLock<T>;
    type ReadGuard<'a, T: Send + Sync + 'static> = Shared<'a, T>;
    type WriteGuard<'a, T: Send + Sync + 'static> = Whole<'a, T>;
    type Atomic = ShuttleAtomic;
    type Condvar = ShuttleCondvar;
    type Join<T: Send + 'static> = Join<T>;
    type Timer = Timer;
    type Published<T: Send + Sync> = ShuttlePublished<T>;

    fn mutex<T: Send + 'static>(&self, value: T) -> ShuttleMutex<T> {
        let id = is_inside().then(|| session::with(|session| session.kernel.new_lock()));
        ShuttleMutex { id, value: Mutex::new(value) }
    }

    fn condvar(&self) -> ShuttleCondvar {
        let id = is_inside().then(|| session::with(|session| session.kernel.new_condvar()));
        ShuttleCondvar { id }
    }

    fn lock<'a, T: Send + 'static>(&self, mutex: &'a ShuttleMutex<T>) -> Held<'a, T> {
        if is_running() {
            perform(Operation::Lock(mutex.index()));
        }
        mutex.take_soon()
    }

    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &ShuttleCondvar,
        guard: Self::Guard<'a, T>,
    ) -> Held<'a, T> {
        Self::sleep(condvar, guard, None).0
    }

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &ShuttleCondvar,
        guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Held<'a, T>, bool) {
        if self.now() >= deadline {
            return (guard, true);
        }
        Self::sleep(condvar, guard, Some(deadline))
    }

    fn notify_one(&self, condvar: &ShuttleCondvar) {
        notify(condvar, Kernel::notify_one);
    }

    fn notify_all(&self, condvar: &ShuttleCondvar) {
        notify(condvar, Kernel::notify_all);
    }

    fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> ShuttleRwLock<T> {
        ShuttleRwLock::new(value)
    }

    fn read<'a, T: Send + Sync + 'static>(&self, lock: &'a ShuttleRwLock<T>) -> Shared<'a, T> {
        lock.read()
    }

    fn write<'a, T: Send + Sync + 'static>(&self, lock: &'a ShuttleRwLock<T>) -> Whole<'a, T> {
        lock.write()
    }

    fn atomic(&self, value: u64) -> ShuttleAtomic {
        ShuttleAtomic::new(value)
    }

    fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> ShuttlePublished<T> {
        ShuttlePublished::new(value)
    }

    fn publish<T: Send + Sync + 'static>(&self, cell: &ShuttlePublished<T>, value: Arc<T>) {
        cell.publish(value);
    }

    fn load<T: Send + Sync + 'static>(&self, cell: &ShuttlePublished<T>) -> Arc<T> {
        cell.load()
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> Timer {
        alarms::arm(*self, deadline, waker)
    }

    fn sleep_until(&self, deadline: Instant) {
        if self.now() < deadline && is_running() {
            perform_after(|session| session.kernel.sleep(deadline));
        }
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Join<T> {
        if !is_running() {
            leave();
            return threads::never_started();
        }
        let child = session::with(|session| session.kernel.next_child());
        threads::spawn(child, name, body)
    }

    fn join<T: Send + 'static>(&self, thread: Join<T>) -> Result<T, Panic> {
        threads::join(thread)
    }
}
