//! The right to act as leader, as long as it lasts.

use std::fmt;
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::monitor::Monitor;
use crate::runtime::{Runtime, System};

use super::fence::Fence;
use super::operations::{Holds, Watch};
use super::state::Election;
use super::watchdog::Watchdog;
use super::work::EndOfWork;

/// One term of leadership. Within the [bounds](super::Bounds) it is revoked before another
/// participant can lead.
///
/// Asking and waiting also act as the watchdog: both compare the end of the term with the clock, so
/// a stuck thread cannot hide it (`election:SF-11`).
pub struct Leadership<R: Runtime = System> {
    monitor: Arc<Monitor<Election, R>>,
    term: u64,
    fence: Fence,
    run: CancelToken<R>,
    /// The leading token, made when it is first asked for. All copies share it.
    leading: Arc<R::Mutex<Option<CancelToken<R>>>>,
}

impl<R: Runtime> Leadership<R> {
    pub(super) fn new(
        monitor: &Arc<Monitor<Election, R>>,
        term: u64,
        fence: Fence,
        run: &CancelToken<R>,
    ) -> Self {
        let leading = Arc::new(monitor.runtime().mutex(None));
        Self { monitor: Arc::clone(monitor), term, fence, run: run.clone(), leading }
    }

    /// Returns the token to send with every effect on a protected resource (`election:SF-15`).
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Tells whether this term is valid at this moment. Ask immediately before acting.
    pub fn is_valid(&self) -> bool {
        self.monitor.call(Holds { term: self.term })
    }

    /// Sleeps until this term is over.
    pub fn wait(&self) {
        self.monitor.call(Watch { term: self.term });
    }

    /// Waits until this term is over, without a thread.
    pub fn lost(&self) -> impl Future<Output = ()> + Send {
        self.monitor.call_async(Watch { term: self.term })
    }

    /// Returns a token that is cancelled when this term is over: the leading token of
    /// `election:LE-46`, for code that takes a token. Cancelling it has no other effect.
    #[must_use]
    pub fn token(&self) -> CancelToken<R> {
        let runtime = self.monitor.runtime();
        let mut leading = runtime.lock(&self.leading);
        if leading.is_none() {
            let token = self.run.child();
            *leading = Some(token.clone());
            let (monitor, term) = (Arc::clone(&self.monitor), self.term);
            let over = async move { monitor.call_async(Watch { term }).await };
            Watchdog::set(runtime, token, over);
        }
        leading.as_ref().expect("it was set").child()
    }

    /// Returns a value that reports the end of the work when it drops.
    pub(super) fn end_of_work(&self) -> EndOfWork<R> {
        EndOfWork {
            monitor: Arc::clone(&self.monitor),
            term: self.term,
            run: self.run.clone(),
            panicked: false,
        }
    }
}

impl<R: Runtime> Clone for Leadership<R> {
    fn clone(&self) -> Self {
        Self {
            monitor: Arc::clone(&self.monitor),
            term: self.term,
            fence: self.fence.clone(),
            run: self.run.clone(),
            leading: Arc::clone(&self.leading),
        }
    }
}

impl<R: Runtime> fmt::Debug for Leadership<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership")
            .field("term", &self.term)
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}
