//! The end of the protected work, which ends its term.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::monitor::Monitor;
use crate::runtime::{Panic, Runtime};

use super::operations::WorkEnded;
use super::state::Election;

/// Reports the end of the work when it drops.
pub(super) struct EndOfWork<R: Runtime> {
    pub(super) monitor: Arc<Monitor<Election, R>>,
    pub(super) term: u64,
    /// The token of the run. It ends with the work, so that no call on the lock delays the run.
    pub(super) run: CancelToken<R>,
    pub(super) panicked: bool,
}

impl<R: Runtime> Drop for EndOfWork<R> {
    fn drop(&mut self) {
        let ends_the_run =
            self.monitor.call(WorkEnded { term: self.term, panicked: self.panicked });
        if ends_the_run {
            self.run.cancel();
        }
    }
}

impl<R: Runtime> fmt::Debug for EndOfWork<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndOfWork").field("term", &self.term).finish_non_exhaustive()
    }
}

/// Passes a panic of the work to the thread that runs the elector.
pub(super) struct Passed<R: Runtime> {
    runtime: R,
    slot: R::Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    panic: Option<Panic>,
    /// The run is over, and nobody takes a panic any more.
    is_closed: bool,
}

impl<R: Runtime> Passed<R> {
    pub(super) fn new(runtime: &R) -> Self {
        Self { runtime: runtime.clone(), slot: runtime.mutex(Slot::default()) }
    }

    /// Passes a panic on. If the run is already over, the panic continues on this thread.
    pub(super) fn pass(&self, panic: Panic) {
        let mut slot = self.runtime.lock(&self.slot);
        if slot.is_closed {
            drop(slot);
            resume_unwind(panic);
        }
        slot.panic = Some(panic);
    }

    /// Takes the panic, if any. Later panics are not taken.
    pub(super) fn close(&self) -> Option<Panic> {
        let mut slot = self.runtime.lock(&self.slot);
        slot.is_closed = true;
        slot.panic.take()
    }
}

impl<R: Runtime> fmt::Debug for Passed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passed")
    }
}
