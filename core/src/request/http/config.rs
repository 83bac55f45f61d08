//! The configuration of a connection to a server.

use std::env;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::request::{Base, Client};
use crate::runtime::Runtime;

use super::error::ConfigError;
use super::token::Token;
use super::transport::HttpTransport;

/// Where a cluster puts the credentials of its pods.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The address of a server, and the credentials for it.
#[derive(Clone)]
pub struct HttpConfig {
    pub(super) base: Base,
    /// `None`: no server with a certificate is trusted.
    pub(super) authorities: Option<Vec<u8>>,
    pub(super) token: Option<Token>,
    pub(super) identity: Option<(Vec<u8>, Zeroizing<Vec<u8>>)>,
    pub(super) agent: String,
    pub(super) connect: Duration,
    pub(super) dead_after: Duration,
}

impl HttpConfig {
    /// A server at `host`, which is a URL or `host:port`; without a scheme `https` is used.
    ///
    /// # Errors
    /// It is not a valid address.
    pub fn new(host: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            base: Base::host(host, true).map_err(ConfigError::Address)?,
            authorities: None,
            token: None,
            identity: None,
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
        let path = account.join("ca.crt");
        let authorities = std::fs::read(&path).map_err(|why| ConfigError::File(path, why))?;
        let token = Token::file(account.join("token"));
        token.now()?; // so that a missing file is reported now
        Ok(Self::new(&format!("https://{host}:{port}"))?.authorities(authorities).token(token))
    }

    /// Trusts only these authorities: certificates in PEM. A text without any certificate is refused
    /// by [`client`](Self::client).
    #[must_use]
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities = Some(pem.into());
        self
    }

    /// Sends this token with every request.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Shows this certificate to the server: certificate chain and key, in PEM.
    #[must_use]
    pub fn identity(mut self, certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some((certificates.into(), Zeroizing::new(key.into())));
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
