//! The names, for the build of a test.

mod atomic;
mod channel;
mod clock;
mod condvar;
#[cfg(feature = "crossbeam-channel")]
mod crossbeam;
#[doc(hidden)]
pub mod fault;
mod lock;
mod moment;
mod mpsc;
mod mutex;
mod once;
#[cfg(feature = "parking_lot")]
mod parking;
mod rw_lock;
mod threads;
#[cfg(feature = "tokio")]
pub mod tokio;

/// `std::sync`.
pub mod sync {
    pub use super::condvar::{Condvar, WaitTimeoutResult};
    pub use super::mutex::{Mutex, MutexGuard};
    pub use super::once::{Barrier, BarrierWaitResult, LazyLock, Once, OnceLock, OnceState};
    pub use super::rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
    pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

    /// `std::sync::atomic`.
    pub mod atomic {
        pub use super::super::atomic::*;
    }

    /// `std::sync::mpsc`.
    pub mod mpsc {
        pub use super::super::mpsc::*;
    }
}

/// `std::thread`.
pub mod thread {
    pub use super::threads::*;
}

/// `std::time`.
pub mod time {
    pub use super::clock::*;
}

/// `std::hint`.
pub mod hint {
    pub use std::hint::black_box;

    /// [`std::hint::spin_loop`]: in a run, gives way until no other thread can move.
    pub fn spin_loop() {
        if seatrial::program::Seam::current().is_some() {
            super::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// `parking_lot`.
#[cfg(feature = "parking_lot")]
pub mod parking_lot {
    pub use super::parking::*;
}

/// `crossbeam_channel`.
#[cfg(feature = "crossbeam-channel")]
pub mod crossbeam_channel {
    pub use super::crossbeam::*;
}
