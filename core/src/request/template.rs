//! The template of a URL, without the names of objects: a label for metrics (`election:RQ-95`).

use super::build::Request;
use super::error::BuildError;
use super::escape::{PATH, escape};
use super::path::{Path, join};

const VALUE: &str = "{value}";
const NAME: &str = "{name}";
const NAMESPACE: &str = "{namespace}";
const PROXIED: &str = "{path}";

impl Request {
    /// Returns the URL with placeholders for names and values, so that a metric has only one row
    /// for each kind of request. The request does not change.
    ///
    /// # Errors
    /// The first mistake of the builder.
    pub fn template(&self) -> Result<String, BuildError> {
        if let Some(mistake) = self.mistake() {
            return Err(mistake.clone());
        }
        let mut path = String::new();
        self.write_path(Path::plain(&mut path));
        let (path, has_query) = replaced(&path, self.base().path());
        let mut url = self.base().origin().to_owned();
        escape(&mut url, path.as_bytes(), PATH);
        if has_query {
            self.query.each_with(VALUE).write(&mut url, self.told_timeout());
        }
        Ok(url)
    }
}

/// Puts placeholders into a path, and tells whether its query belongs into the template.
fn replaced(path: &str, base: &str) -> (String, bool) {
    let (inner, trimmed) = match path.strip_prefix(base) {
        Some(inner) => (inner, base),
        None => (path, ""),
    };
    let mut segments: Vec<&str> = inner.split('/').filter(|segment| !segment.is_empty()).collect();
    let first = match segments.as_slice() {
        [] | [_] => return (path.to_owned(), true),
        ["api", ..] => 2,
        ["apis", ..] => 3,
        _ => return ("/{prefix}".to_owned(), false),
    };
    // Behind a proxy the path is the caller's, and each would be a row of its own.
    let is_namespaced = segments.get(first) == Some(&"namespaces");
    let proxy = first + if is_namespaced { 4 } else { 2 };
    if segments.get(proxy) == Some(&"proxy") && segments.len() > proxy + 1 {
        segments.splice(proxy + 1.., [PROXIED]);
    }
    if let Some(resource) = segments.get_mut(first..) {
        match resource {
            [_, name, "proxy", PROXIED] => *name = NAME,
            [_, name] | [_, name, "status" | "finalize"] => *name = NAME,
            [_, namespace, _] => *namespace = NAMESPACE,
            [_, namespace, _, name, ..] => {
                *namespace = NAMESPACE;
                if !matches!(*name, "status" | "finalize") {
                    *name = NAME;
                }
            }
            _ => {}
        }
    }
    (join(["/", trimmed].into_iter().chain(segments)), true)
}
