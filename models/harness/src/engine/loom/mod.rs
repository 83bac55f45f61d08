//! The engine over [loom](https://docs.rs/loom): every schedule of a few threads within a bound of
//! preemptions, by partial-order reduction.
//!
//! loom brings the search and the threads; time, deadlines, deadlocks, panics, choices of data and
//! the way back to an execution are ours:
//!
//! * Time stands still while a thread can move. When the last one blocks it jumps to the earliest
//!   deadline. A deadline never fires in the middle of other work.
//! * A notification reaches the longest sleeper.
//! * An atomic number is loom's, with its orderings; locks of all kinds are ours.
//! * A deadlock and an execution without end are noticed here, and the execution is brought down in
//!   an orderly way, so loom goes on with the next one.
//! * An execution is known by its [`Schedule`](super::Schedule), which [`replay`] follows without
//!   any search.
//!
//! At most five threads, main included.

mod answers;
mod atomic;
mod books;
mod explore;
mod numbers;
mod record;
mod runtime;
mod rw_lock;
mod session;

#[cfg(test)]
mod tests;

pub use atomic::LoomAtomic;
pub use explore::{Body, Config, explore, replay};
pub use numbers::MAX_LOOM_THREADS;
pub use runtime::{LoomCondvar, LoomGuard, LoomJoin, LoomMutex, LoomRuntime, LoomTimer};
pub use rw_lock::{LoomReadGuard, LoomRwLock, LoomWriteGuard};
pub(super) use session::Down;
