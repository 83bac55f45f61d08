//! Bugs that a trial can be given, to see that the promises of this crate notice them.

use std::cell::Cell;

/// A bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A wait on a condition variable unlocks before it is in the line.
    WaitsInTwoSteps,
    /// A future of a semaphore that is dropped keeps the permits that it was given.
    KeepsPermits,
    /// A barrier opens for the last but one.
    OpensEarly,
    /// A try to lock what is locked waits.
    TriesWait,
    /// A thread that was unparked before it parks sleeps.
    ForgetsUnpark,
}

thread_local! {
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Runs something with a bug, on this thread.
pub fn with<T>(fault: Fault, run: impl FnOnce() -> T) -> T {
    struct Mended;
    impl Drop for Mended {
        fn drop(&mut self) {
            FAULT.set(None);
        }
    }
    FAULT.set(Some(fault));
    let _mended = Mended;
    run()
}

pub(crate) fn has(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}
