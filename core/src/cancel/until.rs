//! Work that ends with a token.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use crate::runtime::Runtime;

use super::{CancelToken, Reason};

/// Awaits `work` until the token ends; then drops `work` unfinished. Work that is ready is returned
/// even if the token has ended.
///
/// # Errors
/// The token ended first, for this reason.
pub(crate) async fn unless_ended<R: Runtime, V>(
    token: &CancelToken<R>,
    work: impl Future<Output = V>,
) -> Result<V, Reason> {
    let (mut work, mut end) = (pin!(work), pin!(token.wait_async()));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending => end.as_mut().poll(context).map(Err),
    })
    .await
}
