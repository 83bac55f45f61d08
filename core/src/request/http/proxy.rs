//! Proxies between a client and its server.

use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::request::Base;

use super::error::ConfigError;

/// A proxy that opens tunnels, and what proves to it who asks.
#[derive(Clone)]
pub(super) struct Proxy(pub(super) Intercept);

impl Proxy {
    /// Reads the URL of a proxy, such as `http://user:password@proxy:3128`.
    pub(super) fn parse(url: &str) -> Result<Self, ConfigError> {
        let any = Uri::from_static("https://server");
        let found = Matcher::builder().all(url.to_owned()).build().intercept(&any);
        found.map_or(Err(ConfigError::Proxy("it is no URL of a proxy")), Self::of)
    }

    /// Returns the proxy that the environment names for a server, if it names one. As in the
    /// reference a server on this machine is reached directly.
    pub(super) fn from_environment(
        base: &Base,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, ConfigError> {
        let value = |name: &str| {
            let found = [name.to_owned(), name.to_lowercase()].iter().find_map(|it| variable(it));
            found.filter(|it| !it.is_empty()).unwrap_or_default()
        };
        let no = format!("{},localhost,127.0.0.0/8,::1", value("NO_PROXY"));
        let matcher = Matcher::builder()
            .http(value("HTTP_PROXY"))
            .https(value("HTTPS_PROXY"))
            .all(value("ALL_PROXY"))
            .no(no)
            .build();
        let Ok(server) = base.origin().parse() else { return Ok(None) };
        matcher.intercept(&server).map(Self::of).transpose()
    }

    fn of(found: Intercept) -> Result<Self, ConfigError> {
        match found.uri().scheme_str() {
            Some("http" | "socks5" | "socks5h") => Ok(Self(found)),
            _ => Err(ConfigError::Proxy("only proxies with http:// or socks5:// are known")),
        }
    }

    /// Tells whether it speaks SOCKS, and not HTTP.
    pub(super) fn is_socks(&self) -> bool {
        self.0.uri().scheme_str() != Some("http")
    }
}
