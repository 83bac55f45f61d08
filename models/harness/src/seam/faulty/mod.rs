//! Runtimes that break one promise each, to see that the suite notices.

mod shared;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::panic;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use seatrial_core::runtime::{Ambient, Instant, Panic, Runtime, WallTime};

use shared::{FaultyAtomic, FaultyRead, FaultyRwLock};

const MS: Duration = Duration::from_millis(1);

/// The defects of runtimes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Two threads can hold the same lock.
    SplitsLocks,
    /// A lock whose holder panicked refuses all other threads.
    Poisons,
    /// A notification of one wakes no thread.
    LosesNotifications,
    /// Every second notification of one wakes no thread.
    LosesSecondNotifications,
    /// A notification of all wakes no thread.
    LosesBroadcasts,
    /// A notification of all wakes one thread.
    BroadcastsToOne,
    /// The lock is free for a moment before the waiter can be notified.
    WaitsInTwoSteps,
    /// A timed wait always says that it timed out.
    ClaimsTimeOuts,
    /// Timed waits end a millisecond early.
    WaitsTooShort,
    /// Timed waits do not end by themselves.
    WaitsForEver,
    /// Sleeps end a millisecond early.
    SleepsTooShort,
    /// Sleeps end at full hundredths of a second.
    SleepsCoarsely,
    /// No thread wakes from a sleep as long as some thread holds a lock.
    SleepsWithoutLocks,
    /// Timers fire a millisecond early.
    FiresEarly,
    /// Timers do not fire.
    FiresNever,
    /// A dropped timer fires.
    KeepsDroppedTimers,
    /// A panic is not returned to the joiner but goes on in it.
    JoinsPanic,
    /// A task that waits is never polled again.
    PollsOnce,
    /// A published value is not seen.
    ForgetsPublished,
    /// After a new value the one before it is seen again for a moment.
    PublishesBackwards,
    /// Somebody else can read while a thread writes.
    ReadsWhileWritten,
    /// Only one thread can read at a time.
    ReadsAlone,
    /// Adding to a number is two accesses.
    AddsInTwoSteps,
    /// A number is exchanged, whatever it was.
    ExchangesBlindly,
    /// A thread that gives its turn reads what it read before.
    KeepsTurn,
    /// An ordering orders nothing.
    ForgetsOrderings,
    /// Every choice has the same answer.
    AnswersZero,
}

/// A runtime with a fault.
#[derive(Clone)]
pub(super) struct Faulty<R: Runtime> {
    inner: R,
    fault: Fault,
    held: Arc<AtomicU32>,
    notified: Arc<AtomicU32>,
}

impl<R: Runtime> Faulty<R> {
    pub(super) fn new(inner: &R, fault: Fault) -> Self {
        Self { inner: inner.clone(), fault, held: Arc::default(), notified: Arc::default() }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

impl<R: Runtime> Ambient for Faulty<R> {
    fn now(&self) -> Instant {
        self.inner.now()
    }

    fn wall(&self) -> WallTime {
        self.inner.wall()
    }

    fn entropy(&self) -> u64 {
        self.inner.entropy()
    }

    fn choose(&self, options: u32) -> u32 {
        if self.has(Fault::AnswersZero) { 0 } else { self.inner.choose(options) }
    }
}

/// A mutex, or two that pass for one.
pub(super) struct FaultyMutex<R: Runtime, T: Send> {
    cells: Vec<R::Mutex<T>>,
    locked: AtomicU32,
    poisoned: AtomicBool,
    held: Arc<AtomicU32>,
    poisons: bool,
}

pub(super) struct FaultyGuard<'a, R: Runtime, T: Send + 'static> {
    guard: Option<R::Guard<'a, T>>,
    cell: &'a R::Mutex<T>,
    mutex: &'a FaultyMutex<R, T>,
}

impl<'a, R: Runtime, T: Send + 'static> FaultyGuard<'a, R, T> {
    fn new(guard: R::Guard<'a, T>, cell: &'a R::Mutex<T>, mutex: &'a FaultyMutex<R, T>) -> Self {
        mutex.held.fetch_add(1, Ordering::SeqCst);
        Self { guard: Some(guard), cell, mutex }
    }

    /// Takes the guard of the runtime below out.
    fn take(&mut self) -> R::Guard<'a, T> {
        self.mutex.held.fetch_sub(1, Ordering::SeqCst);
        self.guard.take().expect("present until it is taken out")
    }
}

impl<R: Runtime, T: Send + 'static> Deref for FaultyGuard<'_, R, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("present until it is taken out")
    }
}

impl<R: Runtime, T: Send + 'static> DerefMut for FaultyGuard<'_, R, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("present until it is taken out")
    }
}

impl<R: Runtime, T: Send + 'static> Drop for FaultyGuard<'_, R, T> {
    fn drop(&mut self) {
        if self.guard.is_some() {
            self.mutex.held.fetch_sub(1, Ordering::SeqCst);
            let poisoned = self.mutex.poisons && std::thread::panicking();
            self.mutex.poisoned.fetch_or(poisoned, Ordering::SeqCst);
        }
    }
}

/// An armed waker that may outlive its drop.
pub(super) struct FaultyTimer<R: Runtime> {
    timer: Option<R::Timer>,
    keeps: bool,
}

impl<R: Runtime> Drop for FaultyTimer<R> {
    fn drop(&mut self) {
        if self.keeps {
            std::mem::forget(self.timer.take());
        }
    }
}

/// Returns a copy of a number.
fn copy<T: 'static>(value: &T) -> Option<T> {
    let number = (value as &dyn Any).downcast_ref::<u64>()?;
    let copied: Box<dyn Any> = Box::new(*number);
    copied.downcast().ok().map(|copied| *copied)
}

fn earlier(deadline: Instant) -> Instant {
    Instant::from_nanos(deadline.as_nanos().saturating_sub(MS.as_nanos() as u64))
}

impl<R: Runtime> Runtime for Faulty<R> {
    type Mutex<T: Send> = FaultyMutex<R, T>;
    type Guard<'a, T: Send + 'static> = FaultyGuard<'a, R, T>;
    type RwLock<T: Send + Sync> = FaultyRwLock<R, T>;
    type ReadGuard<'a, T: Send + Sync + 'static> = FaultyRead<'a, R, T>;
    type WriteGuard<'a, T: Send + Sync + 'static> = R::WriteGuard<'a, T>;
    type Atomic = FaultyAtomic<R>;
    type Condvar = R::Condvar;
    type Join<T: Send + 'static> = R::Join<T>;
    type Timer = FaultyTimer<R>;
    type Published<T: Send + Sync> = R::Published<T>;

    fn give_turn(&self) {
        if !self.has(Fault::KeepsTurn) {
            self.inner.give_turn();
        }
    }

    fn mutex<T: Send + 'static>(&self, value: T) -> FaultyMutex<R, T> {
        let twin = if self.has(Fault::SplitsLocks) { copy(&value) } else { None };
        let values = std::iter::once(value).chain(twin);
        FaultyMutex {
            cells: values.map(|value| self.inner.mutex(value)).collect(),
            locked: AtomicU32::new(0),
            poisoned: AtomicBool::new(false),
            held: Arc::clone(&self.held),
            poisons: self.has(Fault::Poisons),
        }
    }

    fn condvar(&self) -> R::Condvar {
        self.inner.condvar()
    }

    fn lock<'a, T: Send + 'static>(&self, mutex: &'a FaultyMutex<R, T>) -> Self::Guard<'a, T> {
        assert!(!mutex.poisoned.load(Ordering::SeqCst), "poisoned");
        let nth = mutex.locked.fetch_add(1, Ordering::SeqCst) as usize;
        let cell = &mutex.cells[nth % mutex.cells.len()];
        FaultyGuard::new(self.inner.lock(cell), cell, mutex)
    }

    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &R::Condvar,
        mut guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T> {
        let (cell, mutex, mut guard) = (guard.cell, guard.mutex, guard.take());
        if self.has(Fault::WaitsInTwoSteps) {
            drop(guard);
            guard = self.inner.lock(cell);
        }
        FaultyGuard::new(self.inner.wait(condvar, guard), cell, mutex)
    }

    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &R::Condvar,
        mut guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        let (cell, mutex, guard) = (guard.cell, guard.mutex, guard.take());
        let deadline = match self.fault {
            Fault::WaitsTooShort => earlier(deadline),
            Fault::WaitsForEver => Instant::NEVER,
            _ => deadline,
        };
        let (guard, timed_out) = self.inner.wait_until(condvar, guard, deadline);
        (FaultyGuard::new(guard, cell, mutex), timed_out || self.has(Fault::ClaimsTimeOuts))
    }

    fn notify_one(&self, condvar: &R::Condvar) {
        let nth = self.notified.fetch_add(1, Ordering::SeqCst);
        let lost = match self.fault {
            Fault::LosesNotifications => true,
            Fault::LosesSecondNotifications => nth % 2 == 1,
            _ => false,
        };
        if !lost {
            self.inner.notify_one(condvar);
        }
    }

    fn notify_all(&self, condvar: &R::Condvar) {
        match self.fault {
            Fault::LosesBroadcasts => {}
            Fault::BroadcastsToOne => self.inner.notify_one(condvar),
            _ => self.inner.notify_all(condvar),
        }
    }

    fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> FaultyRwLock<R, T> {
        FaultyRwLock::new(&self.inner, self.fault, value)
    }

    fn read<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a FaultyRwLock<R, T>,
    ) -> FaultyRead<'a, R, T> {
        lock.read(&self.inner)
    }

    fn write<'a, T: Send + Sync + 'static>(
        &self,
        lock: &'a FaultyRwLock<R, T>,
    ) -> R::WriteGuard<'a, T> {
        lock.write(&self.inner)
    }

    fn atomic(&self, value: u64) -> FaultyAtomic<R> {
        FaultyAtomic::new(&self.inner, self.fault, value)
    }

    fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> Self::Published<T> {
        self.inner.published(value)
    }

    fn publish<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>, value: Arc<T>) {
        if self.has(Fault::ForgetsPublished) {
            return;
        }
        let before = self.inner.load(cell);
        self.inner.publish(cell, value);
        if self.has(Fault::PublishesBackwards) {
            let newest = self.inner.load(cell);
            self.inner.publish(cell, before);
            self.inner.publish(cell, newest);
        }
    }

    fn load<T: Send + Sync + 'static>(&self, cell: &Self::Published<T>) -> Arc<T> {
        self.inner.load(cell)
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> FaultyTimer<R> {
        let deadline = match self.fault {
            Fault::FiresEarly => earlier(deadline),
            Fault::FiresNever => Instant::NEVER,
            _ => deadline,
        };
        let timer = Some(self.inner.wake_at(deadline, waker));
        FaultyTimer { timer, keeps: self.has(Fault::KeepsDroppedTimers) }
    }

    fn sleep_until(&self, deadline: Instant) {
        let hundredth = 10 * MS.as_nanos() as u64;
        let deadline = match self.fault {
            Fault::SleepsTooShort => earlier(deadline),
            Fault::SleepsCoarsely => {
                Instant::from_nanos(deadline.as_nanos().next_multiple_of(hundredth))
            }
            Fault::SleepsWithoutLocks if self.held.load(Ordering::SeqCst) > 0 => Instant::NEVER,
            _ => deadline,
        };
        self.inner.sleep_until(deadline);
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> R::Join<T> {
        self.inner.spawn(name, body)
    }

    fn join<T: Send + 'static>(&self, thread: R::Join<T>) -> Result<T, Panic> {
        let joined = self.inner.join(thread);
        match joined {
            Err(payload) if self.has(Fault::JoinsPanic) => panic::resume_unwind(payload),
            joined => joined,
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        if !self.has(Fault::PollsOnce) {
            return self.inner.block_on(future);
        }
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => loop {
                self.inner.sleep_until(Instant::NEVER);
            },
        }
    }
}

impl<R: Runtime> fmt::Debug for Faulty<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Faulty").field(&self.fault).finish()
    }
}
