//! Mutual exclusion.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use crate::seam::{Facts, Promise};

/// At most one guard of a mutex is alive: no increment of a counter is lost, although other threads
/// run between its two halves. The course is how far the other thread was when main began.
#[derive(Clone, Copy, Debug)]
pub struct Exclusion;

impl Promise for Exclusion {
    const NAME: &'static str = "exclusion";
    const COURSES: &'static [u32] = &[0, 1, 2];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let counter = Arc::new((runtime.mutex(0_u64), runtime.mutex(())));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&counter));
        let other = runtime.spawn("other", move || {
            increment(&inner, &theirs);
            increment(&inner, &theirs);
        });
        let before = increment(runtime, &counter);
        runtime.join(other).expect("increments do not panic");
        assert_eq!(*runtime.lock(&counter.0), 3, "an increment was lost");
        before as u32
    }
}

/// Adds one and returns the value before it. Other threads may run in between.
fn increment<R: Runtime>(runtime: &R, counter: &(R::Mutex<u64>, R::Mutex<()>)) -> u64 {
    let mut guard = runtime.lock(&counter.0);
    let before = *guard;
    drop(runtime.lock(&counter.1));
    *guard = before + 1;
    before
}

/// A guard that a panic drops unlocks, and its value can be used (`workqueue:LIV-13`). The course
/// is whether main came after the panic.
#[derive(Clone, Copy, Debug)]
pub struct PanicUnlocks;

impl Promise for PanicUnlocks {
    const NAME: &'static str = "panic_unlocks";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let value = Arc::new(runtime.mutex(0_u32));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&value));
        let other = runtime.spawn("panics", move || {
            let mut guard = inner.lock(&theirs);
            *guard += 1;
            panic!("while the lock is held");
        });
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _guard = runtime.lock(&value);
            panic!("while the lock is held");
        }));
        assert!(caught.is_err());
        let seen = *runtime.lock(&value);
        assert!(runtime.join(other).is_err());
        assert_eq!(*runtime.lock(&value), 1);
        seen
    }
}
