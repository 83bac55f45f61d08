//! Ends the leading token with its term, without a thread.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use crate::cancel::CancelToken;
use crate::runtime::Runtime;

type Waits = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A wait that is polled by the code that wakes it: the code that ends the term, or an alarm. When
/// the wait is over, it cancels a token.
pub(super) struct Watchdog<R: Runtime> {
    runtime: R,
    waits: R::Mutex<State>,
    token: CancelToken<R>,
}

struct State {
    /// `None` while it is being polled, and once it is over.
    wait: Option<Waits>,
    /// It was woken while it was being polled.
    woken: bool,
}

impl<R: Runtime> Watchdog<R> {
    /// Cancels `token` when `wait` is over, which may be immediately.
    pub(super) fn set(
        runtime: &R,
        token: CancelToken<R>,
        wait: impl Future<Output = ()> + Send + 'static,
    ) {
        let state = State { wait: Some(Box::pin(wait)), woken: false };
        let waits = runtime.mutex(state);
        Arc::new(Self { runtime: runtime.clone(), waits, token }).wake();
    }
}

impl<R: Runtime> Wake for Watchdog<R> {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        loop {
            let mut state = self.runtime.lock(&self.waits);
            let Some(mut wait) = state.wait.take() else {
                state.woken = true; // the call that is polling now polls again
                return;
            };
            state.woken = false;
            drop(state);
            if wait.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                return self.token.cancel();
            }
            let mut state = self.runtime.lock(&self.waits);
            state.wait = Some(wait);
            if !state.woken {
                return;
            }
        }
    }
}

impl<R: Runtime> fmt::Debug for Watchdog<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watchdog")
    }
}
