//! Removes secrets from the texts of a server, which may echo the secrets that it was sent.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::status::Status;

/// The text that replaces a secret.
const STRUCK: &str = "(secret)";

/// Passes each secret to a function.
type Tells = dyn Fn(&mut dyn FnMut(&str)) + Send + Sync;

/// Removes the secrets of a transport from a server's texts. By default there are none.
#[derive(Clone, Default)]
pub struct Veil(Option<Arc<Tells>>);

impl Veil {
    /// Removes the secrets that `tells` passes on; it is called each time, so they are always
    /// current.
    pub fn new(tells: impl Fn(&mut dyn FnMut(&str)) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tells)))
    }

    /// Returns bytes without the secrets.
    pub(super) fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let mut struck = Cow::Borrowed(bytes);
        if let Some(tells) = &self.0 {
            tells(&mut |secret| {
                if let Some(without) = without(&struck, secret.as_bytes()) {
                    struck = Cow::Owned(without);
                }
            });
        }
        struck
    }

    /// Returns a text without the secrets.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(struck) => String::from_utf8_lossy(&struck).into_owned().into(),
        }
    }

    /// Returns a status without the secrets, which may occur in any of its texts.
    pub(super) fn status(&self, status: Status) -> Status {
        if self.0.is_none() {
            return status;
        }
        let struck = serde_json::to_value(&status).map(|mut value| {
            self.strike(&mut value);
            value
        });
        struck.and_then(serde_json::from_value).unwrap_or_default()
    }

    fn strike(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text).into_owned(),
            Value::Array(values) => values.iter_mut().for_each(|value| self.strike(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.strike(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns bytes without a secret; `None` if they do not contain it.
fn without(bytes: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let first = find(bytes, secret)?;
    let (mut struck, mut rest, mut at) = (Vec::new(), bytes, Some(first));
    while let Some(end) = at {
        struck.extend_from_slice(&rest[..end]);
        struck.extend_from_slice(STRUCK.as_bytes());
        rest = &rest[end + secret.len()..];
        at = find(rest, secret);
    }
    struck.extend_from_slice(rest);
    Some(struck)
}

/// Finds a secret. An empty secret is never found.
fn find(bytes: &[u8], secret: &[u8]) -> Option<usize> {
    let first = secret.first()?;
    bytes.windows(secret.len()).position(|part| part[0] == *first && part == secret)
}

impl fmt::Debug for Veil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Veil")
    }
}
