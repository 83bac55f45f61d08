//! Requests in the name of somebody else.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::error::ConfigError;

/// Somebody in whose name requests are sent. The server decides whether the client may do that.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Impersonation {
    /// The name of the user.
    pub user: String,
    /// The groups of the user; if there are none, those that the server gives it.
    pub groups: Vec<String>,
    /// The id of the user.
    pub uid: Option<String>,
    /// Further attributes of the user.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Impersonation {
    /// A user without groups.
    pub fn new(user: impl Into<String>) -> Self {
        Self { user: user.into(), groups: Vec::new(), uid: None, extra: BTreeMap::new() }
    }

    pub(super) fn put(&self, out: &mut HeaderMap) -> Result<(), ConfigError> {
        let mut add = |name: &str, value: &str| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok();
            let value = HeaderValue::from_bytes(value.as_bytes()).ok();
            let (name, value) = name.zip(value).ok_or(ConfigError::Header("impersonated user"))?;
            out.append(name, value);
            Ok::<_, ConfigError>(())
        };
        add("Impersonate-User", &self.user)?;
        self.groups.iter().try_for_each(|group| add("Impersonate-Group", group))?;
        self.uid.iter().try_for_each(|uid| add("Impersonate-Uid", uid))?;
        for (key, values) in &self.extra {
            let name = format!("Impersonate-Extra-{}", escaped(key));
            values.iter().try_for_each(|value| add(&name, value))?;
        }
        Ok(())
    }
}

/// Escapes what the name of a header cannot have, as the reference does.
fn escaped(key: &str) -> String {
    let mut name = String::new();
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => name.push(byte.into()),
            b'!' | b'#' | b'$' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' => name.push(byte.into()),
            b'^' | b'_' | b'`' | b'|' | b'~' => name.push(byte.into()),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name
}
