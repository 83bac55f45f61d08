//! Connections that must be established, including TLS, within a time limit.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use tower_service::Service;

type Inner = HttpsConnector<HttpConnector>;

/// The bytes of a connection.
pub(super) type Stream = <Inner as Service<Uri>>::Response;

/// Connects within a time limit. The inner connector has a limit too, but it stops counting once
/// the server accepts, even if the server then says nothing.
#[derive(Clone)]
pub(super) struct Within {
    pub(super) inner: Inner,
    pub(super) limit: Duration,
}

impl Service<Uri> for Within {
    type Response = Stream;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, limit) = (self.inner.call(uri), self.limit);
        Box::pin(async move {
            let late = |_| {
                let why = format!("the server is not ready to talk within {limit:?}");
                io::Error::new(io::ErrorKind::TimedOut, why)
            };
            tokio::time::timeout(limit, connecting).await.map_err(late)?
        })
    }
}

/// Awaits `work`, unless `other` ends first.
pub(super) async fn first<V>(
    other: impl Future<Output = ()>,
    work: impl Future<Output = V>,
) -> Option<V> {
    let (mut other, mut work) = (pin!(other), pin!(work));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => other.as_mut().poll(context).map(|()| None),
    })
    .await
}
