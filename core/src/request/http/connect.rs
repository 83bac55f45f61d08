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
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use tower_service::Service;

use super::proxy::Proxy;

type Inner = HttpsConnector<Reach>;

type Tcp = <HttpConnector as Service<Uri>>::Response;

/// Why there is no connection.
type Failed = Box<dyn Error + Send + Sync>;

/// Reaches a server, directly or through a proxy's tunnel.
#[derive(Clone)]
pub(super) enum Reach {
    Direct(HttpConnector),
    Through(Tunnel<HttpConnector>),
    Socks(SocksV5<HttpConnector>),
}

impl Reach {
    pub(super) fn new(connector: HttpConnector, proxy: Option<&Proxy>) -> Self {
        let Some(proxy) = proxy else { return Self::Direct(connector) };
        let address = proxy.0.uri().clone();
        if proxy.is_socks() {
            let socks = SocksV5::new(address, connector);
            return Self::Socks(match proxy.0.raw_auth() {
                None => socks,
                Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
            });
        }
        let tunnel = Tunnel::new(address, connector);
        Self::Through(match proxy.0.basic_auth() {
            None => tunnel,
            Some(value) => tunnel.with_auth(value.clone()),
        })
    }
}

impl Service<Uri> for Reach {
    type Response = Tcp;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Tcp, Failed>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        match self {
            Self::Direct(it) => it.poll_ready(context).map_err(Into::into),
            Self::Through(it) => it.poll_ready(context).map_err(Into::into),
            Self::Socks(it) => it.poll_ready(context).map_err(Into::into),
        }
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        match self {
            Self::Direct(it) => {
                let connecting = it.call(uri);
                Box::pin(async { Ok(connecting.await?) })
            }
            Self::Through(it) => {
                let connecting = it.call(with_port(uri));
                Box::pin(async { Ok(connecting.await?) })
            }
            Self::Socks(it) => {
                let connecting = it.call(with_port(uri));
                Box::pin(async { Ok(connecting.await?) })
            }
        }
    }
}

/// The bytes of a connection.
pub(super) type Stream = <Inner as Service<Uri>>::Response;

/// Adds the usual port of a server without TLS: a tunnel leads to that of TLS otherwise.
fn with_port(uri: Uri) -> Uri {
    let is_open = uri.scheme_str() == Some("http") && uri.port().is_none();
    let host = uri.host().filter(|_| is_open);
    host.and_then(|host| format!("http://{host}:80/").parse().ok()).unwrap_or(uri)
}

/// Connects within a time limit. The inner connector has a limit too, but it stops counting once
/// the server accepts, even if the server then says nothing.
#[derive(Clone)]
pub(super) struct Within {
    pub(super) inner: Inner,
    pub(super) limit: Duration,
}

impl Service<Uri> for Within {
    type Response = Stream;
    type Error = Failed;
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
