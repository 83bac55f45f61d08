//! The right to act as leader, as long as it lasts.

use std::fmt;
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::machine::Host;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

use super::fence::Fence;
use super::operations::{Holds, Watch, WorkEnded};
use super::state::Election;

/// One term of leadership: revoked before another participant can lead, within the bounds of the
/// strict profile.
///
/// Whoever asks or waits is the watchdog: the end of the term is found by the clock of the asker,
/// so that no stuck thread can hide it (`election:SF-11`).
pub struct Leadership<R: Runtime = System, H: Host<Election> = Election> {
    monitor: Arc<Monitor<Election, R, H>>,
    term: u64,
    fence: Fence,
    run: CancelToken<R>,
}

impl<R: Runtime, H: Host<Election>> Leadership<R, H> {
    pub(super) fn new(
        monitor: &Arc<Monitor<Election, R, H>>,
        term: u64,
        fence: Fence,
        run: &CancelToken<R>,
    ) -> Self {
        Self { monitor: Arc::clone(monitor), term, fence, run: run.clone() }
    }

    /// Returns the token to send with every effect on a protected resource (`election:SF-15`).
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Tells whether this term lasts at this moment. Ask immediately before acting.
    pub fn is_valid(&self) -> bool {
        self.monitor.call(Holds { term: self.term })
    }

    /// Sleeps until this term is over.
    pub fn wait(&self) {
        self.monitor.call(Watch { term: self.term });
    }

    /// Waits without a thread until this term is over.
    pub fn lost(&self) -> impl Future<Output = ()> + Send {
        self.monitor.call_async(Watch { term: self.term })
    }

    /// Returns a token that is cancelled when this term is over: the leading token of
    /// `election:LE-46`, for parts that take one. A thread of its own, the watchdog, cancels it.
    #[must_use]
    pub fn token(&self) -> CancelToken<R> {
        let leading = self.run.child();
        let (term, cancelled) = (self.clone(), leading.clone());
        let watchdog = self.monitor.runtime().spawn("watchdog", move || {
            term.wait();
            cancelled.cancel();
        });
        drop(watchdog); // detached: it ends with the term
        leading
    }

    /// Returns a value that reports the end of the work when it drops, also by a panic.
    pub(super) fn work_ended_on_drop(&self) -> WorkEndedOnDrop<R, H> {
        WorkEndedOnDrop { monitor: Arc::clone(&self.monitor), term: self.term }
    }
}

pub(super) struct WorkEndedOnDrop<R: Runtime, H: Host<Election>> {
    monitor: Arc<Monitor<Election, R, H>>,
    term: u64,
}

impl<R: Runtime, H: Host<Election>> Drop for WorkEndedOnDrop<R, H> {
    fn drop(&mut self) {
        self.monitor.call(WorkEnded { term: self.term });
    }
}

impl<R: Runtime, H: Host<Election>> Clone for Leadership<R, H> {
    fn clone(&self) -> Self {
        Self {
            monitor: Arc::clone(&self.monitor),
            term: self.term,
            fence: self.fence.clone(),
            run: self.run.clone(),
        }
    }
}

impl<R: Runtime, H: Host<Election>> fmt::Debug for Leadership<R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership")
            .field("term", &self.term)
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}
