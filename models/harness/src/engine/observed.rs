//! A runtime that tells its threads apart.

use std::sync::atomic::Ordering;

use seatrial_core::runtime::Runtime;

/// A runtime under which the harness can tell the threads apart.
pub trait Observed: Runtime {
    /// Whether its clock moves by itself once no thread can move. Then the end of a long sleep
    /// proves that all other threads are stuck.
    fn jumps_when_quiet(&self) -> bool;

    /// Returns the number of the running thread; 0 is the main thread. The number depends on the
    /// thread that started it and not on the schedule.
    fn thread(&self) -> u8;

    /// Returns the name that a thread was started with.
    fn thread_name(&self, thread: u8) -> String;

    /// Tells whether the execution is given up: its threads only unwind.
    fn is_given_up(&self) -> bool {
        false
    }

    /// A fence of atomic numbers. Nothing where every access is sequentially consistent.
    fn fence(&self, _order: Ordering) {}
}
