//! Calls that may sleep, made by a caller that is alone and must not.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Returns what a call says at once; `None` if it sleeps, and then it is given up.
pub(crate) fn at_once<T>(call: impl Future<Output = T>) -> Option<T> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(says) => Some(says),
        Poll::Pending => None,
    }
}

/// Returns what a wait for the first list says at once: that it is processed (`cache:QU-18`), or,
/// where nothing is left of a closed queue, that it never will be, or nothing yet.
pub(crate) fn wait_says(has_synced: bool, is_drained: bool) -> Option<bool> {
    (has_synced || is_drained).then_some(has_synced)
}
