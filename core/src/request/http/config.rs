//! The configuration of a connection to a server.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use zeroize::Zeroizing;

use crate::request::{Base, Client};
use crate::runtime::Runtime;

use super::error::ConfigError;
#[cfg(feature = "kubeconfig")]
use super::exec::Plugin;
use super::impersonation::Impersonation;
use super::pem::Pem;
use super::proxy::Proxy;
use super::token::Token;
use super::transport::HttpTransport;

/// Where a cluster puts the credentials of its pods.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The address of a server, and the credentials for it.
#[derive(Clone)]
pub struct HttpConfig {
    pub(super) base: Base,
    pub(super) trust: Trust,
    pub(super) token: Option<Token>,
    pub(super) password: Option<Password>,
    pub(super) identity: Option<(Pem, Pem)>,
    #[cfg(feature = "kubeconfig")]
    pub(super) plugin: Option<Plugin>,
    pub(super) impersonation: Option<Impersonation>,
    pub(super) server_name: Option<String>,
    pub(super) proxy: Option<Proxy>,
    pub(super) compresses: bool,
    pub(super) agent: String,
    pub(super) connect: Duration,
    pub(super) dead_after: Duration,
}

/// Whose certificates a client accepts.
#[derive(Clone)]
pub(super) enum Trust {
    Nobody,
    Authorities(Pem),
    #[cfg(feature = "kubeconfig")]
    System,
    Anyone,
}

/// A user's name and password.
#[derive(Clone)]
pub(super) struct Password {
    /// As it is sent.
    pub(super) encoded: Arc<Zeroizing<String>>,
    pub(super) password: Arc<Zeroizing<String>>,
}

impl HttpConfig {
    /// A server at `host`, which is a URL or `host:port`; without a scheme `https` is used.
    ///
    /// # Errors
    /// It is not a valid address.
    pub fn new(host: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            base: Base::host(host, true).map_err(ConfigError::Address)?,
            trust: Trust::Nobody,
            token: None,
            password: None,
            identity: None,
            #[cfg(feature = "kubeconfig")]
            plugin: None,
            impersonation: None,
            server_name: None,
            proxy: None,
            compresses: true,
            agent: concat!("seatrial/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect: Duration::from_secs(10),
            dead_after: Duration::from_secs(45),
        })
    }

    /// The cluster that this program runs in. The address comes from the environment, the authority
    /// and the token from the files that every pod has.
    ///
    /// # Errors
    /// This program does not run in a cluster, or cannot read the files.
    pub fn in_cluster() -> Result<Self, ConfigError> {
        Self::in_cluster_at(Path::new(ACCOUNT), |name| env::var(name).ok())
    }

    pub(super) fn in_cluster_at(
        account: &Path,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let wanted = |name| {
            variable(name).filter(|it| !it.is_empty()).ok_or(ConfigError::NotInCluster(name))
        };
        let (host, port) = (wanted("KUBERNETES_SERVICE_HOST")?, wanted("KUBERNETES_SERVICE_PORT")?);
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let authorities = account.join("ca.crt");
        drop(Pem::File(authorities.clone()).read()?); // so that a missing file is reported now
        let token = Token::file(account.join("token"));
        token.now()?; // likewise
        let config = Self::new(&format!("https://{host}:{port}"))?;
        Ok(config.authorities_file(authorities).token(token))
    }

    /// Trusts only these authorities: certificates in PEM. A text without any certificate is refused
    /// by [`client`](Self::client).
    #[must_use]
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.trust = Trust::Authorities(Pem::given(pem));
        self
    }

    /// As [`authorities`](Self::authorities), from a file that is read again when it changes.
    #[must_use]
    pub fn authorities_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.trust = Trust::Authorities(Pem::File(path.into()));
        self
    }

    /// Trusts the authorities that the system trusts.
    #[cfg(feature = "kubeconfig")]
    #[must_use]
    pub fn system_authorities(mut self) -> Self {
        self.trust = Trust::System;
        self
    }

    /// Trusts everyone who answers at the address. Anybody in between can read what is sent, also
    /// the token.
    #[must_use]
    pub fn insecure_skip_tls_verify(mut self) -> Self {
        self.trust = Trust::Anyone;
        self
    }

    /// Sets the name that the server's certificate must have, if it is not the host's.
    #[must_use]
    pub fn tls_server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Sends this token with every request.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Sends a user's name and password with every request. A token is sent in their place.
    #[must_use]
    pub fn basic_auth(mut self, user: &str, password: impl Into<String>) -> Self {
        let password = Zeroizing::new(password.into());
        let pair = Zeroizing::new(format!("{user}:{}", *password));
        let encoded = Arc::new(Zeroizing::new(BASE64_STANDARD.encode(pair.as_bytes())));
        self.password = Some(Password { encoded, password: Arc::new(password) });
        self
    }

    /// Shows this certificate to the server: certificate chain and key, in PEM.
    #[must_use]
    pub fn identity(mut self, certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some((Pem::given(certificates), Pem::given(key)));
        self
    }

    /// As [`identity`](Self::identity), from files that are read again when they change.
    #[must_use]
    pub fn identity_files(
        mut self,
        certificates: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.identity = Some((Pem::File(certificates.into()), Pem::File(key.into())));
        self
    }

    /// Sends requests in the name of somebody else.
    #[must_use]
    pub fn impersonate(mut self, who: Impersonation) -> Self {
        self.impersonation = Some(who);
        self
    }

    /// Reaches the server through a proxy, by a tunnel. Its URL may have a user and a password, and
    /// begins with `http` or `socks5`: `http://user:password@proxy:3128`.
    ///
    /// # Errors
    /// It is not the URL of a proxy, or of a kind that is not known.
    pub fn proxy(mut self, url: &str) -> Result<Self, ConfigError> {
        self.proxy = Some(Proxy::parse(url)?);
        Ok(self)
    }

    /// Reaches the server through the proxy of the environment, if there is one for it:
    /// `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`, with the exceptions of `NO_PROXY`, in capitals or
    /// not. A server on this machine is reached directly.
    ///
    /// # Errors
    /// A proxy of a kind that is not known, or no proxy at all.
    pub fn proxy_from_environment(self) -> Result<Self, ConfigError> {
        self.proxy_from(|name| env::var(name).ok())
    }

    pub(super) fn proxy_from(
        mut self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        self.proxy = Proxy::from_environment(&self.base, variable)?;
        Ok(self)
    }

    /// Sets whether the server may compress its answers; it may by default.
    #[must_use]
    pub fn compression(mut self, allowed: bool) -> Self {
        self.compresses = allowed;
        self
    }

    /// Sets the `User-Agent`. An API server takes the part before the slash as the manager of the
    /// fields that the client writes.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = agent.into();
        self
    }

    /// Sets the longest time for a connection to be established, including TLS; 10 seconds by
    /// default.
    #[must_use]
    pub fn connect_within(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets the time within which a dead connection is detected; 45 seconds by default. It is at
    /// least a tenth of a second, because every answer to a ping takes some time, and at most a day.
    #[must_use]
    pub fn dead_after(mut self, limit: Duration) -> Self {
        self.dead_after = limit.clamp(Duration::from_millis(100), Duration::from_secs(86_400));
        self
    }

    /// Tells whether a secret is sent, or a certificate shown.
    pub(super) fn has_secrets(&self) -> bool {
        #[cfg(feature = "kubeconfig")]
        if self.plugin.is_some() {
            return true;
        }
        self.token.is_some() || self.password.is_some() || self.identity.is_some()
    }

    /// Makes a client.
    ///
    /// # Errors
    /// A certificate cannot be used, or a secret would be sent unencrypted.
    pub fn client<R: Runtime>(&self, runtime: &R) -> Result<Client<R, HttpTransport>, ConfigError> {
        Ok(Client::new(runtime, self.base.clone(), HttpTransport::new(self)?))
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("base", &self.base)
            .field("token", &self.token)
            .field("has_identity", &self.identity.is_some())
            .finish_non_exhaustive()
    }
}
