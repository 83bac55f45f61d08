//! Locks, channels, threads and time by the names that code already uses, so that one `use` line makes it
//! checkable.
//!
//! | instead of | write |
//! |---|---|
//! | `std::sync`, `std::thread`, `std::time`, `std::hint` | `seatrial_sync::sync`, ... |
//! | `parking_lot` | `seatrial_sync::parking_lot` (feature `parking_lot`) |
//! | `crossbeam_channel` | `seatrial_sync::crossbeam_channel` (feature `crossbeam-channel`) |
//! | `tokio::sync`, `tokio::time`, `tokio::task` | `seatrial_sync::tokio::sync`, ... (feature `tokio`) |
//!
//! Without the feature `trial` these are the real types and functions themselves, so they cost nothing. With it,
//! which only the build of a test switches on, the same names are types that ask the engine inside of a
//! `#[seatrial::test]`, and stand on real locks, threads and clocks elsewhere: tests that are no trials pass as
//! before, unless they pause tokio's time.
//!
//! ```
//! use seatrial_sync::sync::{Arc, Mutex};
//! use seatrial_sync::thread;
//!
//! let counter = Arc::new(Mutex::new(0));
//! let theirs = Arc::clone(&counter);
//! let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
//! *counter.lock().unwrap() += 1;
//! other.join().unwrap();
//! assert_eq!(*counter.lock().unwrap(), 2);
//! ```
//!
//! # What is not there in a trial
//!
//! What is missing does not compile with the feature `trial`, rather than to run past the engine:
//!
//! * `new` is no `const fn`. The value of a static would live on from run to run, and no run could be replayed.
//! * `thread::scope` and `thread_local!`: engines run threads as coroutines, and this crate has no unsafe code.
//! * `AtomicPtr`, `get_mut` and `into_inner` of atomics, `SystemTime`, tokio's `select!` (it draws a number; with
//!   `biased;` the real one may be used), and values of tokio's `broadcast` that are not `Sync`.
//!
//! # What an engine takes for what
//!
//! * loom explores what the orderings of accesses to atomics, and of fences, allow; the other engines take every
//!   ordering for `SeqCst`.
//! * A `yield_now` or `spin_loop` gives way until no other thread can move, so that loops that spin come to an
//!   end.
//! * A read-write lock prefers neither readers nor writers: a thread that reads twice while a writer waits is
//!   not convicted.
//! * A thread or task that nobody joins is part of the run, which ends with it. tokio's runtime would give such a
//!   task up at its end: one that never ends must be aborted.
//! * What was made outside of a run works in it as long as nobody has to wait for it; then the run fails and says
//!   so.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "crossbeam-channel", feature = "parking_lot")),
    allow(
        dead_code,
        reason = "without one of these features a part of what they share has no user"
    )
)]

#[doc(hidden)]
pub mod real;
#[cfg(feature = "trial")]
mod trial;

#[cfg(not(feature = "trial"))]
pub use real::*;
#[cfg(feature = "trial")]
pub use trial::*;
