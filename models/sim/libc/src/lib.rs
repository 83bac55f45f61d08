//! Random numbers, clocks and the name of the machine, as a simulation wants them.
//!
//! A program that links this package has its own `getrandom`, `clock_gettime` and `gethostname`:
//! the linker takes those of the program before those of the C library. A thread that has not asked
//! for anything gets the answers of the C library. A thread with a [`Guard`] gets numbers from a
//! seed, a clock that the simulation moves, and the name of no machine. That covers everything that
//! the standard library and the crates under kube-rs draw by themselves: the keys of hash maps, the
//! chance in back-offs, the times and names in events.
//!
//! It works with glibc on Linux, on any stable compiler, without flags. It does not reach those who
//! call the kernel by `syscall` (the crate `getrandom` 0.2), other threads, or `tokio::select!` without
//! `biased`, whose chance comes from a counter of the process.
//!
//! This is the only package of the project with unsafe code. The C library has no safe way to be
//! replaced; each block gives its reason.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod asks;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod symbols;

pub use asks::{Ask, Source};

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The inputs under control; a canary switches one of them off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedies {
    /// `getrandom`: the keys of the standard library's hash maps, and other requests to the system.
    pub random: bool,
    /// The clocks.
    pub clock: bool,
    /// The keys of ahash's maps, such as kube's stores.
    pub ahash: bool,
    /// fastrand, such as the chance in back-offs.
    pub fastrand: bool,
    /// The name of the machine.
    pub hostname: bool,
}

impl Default for Remedies {
    fn default() -> Self {
        Self { random: true, clock: true, ahash: true, fastrand: true, hostname: true }
    }
}

/// How much time has passed; none if it cannot be told now.
type Elapsed = dyn Fn() -> Option<Duration>;

thread_local! {
    static REMEDIES: Cell<Option<Remedies>> = const { Cell::new(None) };
    static STATE: Cell<u64> = const { Cell::new(0) };
    static AHASH: Cell<u64> = const { Cell::new(0) };
    static HOST: RefCell<String> = const { RefCell::new(String::new()) };
    static CLOCK: RefCell<Option<(Duration, Rc<Elapsed>)>> = const { RefCell::new(None) };
}

/// What one of several simulated machines has of its own: where its random numbers are, and its name.
#[derive(Clone, Debug)]
pub struct Machine {
    random: u64,
    ahash: u64,
    fastrand: u64,
    name: String,
}

impl Machine {
    /// A machine of this name whose numbers begin with a seed.
    pub fn new(seed: u64, name: &str) -> Self {
        Self { random: seed, ahash: seed ^ 0x5eed, fastrand: seed, name: name.to_owned() }
    }
}

/// As long as this lives, its thread gets the inputs of the simulation.
pub struct Guard {
    /// It belongs to its thread.
    _here: std::marker::PhantomData<Rc<()>>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guard")
    }
}

impl Guard {
    /// Puts this thread under control. It should be a fresh thread: values that it has drawn
    /// before, such as the first keys of its hash maps, stay.
    pub fn new(seed: u64, remedies: Remedies) -> Self {
        prepare();
        STATE.set(seed);
        AHASH.set(seed ^ 0x5eed);
        REMEDIES.set(Some(remedies));
        if remedies.fastrand {
            fastrand::seed(seed);
        }
        Self { _here: std::marker::PhantomData }
    }

    /// This thread is that machine from now on, and what it was before is kept in its place: the same again
    /// goes back.
    pub fn swap(&self, machine: &mut Machine) {
        machine.random = STATE.replace(machine.random);
        machine.ahash = AHASH.replace(machine.ahash);
        HOST.with_borrow_mut(|it| std::mem::swap(it, &mut machine.name));
        if REMEDIES.get().is_some_and(|it| it.fastrand) {
            let old = fastrand::get_seed();
            fastrand::seed(machine.fastrand);
            machine.fastrand = old;
        }
    }

    /// From now on the wall clock shows `begins_at` plus `elapsed`, and `Instant` moves with it.
    pub fn set_clock(&self, begins_at: Duration, elapsed: impl Fn() -> Option<Duration> + 'static) {
        let old = CLOCK.replace(Some((begins_at, Rc::new(elapsed))));
        drop(old);
    }

    /// Begins to record the code that asks for chance and time, for [`asks`](Self::asks). Recording
    /// is slow.
    pub fn note_asks(&self) {
        asks::begin();
    }

    /// Returns the requests since recording began, in their order.
    pub fn asks(&self) -> Vec<Ask> {
        asks::end()
    }

    /// The clocks are the machine's again, as they must be when the simulation's time is gone.
    pub fn clear_clock(&self) {
        let old = CLOCK.take();
        drop(old);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        REMEDIES.set(None);
        HOST.with_borrow_mut(String::clear);
        self.clear_clock();
        drop(asks::end());
    }
}

/// Whether the remedies work on this platform.
pub fn is_supported() -> bool {
    cfg!(all(target_os = "linux", target_env = "gnu"))
}

/// Whether the program's symbols are those of this package: a hash map on a fresh thread tells.
pub fn is_effective() -> bool {
    let keys = || {
        let drawn = std::thread::spawn(|| {
            let guard = Guard::new(7, Remedies::default());
            let map: std::collections::HashSet<u32> = (0..64).collect();
            let order: Vec<u32> = map.into_iter().collect();
            drop(guard);
            order
        });
        drawn.join().ok()
    };
    keys().is_some() && keys() == keys()
}

/// The next number of this thread, by the splitmix64 sequence.
fn next(state: &'static std::thread::LocalKey<Cell<u64>>) -> u64 {
    let now = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    state.set(now);
    let mut mixed = now;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Gives ahash its source, once in a process, before its first map.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // After an earlier map it is too late: the source stays, and the canary of ahash tells.
        ahash::random_state::set_random_source(Seeds).unwrap_or_default();
        // The seeds that all maps of the process share are drawn here.
        REMEDIES.set(Some(Remedies::default()));
        STATE.set(0);
        let _first = ahash::RandomState::new();
        REMEDIES.set(None);
    });
}

/// The source of the seeds of ahash's maps.
struct Seeds;

impl ahash::random_state::RandomSource for Seeds {
    fn gen_hasher_seed(&self) -> usize {
        asks::took(Source::Ahash);
        let is_on = REMEDIES.get().is_some_and(|it| it.ahash);
        if is_on {
            return next(&AHASH) as usize;
        }
        chance() as usize
    }
}

/// A number that is not under control: for ahash on other threads, and for its canary.
fn chance() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    count.rotate_left(40) ^ nanoseconds()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use symbols::real_nanoseconds as nanoseconds;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn nanoseconds() -> u64 {
    0
}
