//! What rows measure with.

use std::alloc::System as Allocator;
use std::time::Duration;

use cap::Cap;
use seatrial_core::runtime::{Ambient, System};

#[global_allocator]
static ALLOCATOR: Cap<Allocator> = Cap::new(Allocator, usize::MAX);

/// Returns how many bytes are allocated.
pub(crate) fn allocated() -> usize {
    ALLOCATOR.allocated()
}

/// Returns how many bytes were allocated at most.
pub(crate) fn most_allocated() -> usize {
    ALLOCATOR.max_allocated()
}

/// Rounds of a measurement; the shortest counts, since other programs only make it longer.
const ROUNDS: usize = 5;

/// Returns how long `run` takes.
pub(crate) fn timed(run: impl FnOnce()) -> Duration {
    let system = System::new();
    let began = system.now();
    run();
    system.now().since(began)
}

/// Returns the shortest of several measurements.
pub(crate) fn shortest(mut measure: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| measure()).min().expect("there is a round")
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
