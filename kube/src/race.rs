//! Two futures, of which one ends the other.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Awaits a value until something else has ended; then the value is given up. Both ready, the value
/// counts.
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
