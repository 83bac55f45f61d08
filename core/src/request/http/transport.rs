//! The transport on hyper.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Full};
use hyper::Uri;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue, USER_AGENT};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::runtime::Handle;

use crate::request::{
    Answer, Attempt, Awaited, Base, BuildError, Headers, Transport, TransportError, TransportKind,
    Veil,
};

use super::config::HttpConfig;
use super::connect::Within;
use super::error::{ConfigError, failure};
use super::pool::{Body, Pool};
use super::tls::client_config;
use super::token::Token;

/// Sends requests over HTTP, to one server.
///
/// It belongs to the tokio runtime in which it is made, and its connections live there. Calls may
/// be awaited anywhere, even by a thread that blocks. If it is made outside tokio, it must be used
/// inside.
///
/// Over HTTP/2 it opens another connection when the server allows no more streams on the others,
/// and a stream that nobody reads holds up no other.
pub struct HttpTransport {
    base: Base,
    token: Option<Token>,
    agent: HeaderValue,
    home: Option<Handle>,
    pool: Arc<Pool>,
}

impl HttpTransport {
    /// Makes a transport without connections; the first request opens one.
    ///
    /// # Errors
    /// A certificate cannot be used, or a secret would be sent unencrypted.
    pub fn new(config: &HttpConfig) -> Result<Self, ConfigError> {
        let encrypted = config.base.is_encrypted();
        if !encrypted && (config.token.is_some() || config.identity.is_some()) {
            return Err(ConfigError::Plain);
        }
        let dead_after = config.dead_after;
        let ping = dead_after / 3;
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(config.connect));
        connector.set_nodelay(true);
        let least = Duration::from_secs(1); // TCP counts in seconds, and refuses zero
        connector.set_keepalive(Some(ping.max(least)));
        connector.set_keepalive_interval(Some((ping / 2).max(least)));
        connector.set_keepalive_retries(Some(2));
        // Also give up data that is never acknowledged, where the system supports that.
        #[cfg(target_os = "linux")]
        connector.set_tcp_user_timeout(Some(dead_after));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(client_config(config)?)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(connector);
        let connector = Within { inner: connector, limit: config.connect };
        let bad = |_| BuildError::Base(config.base.to_string(), "it is no URI");
        let origin: Uri =
            config.base.origin().parse().map_err(bad).map_err(ConfigError::Address)?;
        let agent = HeaderValue::from_str(&config.agent)
            .unwrap_or_else(|_| HeaderValue::from_static("seatrial"));
        let (base, token) = (config.base.clone(), config.token.clone());
        let (home, pool) = (Handle::try_current().ok(), Pool::new(connector, origin, ping));
        Ok(Self { base, token, agent, home, pool })
    }

    async fn answer(&self, attempt: Attempt<'_>) -> Result<Answer, TransportError> {
        let request = self.request(&attempt)?;
        let (head, body) = self.pool.send(request).await?;
        if head.status == hyper::StatusCode::UNAUTHORIZED
            && let Some(token) = &self.token
        {
            token.doubt();
        }
        let mut headers = Headers::new();
        for (name, value) in &head.headers {
            headers.add(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
        }
        Ok(Answer { status: head.status.as_u16(), headers, body: Box::new(body) })
    }

    fn request(&self, attempt: &Attempt<'_>) -> Result<hyper::Request<Body>, TransportError> {
        let bad = |why: String| TransportError::new(TransportKind::Other, why);
        if self.base.begins(&attempt.url.0) {
            let method = hyper::Method::from_bytes(attempt.verb.as_str().as_bytes())
                .map_err(|_| bad(format!("{:?} is no verb", attempt.verb)))?;
            let body = match &attempt.body {
                Some(bytes) => Full::new(Bytes::copy_from_slice(bytes)).boxed(),
                None => Empty::new().boxed(),
            };
            let uri = format!("{}{}", self.base.origin(), attempt.target);
            let mut request = hyper::Request::builder().method(method).uri(uri).body(body);
            if let Ok(request) = &mut request {
                self.put_headers(attempt.headers, request.headers_mut())?;
            }
            return request.map_err(|why| bad(why.to_string()));
        }
        Err(bad(format!("this transport speaks to {} alone", self.base)))
    }

    pub(super) fn put_headers(
        &self,
        headers: &Headers,
        out: &mut hyper::HeaderMap,
    ) -> Result<(), TransportError> {
        if headers.get("User-Agent").is_none() {
            out.insert(USER_AGENT, self.agent.clone());
        }
        for (name, value) in headers.iter() {
            let bad = || {
                TransportError::new(TransportKind::Other, format!("header {name:?} is malformed"))
            };
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            out.append(key, HeaderValue::from_str(value).map_err(|_| bad())?);
        }
        if let Some(token) = &self.token {
            let token = token.now().map_err(|why| failure(Box::new(why)))?;
            let text = zeroize::Zeroizing::new(format!("Bearer {}", token.as_str()));
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                TransportError::new(
                    TransportKind::Other,
                    "the token has letters that no header takes",
                )
            })?;
            value.set_sensitive(true);
            out.insert(AUTHORIZATION, value);
        }
        Ok(())
    }
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> Awaited<'a, Result<Answer, TransportError>> {
        Box::pin(async move {
            let mut answer = pin!(self.answer(attempt));
            std::future::poll_fn(|context| {
                let _inside = self.home.as_ref().map(Handle::enter);
                answer.as_mut().poll(context)
            })
            .await
        })
    }

    fn lives(&self) -> Option<Awaited<'static, ()>> {
        let home = self.home.clone().or_else(|| Handle::try_current().ok())?;
        let task = home.spawn(std::future::ready(()));
        Some(Box::pin(async { drop(task.await) }))
    }

    fn veil(&self) -> Veil {
        let Some(token) = self.token.clone() else { return Veil::default() };
        Veil::new(move |tell| token.known(tell))
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").field("base", &self.base).finish_non_exhaustive()
    }
}
