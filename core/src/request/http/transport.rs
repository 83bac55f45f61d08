//! The transport on hyper.

use std::fmt;
use std::pin::pin;

use http_body_util::{BodyExt as _, Empty, Full};
use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, HeaderName, HeaderValue,
    USER_AGENT,
};
use tokio::runtime::Handle;
use tokio::task::coop::unconstrained;
use zeroize::Zeroizing;

use crate::request::{
    Answer, Attempt, Base, BoxFuture, Chunks, Headers, Transport, TransportError, TransportKind,
    Veil,
};

use super::config::{HttpConfig, Password};
use super::error::{ConfigError, failure};
#[cfg(feature = "kubeconfig")]
use super::exec::Plugin;
use super::gzip::Unpacked;
use super::links::Links;
use super::pem::Identity;
use super::pool::Body;
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
    password: Option<Password>,
    #[cfg(feature = "kubeconfig")]
    plugin: Option<Plugin>,
    /// The same with every request, unless it has its own.
    always: HeaderMap,
    home: Option<Handle>,
    links: Links,
}

/// What a plugin has issued for a request.
#[derive(Default)]
pub(super) struct Issued {
    pub(super) token: Option<Token>,
    pub(super) identity: Option<Identity>,
    /// Which run of the plugin it was.
    #[cfg(feature = "kubeconfig")]
    pub(super) run: u64,
}

impl HttpTransport {
    /// Makes a transport without connections; the first request opens one.
    ///
    /// # Errors
    /// A certificate cannot be used, or a secret would be sent unencrypted.
    pub fn new(config: &HttpConfig) -> Result<Self, ConfigError> {
        if !config.base.is_encrypted() && config.has_secrets() {
            return Err(ConfigError::Plain);
        }
        let mut always = HeaderMap::new();
        let agent = HeaderValue::from_str(&config.agent);
        let agent = agent.unwrap_or_else(|_| HeaderValue::from_static("seatrial"));
        always.insert(USER_AGENT, agent);
        if config.compresses {
            always.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if let Some(who) = &config.impersonation {
            who.put(&mut always)?;
        }
        Ok(Self {
            base: config.base.clone(),
            token: config.token.clone(),
            password: config.password.clone(),
            #[cfg(feature = "kubeconfig")]
            plugin: config.plugin.clone(),
            always,
            home: Handle::try_current().ok(),
            links: Links::new(config)?,
        })
    }

    async fn answer(&self, attempt: Attempt<'_>) -> Result<Answer, TransportError> {
        #[cfg(feature = "kubeconfig")]
        let issued = match &self.plugin {
            Some(plugin) => plugin.issued().await?,
            None => Issued::default(),
        };
        #[cfg(not(feature = "kubeconfig"))]
        let issued = Issued::default();
        let request = self.request(&attempt, &issued)?;
        let unpacks = attempt.headers.get(ACCEPT_ENCODING.as_str()).is_none();
        let pool =
            self.links.pool(issued.identity.clone()).map_err(|why| failure(Box::new(why)))?;
        let sent = pool.send(request).await;
        let is_untrusted = matches!(&sent, Err(why) if why.kind() == TransportKind::Untrusted);
        let is_unknown =
            matches!(&sent, Ok((head, _)) if head.status == hyper::StatusCode::UNAUTHORIZED);
        if is_untrusted || is_unknown {
            self.doubt(&issued);
        }
        let (mut head, body) = sent?;
        let is_packed = unpacks
            && head.headers.get(CONTENT_ENCODING).is_some_and(|how| how.as_bytes() == b"gzip");
        let body: Box<dyn Chunks> = if is_packed {
            head.headers.remove(CONTENT_ENCODING);
            head.headers.remove(CONTENT_LENGTH);
            Box::new(Unpacked::new(body))
        } else {
            Box::new(body)
        };
        let mut headers = Headers::new();
        for (name, value) in &head.headers {
            headers.add(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
        }
        Ok(Answer { status: head.status.as_u16(), headers, body })
    }

    /// Notes that a server does not accept what it was sent, or is not trusted: all of it may have
    /// been renewed.
    fn doubt(&self, issued: &Issued) {
        self.token.iter().for_each(Token::doubt);
        self.links.doubt();
        #[cfg(feature = "kubeconfig")]
        self.plugin.iter().for_each(|plugin| plugin.doubt(issued));
        #[cfg(not(feature = "kubeconfig"))]
        let _ = issued;
    }

    fn request(
        &self,
        attempt: &Attempt<'_>,
        issued: &Issued,
    ) -> Result<hyper::Request<Body>, TransportError> {
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
                self.put_headers(attempt.headers, issued, request.headers_mut())?;
            }
            return request.map_err(|why| bad(why.to_string()));
        }
        Err(bad(format!("this transport speaks to {} alone", self.base)))
    }

    pub(super) fn put_headers(
        &self,
        headers: &Headers,
        issued: &Issued,
        out: &mut HeaderMap,
    ) -> Result<(), TransportError> {
        let bad = |why: String| TransportError::new(TransportKind::Other, why);
        for (name, value) in &self.always {
            if headers.get(name.as_str()).is_none() {
                out.append(name.clone(), value.clone());
            }
        }
        for (name, value) in headers.iter() {
            let bad = || bad(format!("header {name:?} is malformed"));
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            out.append(key, HeaderValue::from_str(value).map_err(|_| bad())?);
        }
        let text = match (self.token.as_ref().or(issued.token.as_ref()), &self.password) {
            (Some(token), _) => {
                let token = token.now().map_err(|why| failure(Box::new(why)))?;
                Zeroizing::new(format!("Bearer {}", token.as_str()))
            }
            (None, Some(password)) => {
                Zeroizing::new(format!("Basic {}", password.encoded.as_str()))
            }
            (None, None) => return Ok(()),
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| bad("the token has letters that no header takes".to_owned()))?;
        value.set_sensitive(true);
        out.insert(AUTHORIZATION, value);
        Ok(())
    }
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, attempt: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        Box::pin(async move {
            // A call that blocks a thread never goes back to tokio, which would not give it a new
            // budget.
            let mut answer = pin!(unconstrained(self.answer(attempt)));
            std::future::poll_fn(|context| {
                let _inside = self.home.as_ref().map(Handle::enter);
                answer.as_mut().poll(context)
            })
            .await
        })
    }

    fn lives(&self) -> Option<BoxFuture<'static, ()>> {
        let home = self.home.clone().or_else(|| Handle::try_current().ok())?;
        let task = home.spawn(std::future::ready(()));
        Some(Box::pin(unconstrained(async { drop(task.await) })))
    }

    fn veil(&self) -> Veil {
        let (token, password) = (self.token.clone(), self.password.clone());
        #[cfg(feature = "kubeconfig")]
        let plugin = self.plugin.clone();
        #[cfg(not(feature = "kubeconfig"))]
        let plugin = None::<()>;
        if token.is_none() && password.is_none() && plugin.is_none() {
            return Veil::default();
        }
        Veil::new(move |tell| {
            token.iter().for_each(|token| token.known(tell));
            if let Some(Password { encoded, password }) = &password {
                tell(encoded);
                tell(password);
            }
            #[cfg(feature = "kubeconfig")]
            plugin.iter().for_each(|plugin| plugin.known(tell));
        })
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").field("base", &self.base).finish_non_exhaustive()
    }
}
