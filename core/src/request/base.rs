//! The address of a server.

use std::fmt;

use super::error::BuildError;
use super::escape::unescape;

/// The address of a server: scheme, host, and the path in front of every request (`election:RQ-2`).
///
/// ```
/// use seatrial_core::request::Base;
///
/// assert_eq!(Base::parse("https://cluster:6443/proxy")?.to_string(), "https://cluster:6443/proxy/");
/// assert_eq!(Base::host("cluster:6443", true)?.to_string(), "https://cluster:6443/");
/// # Ok::<(), seatrial_core::request::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Base {
    /// `https://host:port`.
    origin: String,
    /// Decoded; it starts and ends with a slash.
    path: String,
}

impl Base {
    /// Reads a URL. The part after a `?` or a `#` is dropped.
    ///
    /// # Errors
    /// It is not a URL with a host, or it has an `@`. The reference accepts a user and a password
    /// before the host (`election:RQ-22`). Here an address never holds a secret, and a password is
    /// never mistaken for a host.
    pub fn parse(url: &str) -> Result<Self, BuildError> {
        let bad = |why| BuildError::Base(without_password(url), why);
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| bad("it has no scheme, such as https://"))?;
        if !matches!(scheme, "http" | "https") {
            return Err(bad("its scheme is neither http nor https"));
        }
        if url.contains('@') {
            return Err(bad("it names a user: use a token or a certificate; a path has %40"));
        }
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if host.is_empty() {
            return Err(bad("it has no host"));
        }
        let port = host.rsplit_once(':').map_or("", |(_, port)| port);
        if !port.ends_with(']') && !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad("its port is no number"));
        }
        if rest.bytes().any(|byte| byte <= b' ' || byte == 127) {
            return Err(bad("it has a space or a control character"));
        }
        let mut path = unescape(path, false)?;
        if !path.ends_with('/') {
            path.push('/');
        }
        Ok(Self { origin: format!("{scheme}://{host}"), path })
    }

    /// Reads a host as configurations write it: a URL, or only `host:port`. The latter uses `https`
    /// if `tls` is true and `http` otherwise (`election:RQ-3`).
    ///
    /// # Errors
    /// It is empty, it is not a URL, or it has a path but no scheme.
    pub fn host(host: &str, tls: bool) -> Result<Self, BuildError> {
        if host.is_empty() {
            return Err(BuildError::NoHost);
        }
        if host.contains("://") {
            return Self::parse(host);
        }
        if host.contains('/') {
            let why = "an address with a path must start with http:// or https://";
            return Err(BuildError::Base(without_password(host), why));
        }
        Self::parse(&format!("{}://{host}", if tls { "https" } else { "http" }))
    }

    /// The path in front of every request, decoded; it starts and ends with a slash.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns host and port, by which labels of metrics name the server.
    pub fn host_and_port(&self) -> &str {
        &self.origin[self.scheme().len() + 3..]
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Tells whether a URL belongs to this server.
    #[cfg(feature = "http")]
    pub(super) fn begins(&self, url: &str) -> bool {
        url.strip_prefix(&self.origin).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Tells whether connections to the server use TLS.
    #[cfg(feature = "http")]
    pub(super) fn is_encrypted(&self) -> bool {
        self.scheme() == "https"
    }

    /// Path and query of a URL of this server.
    pub(super) fn target_of<'u>(&self, url: &'u str) -> &'u str {
        &url[self.origin.len()..]
    }

    fn scheme(&self) -> &str {
        self.origin.split(':').next().unwrap_or_default()
    }
}

/// Replaces the part of an address that may be a password, so that it can be printed.
pub(super) fn without_password(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    match url[start..].rfind('@') {
        Some(at) => format!("{}...{}", &url[..start], &url[start + at..]),
        None => url.to_owned(),
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base({self})")
    }
}
