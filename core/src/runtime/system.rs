//! The runtime of production: real threads, `parking_lot` locks and the machine's clocks.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::{Ambient, Instant, Panic, Runtime, WallTime};
use crate::caught::{discard, drop_caught, each};

// This is the only file of the crate that may use the machine's clocks and threads directly.
#[expect(clippy::disallowed_types, reason = "this is where the seam meets the machine")]
type MachineInstant = std::time::Instant;

/// Real threads and real time. Cheap to copy. All values share the epoch of the process, so an
/// [`Instant`] that one of them read is valid for all others.
///
/// The first task that waits for a time starts one thread, which wakes the tasks of the whole
/// process when their time comes and lives as long as the process. Threads that wait for a time
/// need no such help.
///
/// On Linux and Android the clock also counts the time in which the machine was suspended, so a
/// leader that asks for the time knows that its lease is over. Sleeping threads and tasks do not
/// notice: they sleep for as long as they would have without the suspension.
#[derive(Clone, Copy)]
pub struct System {
    /// The time at the epoch.
    epoch: Duration,
}

/// Returns the time since some moment in the past.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[inline]
fn uptime() -> Duration {
    uptime_by(clock_gettime)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
#[inline]
pub(super) fn uptime_by(read: impl FnOnce(ClockId) -> Timespec) -> Duration {
    let now = read(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[inline]
fn uptime() -> Duration {
    static START: OnceLock<MachineInstant> = OnceLock::new();
    START.get_or_init(MachineInstant::now).elapsed()
}

impl System {
    /// Makes a runtime. The epoch is the moment when the first one of the process was made.
    #[must_use]
    pub fn new() -> Self {
        static EPOCH: OnceLock<Duration> = OnceLock::new();
        Self { epoch: *EPOCH.get_or_init(uptime) }
    }

    /// Returns the machine's instant for a runtime instant; `None` if it is never reached.
    fn machine(&self, t: Instant) -> Option<MachineInstant> {
        if t == Instant::NEVER {
            return None;
        }
        let left = t.since(self.now());
        MachineInstant::now().checked_add(left) // read second, so that nothing wakes too early
    }

    /// Sleeps until notified or until the deadline; true for the deadline.
    #[inline]
    fn wait_until_on<T>(
        &self,
        condvar: &Condvar,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> bool {
        match self.machine(deadline) {
            Some(at) => condvar.wait_until(guard, at).timed_out(),
            None => {
                condvar.wait(guard);
                false
            }
        }
    }
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("System")
    }
}

impl Ambient for System {
    #[inline]
    fn now(&self) -> Instant {
        Instant::ZERO + uptime().saturating_sub(self.epoch)
    }

    #[expect(clippy::disallowed_types, reason = "this is where the seam meets the machine")]
    fn wall(&self) -> WallTime {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        WallTime::from_nanos(match since {
            Ok(d) => i64::try_from(d.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos)
            }
        })
    }

    /// Mixes a counter with a key that the operating system chose for this process.
    fn entropy(&self) -> u64 {
        static KEY: OnceLock<RandomState> = OnceLock::new();
        static DRAWN: AtomicU64 = AtomicU64::new(0);
        let mut hasher = KEY.get_or_init(RandomState::new).build_hasher();
        hasher.write_u64(DRAWN.fetch_add(1, Ordering::Relaxed));
        hasher.finish()
    }
}

impl Runtime for System {
    type Mutex<T: Send> = Mutex<T>;
    type Guard<'a, T: Send + 'static> = MutexGuard<'a, T>;
    type RwLock<T: Send + Sync> = RwLock<T>;
    type ReadGuard<'a, T: Send + Sync + 'static> = RwLockReadGuard<'a, T>;
    type WriteGuard<'a, T: Send + Sync + 'static> = RwLockWriteGuard<'a, T>;
    type Atomic = AtomicU64;
    type Condvar = Condvar;
    type Join<T: Send + 'static> = std::thread::JoinHandle<T>;
    type Timer = SystemTimer;
    type Published<T: Send + Sync> = ArcSwap<T>;

    /// Three turns have most of the effect that many more would have.
    #[inline]
    fn turns(&self) -> u32 {
        3
    }

    #[inline]
    fn give_turn(&self) {
        std::thread::yield_now();
    }

    #[inline]
    fn mutex<T: Send + 'static>(&self, value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    #[inline]
    fn condvar(&self) -> Condvar {
        Condvar::new()
    }

    #[inline]
    fn lock<'a, T: Send + 'static>(&self, mutex: &'a Mutex<T>) -> Self::Guard<'a, T> {
        mutex.lock()
    }

    #[inline]
    fn wait<'a, T: Send + 'static>(
        &self,
        condvar: &Condvar,
        mut guard: Self::Guard<'a, T>,
    ) -> Self::Guard<'a, T> {
        condvar.wait(&mut guard);
        guard
    }

    #[inline]
    fn wait_until<'a, T: Send + 'static>(
        &self,
        condvar: &Condvar,
        mut guard: Self::Guard<'a, T>,
        deadline: Instant,
    ) -> (Self::Guard<'a, T>, bool) {
        let timed_out = self.wait_until_on(condvar, &mut guard, deadline);
        (guard, timed_out)
    }

    #[inline]
    fn notify_one(&self, condvar: &Condvar) {
        condvar.notify_one();
    }

    #[inline]
    fn notify_all(&self, condvar: &Condvar) {
        condvar.notify_all();
    }

    #[inline]
    fn rw_lock<T: Send + Sync + 'static>(&self, value: T) -> RwLock<T> {
        RwLock::new(value)
    }

    #[inline]
    fn read<'a, T: Send + Sync + 'static>(&self, lock: &'a RwLock<T>) -> Self::ReadGuard<'a, T> {
        lock.read()
    }

    #[inline]
    fn write<'a, T: Send + Sync + 'static>(&self, lock: &'a RwLock<T>) -> Self::WriteGuard<'a, T> {
        lock.write()
    }

    #[inline]
    fn atomic(&self, value: u64) -> AtomicU64 {
        AtomicU64::new(value)
    }

    fn published<T: Send + Sync + 'static>(&self, value: Arc<T>) -> ArcSwap<T> {
        ArcSwap::new(value)
    }

    #[inline]
    fn publish<T: Send + Sync + 'static>(&self, cell: &ArcSwap<T>, value: Arc<T>) {
        cell.store(value);
    }

    #[inline]
    fn load<T: Send + Sync + 'static>(&self, cell: &ArcSwap<T>) -> Arc<T> {
        cell.load_full()
    }

    fn wake_at(&self, deadline: Instant, waker: Waker) -> SystemTimer {
        let is_reached = deadline != Instant::NEVER;
        SystemTimer(is_reached.then(|| Alarms::shared().arm(deadline, waker)))
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the seam meets the machine")]
    fn sleep_until(&self, deadline: Instant) {
        loop {
            let left = deadline.since(self.now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left);
        }
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Self::Join<T> {
        // A thread that is started by a task can do what the task can: open connections, sleep, and
        // spawn tasks.
        #[cfg(feature = "tokio")]
        let body = {
            let home = tokio::runtime::Handle::try_current();
            move || {
                let _entered = home.as_ref().ok().map(tokio::runtime::Handle::enter);
                body()
            }
        };
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .expect("the operating system starts a thread")
    }

    fn join<T: Send + 'static>(&self, thread: Self::Join<T>) -> Result<T, Panic> {
        thread.join()
    }
}

type AlarmId = (Instant, u64);

/// An armed deadline of [`System`]; `None` if it is never reached.
#[derive(Debug)]
pub struct SystemTimer(Option<AlarmId>);

impl Drop for SystemTimer {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            Alarms::shared().disarm(id);
        }
    }
}

/// All armed wakers of the process, served by one thread that the first of them starts.
///
/// The thread wakes them one by one. If one panics, the panic hook reports it and the thread goes
/// on. A slow one delays all others that are due.
struct Alarms {
    armed: Mutex<Armed>,
    earlier: Condvar,
}

#[derive(Default)]
struct Armed {
    wakers: BTreeMap<AlarmId, Waker>,
    next: u64,
}

impl Alarms {
    fn shared() -> &'static Self {
        static ALARMS: OnceLock<&'static Alarms> = OnceLock::new();
        ALARMS.get_or_init(|| {
            let alarms: &'static Self = Box::leak(Box::new(Self {
                armed: Mutex::new(Armed::default()),
                earlier: Condvar::new(),
            }));
            let served = std::thread::Builder::new()
                .name("seatrial-alarms".to_owned())
                .spawn(|| alarms.serve())
                .expect("the operating system starts a thread");
            drop(served); // detached: it lives as long as the process
            alarms
        })
    }

    fn arm(&self, at: Instant, waker: Waker) -> AlarmId {
        let mut armed = self.armed.lock();
        armed.next += 1;
        let id = (at, armed.next);
        armed.wakers.insert(id, waker);
        if armed.wakers.first_key_value().is_some_and(|(first, _)| *first == id) {
            self.earlier.notify_one();
        }
        id
    }

    fn disarm(&self, id: AlarmId) {
        let waker = self.armed.lock().wakers.remove(&id);
        drop_caught(waker); // outside the lock: dropping a waker runs foreign code
    }

    fn serve(&self) -> ! {
        let system = System::new();
        let mut armed = self.armed.lock();
        loop {
            match armed.wakers.first_key_value().map(|(id, _)| *id) {
                None => self.earlier.wait(&mut armed),
                Some(id) if id.0 <= system.now() => {
                    let waker = armed.wakers.remove(&id);
                    MutexGuard::unlocked(&mut armed, || {
                        if let Some(panic) = each(waker, Waker::wake) {
                            discard(panic);
                        }
                    });
                }
                Some(id) => {
                    let _timed_out = system.wait_until_on(&self.earlier, &mut armed, id.0);
                }
            }
        }
    }
}
