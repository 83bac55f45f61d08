//! tokio's names.

mod broadcast;
mod exclusive;
mod notify;
mod once_cell;
mod oneshot;
mod queue;
mod semaphore;
mod shared;
pub mod task;
pub mod time;
mod value;

pub use task::spawn;

use seatrial::program::Seam;
use seatrial_core::runtime::{Runtime as _, System};

/// `tokio::sync`.
pub mod sync {
    pub use super::exclusive::{Mutex, MutexGuard, OwnedMutexGuard, TryLockError};
    pub use super::notify::{Notified, Notify};
    pub use super::once_cell::{Barrier, BarrierWaitResult, OnceCell};
    pub use super::semaphore::{
        AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
    };
    pub use super::shared::{
        OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };

    /// `tokio::sync::broadcast`.
    pub mod broadcast {
        pub use super::super::broadcast::*;
    }

    /// `tokio::sync::mpsc`.
    pub mod mpsc {
        pub use super::super::queue::*;
    }

    /// `tokio::sync::oneshot`.
    pub mod oneshot {
        pub use super::super::oneshot::*;
    }

    /// `tokio::sync::watch`.
    pub mod watch {
        pub use super::super::value::*;
    }
}

/// Runs a future on this thread, to its end.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    match Seam::current() {
        Some(seam) => seam.block_on(future),
        None => System::new().block_on(future),
    }
}
