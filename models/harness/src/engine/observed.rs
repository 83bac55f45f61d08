//! A runtime that tells its threads apart.

use seatrial_core::runtime::Runtime;

/// A runtime under which the harness can tell the threads apart.
pub trait Observed: Runtime {
    /// Whether its clock moves by itself once nobody can move: then the end of a long sleep proves
    /// that everybody else is stuck.
    const JUMPS_WHEN_QUIET: bool;

    /// Returns the number of the running thread; 0 is the main thread. The number depends on who
    /// started the thread and not on the schedule.
    fn thread(&self) -> u8;

    /// Returns the name that a thread was started with.
    fn thread_name(&self, thread: u8) -> String;
}
