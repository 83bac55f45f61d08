//! The promises of the seam, as programs that every runtime must pass.
//!
//! A [`Promise`] is a small program over [`Runtime`]. It panics if the promise is broken, hangs if a
//! wake-up is lost, and returns which of its possible courses it took. A [`Ground`] runs it on one
//! runtime: a few times on real threads, under every schedule under a checker, which must also
//! meet every course.
//!
//! | promise | of |
//! |---|---|
//! | exclusion, a panic unlocks | locks |
//! | readers meet, a writer is alone, a panic unlocks | read-write locks |
//! | one access is one step, release and acquire, a spin ends | atomic numbers |
//! | no lost wake-up, one and all are woken, a notified wait does not time out | condition variables |
//! | deadlines end waits and sleeps, never early, in order, also while a lock is held | time |
//! | timers wake at their time, and not after they are dropped | timers |
//! | values and panics come back | threads |
//! | the newest value, whole, never an older one again | published values |
//! | every answer is visited | choices |
//! | cancellation and deadlines reach every waiter of a token | `seatrial_core::cancel` |
//!
//! For a runtime of your own, write a `Ground` and call [`check_all`]. The tests in this folder run
//! it on every runtime of this crate, and on runtimes that break one promise each.

mod grounds;
mod promises;

#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
mod faulty;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use seatrial_core::runtime::Runtime;

#[cfg(feature = "loom")]
pub use grounds::LoomGround;
pub use grounds::{ManualGround, SystemGround};
#[cfg(feature = "shuttle")]
pub use grounds::{ShuttleGround, TraceGround};
pub use promises::*;

/// The facts about a ground that a promise may rely on.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether time stands still while a thread can move, so that sleepers wake in order.
    pub exact_time: bool,
    /// Whether the ground runs enough executions that every course of a program must be met.
    pub meets_every_course: bool,
}

/// A program that shows whether a runtime keeps one promise.
pub trait Promise: 'static {
    /// Its name.
    const NAME: &'static str;
    /// The courses that it can take.
    const COURSES: &'static [u32] = &[0];

    /// Runs once and returns the course that it took.
    ///
    /// # Panics
    /// If the promise is broken.
    fn check<R: Runtime>(runtime: &R, facts: Facts) -> u32;
}

/// A program for a ground to run.
pub type Program<R> = Arc<dyn Fn(&R) + Send + Sync>;

/// A place to run programs over one runtime.
pub trait Ground {
    /// The runtime.
    type Runtime: Runtime;

    /// Returns what programs may assume.
    fn facts(&self) -> Facts;

    /// Runs a program as often as the ground sees fit.
    ///
    /// # Errors
    /// Some execution did not run to its end: how it ended instead.
    fn run(&self, program: Program<Self::Runtime>) -> Result<(), String>;
}

/// Runs one promise on a ground.
///
/// # Errors
/// The promise is broken, or a course was not met that should have been.
pub fn check<P: Promise, G: Ground>(ground: &G) -> Result<(), String> {
    check_through::<P, G, G::Runtime>(ground, G::Runtime::clone)
}

/// Runs every promise on a ground and returns each name with its result.
pub fn check_all<G: Ground>(ground: &G) -> Vec<(&'static str, Result<(), String>)> {
    let mut found = Vec::new();
    macro_rules! each {
        ([] $($test:ident: $promise:ident),*) => {
            $(found.push(($promise::NAME, check::<$promise, G>(ground)));)*
        };
    }
    promises::for_each_promise!(each);
    found
}

/// Runs one promise on a ground, over a runtime made from the ground's.
fn check_through<P: Promise, G: Ground, R: Runtime>(
    ground: &G,
    wrap: impl Fn(&G::Runtime) -> R + Send + Sync + 'static,
) -> Result<(), String> {
    let facts = ground.facts();
    let met = Arc::new(Mutex::new(BTreeSet::new()));
    let courses = Arc::clone(&met);
    ground.run(Arc::new(move |runtime| {
        let course = P::check(&wrap(runtime), facts);
        assert!(P::COURSES.contains(&course), "an unknown course: {course}");
        courses.lock().unwrap_or_else(PoisonError::into_inner).insert(course);
    }))?;
    let met = met.lock().unwrap_or_else(PoisonError::into_inner);
    let missed: Vec<_> = P::COURSES.iter().filter(|course| !met.contains(course)).collect();
    if met.is_empty() || (facts.meets_every_course && !missed.is_empty()) {
        return Err(format!("courses {missed:?} were not met, {met:?} were"));
    }
    Ok(())
}
