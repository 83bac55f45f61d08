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
            let names = [name.to_owned(), name.to_lowercase()];
            names.iter().filter_map(|it| variable(it)).find(|it| !it.is_empty())
        };
        let (name, port) =
            if base.is_encrypted() { ("HTTPS_PROXY", 443) } else { ("HTTP_PROXY", 80) };
        let Some(url) = value(name).or_else(|| value("ALL_PROXY")) else { return Ok(None) };
        let Ok(server) = base.origin().parse::<Uri>() else { return Ok(None) };
        let no = value("NO_PROXY").unwrap_or_default();
        let no = exceptions(&no, server.port_u16().unwrap_or(port));
        // It ignores a proxy that it cannot read, so it is asked about the exceptions alone.
        let any = Matcher::builder().all("http://proxy".to_owned()).no(no).build();
        any.intercept(&server).map(|_| Self::parse(&url)).transpose()
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

/// Returns the hosts that are reached directly at a port. An entry may name the port.
fn exceptions(no: &str, port: u16) -> String {
    let of_port = |entry: &str| match entry.rsplit_once(':') {
        Some((host, named)) if host.ends_with(']') || !host.contains(':') => {
            let is_it = named.parse() == Ok(port);
            is_it.then(|| host.to_owned())
        }
        _ => Some(entry.to_owned()),
    };
    let mut hosts: Vec<_> = no.split(',').filter_map(|it| of_port(it.trim())).collect();
    hosts.iter_mut().for_each(|it| *it = it.trim_matches(['[', ']']).to_owned());
    hosts.extend(["localhost", "127.0.0.0/8", "::1"].map(str::to_owned));
    hosts.join(",")
}
