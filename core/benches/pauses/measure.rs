//! The tools for measuring rows.

use std::alloc::System as Allocator;
use std::time::Duration;

use cap::Cap;
use rustix::time::{ClockId, clock_gettime};
use seatrial_core::runtime::{Ambient, System};

#[global_allocator]
static ALLOCATOR: Cap<Allocator> = Cap::new(Allocator, usize::MAX);

/// Returns how many bytes are allocated.
pub(crate) fn allocated() -> usize {
    ALLOCATOR.allocated()
}

/// Returns the largest number of bytes that were allocated.
pub(crate) fn most_allocated() -> usize {
    ALLOCATOR.max_allocated()
}

/// Rounds of a measurement. The shortest counts, because other programs only make it longer.
const ROUNDS: usize = 5;

/// Returns how long a function runs by the clock of this thread, which stands still while other
/// programs have the processor.
pub(crate) fn timed(run: impl FnOnce()) -> Duration {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
    };
    let began = now();
    run();
    now() - began
}

/// Fills the caches with other memory, more than they hold.
pub(crate) fn empty_caches() {
    let mut other = vec![1_u8; 128 << 20];
    other.iter_mut().step_by(64).for_each(|byte| *byte += 1);
    std::hint::black_box(other);
}

/// Returns how long a function takes that runs on several threads.
pub(crate) fn wall(run: impl FnOnce()) -> Duration {
    let system = System::new();
    let began = system.now();
    run();
    system.now().since(began)
}

/// Returns the shortest of several measurements.
pub(crate) fn shortest(mut measure: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| measure()).min().expect("there is a round")
}

/// Times many calls one by one, and keeps the longest time.
#[derive(Default)]
pub(crate) struct Laps(Duration);

impl Laps {
    pub(crate) fn lap<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let mut out = None;
        self.0 = self.0.max(timed(|| out = Some(call())));
        out.expect("it was called")
    }

    pub(crate) fn longest(&self) -> Duration {
        self.0
    }
}

/// Prints one figure of a row.
pub(crate) fn tell(size: usize, what: &str, figure: Duration) {
    println!("  {size:>9}  {what}: {figure:?}");
}

/// Fails the row if `large` is more than `factor` times `small`.
///
/// # Panics
/// If it is.
pub(crate) fn assert_growth(small: Duration, large: Duration, factor: f64) {
    let ratio = large.as_secs_f64() / small.as_secs_f64().max(1e-9);
    println!("  grew {ratio:.2} times, at most {factor} times is allowed");
    assert!(ratio <= factor, "from {small:?} to {large:?}: {ratio:.2} times");
}

/// Prints how much memory something uses when it is full and when it is empty again, and fails the
/// row if much is kept.
///
/// # Panics
/// If it keeps a tenth or more.
pub(crate) fn assert_given_back(size: usize, what: &str, full: usize, empty: usize) {
    println!("  {size:>9}  {what}: {full} bytes, emptied {empty}");
    assert!(empty * 10 < full, "{what} keeps {empty} of {full} bytes");
}
