//! Where a server is.

use std::fmt;

use super::error::BuildError;
use super::escape::unescape;

/// The address of a server: scheme, host, and the path in front of every request
/// (`election:RQ-2`).
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
    /// `https://user@host:port`.
    origin: String,
    /// Where the host begins in it: after what may be a password.
    host_at: usize,
    /// Decoded; it starts and ends with a slash.
    path: String,
}

impl Base {
    /// Reads a URL. What follows a `?` or a `#` is dropped.
    ///
    /// # Errors
    /// It is not a URL with a host.
    pub fn parse(url: &str) -> Result<Self, BuildError> {
        let bad = |why| BuildError::Base(without_password(url), why);
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| bad("it has no scheme, such as https://"))?;
        if !matches!(scheme, "http" | "https") {
            return Err(bad("its scheme is neither http nor https"));
        }
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = authority.rsplit('@').next().unwrap_or_default();
        if host.is_empty() {
            return Err(bad("it has no host"));
        }
        let port = host.rsplit_once(':').map_or("", |(_, port)| port);
        if !port.ends_with(']') && !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad("its port is no number; a slash in a password must be escaped"));
        }
        if rest.bytes().any(|byte| byte <= b' ' || byte == 127) {
            return Err(bad("it has a space or a control character"));
        }
        let mut path = unescape(path, false)?;
        if !path.ends_with('/') {
            path.push('/');
        }
        let origin = format!("{scheme}://{authority}");
        let host_at = origin.len() - host.len();
        Ok(Self { origin, host_at, path })
    }

    /// Reads what configurations call a host: a URL, or `host:port` alone, which is spoken to by
    /// `https` if `tls` is true and by `http` otherwise (`election:RQ-3`).
    ///
    /// # Errors
    /// It is empty, no URL, or has a path but no scheme.
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

    /// Host and port, as labels of metrics name the server.
    pub fn host_and_port(&self) -> &str {
        &self.origin[self.host_at..]
    }

    /// Scheme, user information if the address has any, host and port.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether the URL is one of this server.
    #[cfg(feature = "http")]
    pub(super) fn begins(&self, url: &str) -> bool {
        url.strip_prefix(&self.origin).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether the address names a user.
    #[cfg(feature = "http")]
    pub(super) fn names_a_user(&self) -> bool {
        self.origin.contains('@')
    }

    /// Whether the server is spoken to by TLS.
    #[cfg(feature = "http")]
    pub(super) fn is_encrypted(&self) -> bool {
        self.scheme() == "https"
    }

    /// Path and query of a URL of this server.
    pub(super) fn target_of<'u>(&self, url: &'u str) -> &'u str {
        &url[self.origin.len()..]
    }

    /// Scheme, host and port.
    pub(super) fn without_user(&self) -> String {
        format!("{}://{}", self.scheme(), self.host_and_port())
    }

    fn scheme(&self) -> &str {
        self.origin.split(':').next().unwrap_or_default()
    }
}

/// A password in an address is nobody's to print.
pub(super) fn without_password(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    match url[start..].rfind('@') {
        Some(at) => format!("{}...{}", &url[..start], &url[start + at..]),
        None => url.to_owned(),
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.without_user(), self.path)
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base({self})")
    }
}
