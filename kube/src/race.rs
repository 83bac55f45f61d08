//! Two futures, one of which ends the other.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Awaits a value until another future has ended; then gives up the value. If both are ready, the
/// value wins.
pub(crate) async fn first<T>(
    value: impl Future<Output = T>,
    end: impl Future<Output = ()>,
) -> Option<T> {
    let (mut value, mut end) = (pin!(value), pin!(end));
    poll_fn(|context| match value.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => end.as_mut().poll(context).map(|()| None),
    })
    .await
}
