//! Wakers for tests: one that counts and one that panics, and a way to poll a future with the
//! first.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Counts how often it is woken.
#[derive(Default)]
pub(crate) struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Bell {
    pub(crate) fn rings(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Panics with a text when it is woken.
pub(crate) struct Breaks(&'static str);

impl Wake for Breaks {
    fn wake(self: Arc<Self>) {
        std::panic::panic_any(self.0);
    }
}

impl Breaks {
    pub(crate) fn waker(with: &'static str) -> Waker {
        Arc::new(Self(with)).into()
    }
}

/// Polls a future with this bell as its waker.
pub(crate) fn poll<F: Future>(future: Pin<&mut F>, bell: &Arc<Bell>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(bell))))
}
