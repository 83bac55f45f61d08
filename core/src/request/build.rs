//! The builder of requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::base::{Base, without_password};
use super::body::Body;
use super::error::{BuildError, Part};
use super::escape::unescape;
use super::headers::Headers;
use super::path::{Path, join};
use super::query::Query;
use super::segment::check;
use super::verb::Verb;

/// How often a call is repeated by default (`election:RQ-8`).
const MAX_RETRIES: u32 = 10;

/// A request to a server: its target, and how it is sent.
///
/// Every method takes the request and returns it. The first mistake sticks: later methods change
/// nothing, and [`url`](Self::url) returns the mistake (`election:RQ-9`).
#[derive(Clone)]
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    base: Arc<Base>,
    verb: Verb,
    /// Normalised and decoded, from the root.
    prefix: String,
    namespace: Option<String>,
    resource: String,
    sub_resource: String,
    name: String,
    subpath: String,
    pub(super) query: Query,
    timeout_nanos: i64,
    pub(super) headers: Headers,
    pub(super) body: Body,
    pub(super) max_retries: u32,
    mistake: Option<BuildError>,
}

impl Request {
    /// Begins a request below `api_path`, such as `/apis/apps/v1`.
    pub fn new(base: &Arc<Base>, verb: Verb, api_path: &str) -> Self {
        Self {
            prefix: join(["/", base.path(), api_path]),
            base: Arc::clone(base),
            verb,
            namespace: None,
            resource: String::new(),
            sub_resource: String::new(),
            name: String::new(),
            subpath: String::new(),
            query: Query::default(),
            timeout_nanos: 0,
            headers: Headers::new(),
            body: Body::None,
            max_retries: MAX_RETRIES,
            mistake: None,
        }
    }

    /// Applies a setter unless a mistake was made before.
    pub(super) fn set(mut self, set: impl FnOnce(&mut Self) -> Result<(), BuildError>) -> Self {
        if self.mistake.is_none() {
            self.mistake = set(&mut self).err();
        }
        self
    }

    /// Appends segments to the path before namespace and resource. They are not checked.
    pub fn prefix(self, segments: &[&str]) -> Self {
        self.set(|request| {
            request.prefix =
                join([request.prefix.as_str()].into_iter().chain(segments.iter().copied()));
            Ok(())
        })
    }

    /// Appends segments after name and subresource. They are not checked.
    pub fn suffix(self, segments: &[&str]) -> Self {
        self.set(|request| {
            request.subpath =
                join([request.subpath.as_str()].into_iter().chain(segments.iter().copied()));
            Ok(())
        })
    }

    /// Sets the resource, in plural: `deployments`.
    pub fn resource(self, resource: &str) -> Self {
        self.set(|request| once(Part::Resource, &mut request.resource, resource, &[resource]))
    }

    /// Sets the subresource: `status`.
    pub fn sub_resource(self, segments: &[&str]) -> Self {
        self.set(|request| {
            let joined = join(segments.iter().copied());
            once(Part::SubResource, &mut request.sub_resource, &joined, segments)
        })
    }

    /// Sets the name of the object.
    pub fn name(self, name: &str) -> Self {
        self.set(|request| {
            if name.is_empty() {
                return Err(BuildError::EmptyName);
            }
            once(Part::Name, &mut request.name, name, &[name])
        })
    }

    /// Sets the namespace. An empty one means objects of all namespaces.
    pub fn namespace(self, namespace: &str) -> Self {
        self.set(|request| {
            if let Some(old) = &request.namespace {
                return Err(already(Part::Namespace, old, namespace));
            }
            check(Part::Namespace, namespace)?;
            request.namespace = Some(namespace.to_owned());
            Ok(())
        })
    }

    /// As [`namespace`](Self::namespace) if the resource is namespaced.
    pub fn namespace_if_scoped(self, namespace: &str, scoped: bool) -> Self {
        if scoped { self.namespace(namespace) } else { self }
    }

    /// Replaces the prefix by a path below that of the base (`election:RQ-11`).
    pub fn abs_path(self, segments: &[&str]) -> Self {
        self.set(|request| {
            request.replace_prefix(segments);
            Ok(())
        })
    }

    fn replace_prefix(&mut self, segments: &[&str]) {
        let base = self.base.path();
        self.prefix = join([base].into_iter().chain(segments.iter().copied()));
        if let [only] = segments
            && only.ends_with('/')
            && (base.len() > 1 || only.len() > 1)
        {
            self.prefix.push('/');
        }
    }

    /// Takes path and parameters from a URI and ignores its scheme and host (`election:RQ-12`).
    pub fn request_uri(self, uri: &str) -> Self {
        self.set(|request| {
            if uri.bytes().any(|byte| byte <= b' ' || byte == 127) {
                return Err(BuildError::Uri(without_password(uri)));
            }
            let uri = uri.split('#').next().unwrap_or_default();
            let (place, query) = uri.split_once('?').unwrap_or((uri, ""));
            let path = match place.split_once("://") {
                Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
                None => place,
            };
            let (path, query) = (unescape(path, false)?, Query::parse(query)?);
            request.replace_prefix(&[&path]);
            request.query = query;
            Ok(())
        })
    }

    /// Adds a value to a parameter.
    pub fn param(self, key: &str, value: &str) -> Self {
        self.set(|request| {
            request.query.append(key.to_owned(), value.to_owned());
            Ok(())
        })
    }

    /// Limits the time of the whole call, and tells the server so. Zero means no limit.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.timeout_nanos(i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX))
    }

    /// As [`timeout`](Self::timeout), in nanoseconds. A negative number sets no limit here; it is
    /// sent to the server as it is.
    pub fn timeout_nanos(self, nanos: i64) -> Self {
        self.set(|request| {
            request.timeout_nanos = nanos;
            Ok(())
        })
    }

    /// Returns the first mistake that was made.
    pub fn mistake(&self) -> Option<&BuildError> {
        self.mistake.as_ref()
    }

    /// Returns the method.
    pub fn verb(&self) -> &Verb {
        &self.verb
    }

    /// Returns the timeout that is sent to the server, in nanoseconds.
    pub(super) fn told_timeout(&self) -> i64 {
        self.timeout_nanos
    }

    /// Returns the resource.
    pub(super) fn of_resource(&self) -> &str {
        &self.resource
    }

    /// Returns the name of the object.
    pub(super) fn of_name(&self) -> &str {
        &self.name
    }

    /// Returns the server's address.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Builds the URL. The request does not change (`election:RINV-9`).
    ///
    /// # Errors
    /// The first mistake of the builder.
    pub fn url(&self) -> Result<String, BuildError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        let mut url = String::with_capacity(self.length());
        url.push_str(self.base.origin());
        self.write_path(Path::rooted(&mut url));
        self.query.write(&mut url, self.timeout_nanos);
        Ok(url)
    }

    /// Writes the path (`election:RQ-21`).
    pub(super) fn write_path(&self, mut path: Path<'_>) {
        path.push(&self.prefix);
        let namespace = self.namespace.as_deref().unwrap_or_default();
        let tail = [&self.name, &self.sub_resource, &self.subpath];
        let named = tail.iter().any(|part| !part.is_empty());
        if !namespace.is_empty() {
            path.push("namespaces");
            path.push(namespace);
        }
        path.push_lower(&self.resource);
        for part in tail {
            path.push(part);
        }
        let bare = namespace.is_empty() && self.resource.is_empty() && !named;
        path.end(bare && self.prefix.ends_with('/'));
    }

    /// Estimates the length of the URL, so that it grows at most once more.
    fn length(&self) -> usize {
        let parts = [&self.resource, &self.name, &self.sub_resource, &self.subpath, &self.prefix];
        let namespace = self.namespace.as_ref().map_or(0, |name| name.len() + "/namespaces/".len());
        let parts: usize = parts.iter().map(|part| part.len() + 1).sum();
        self.base.origin().len() + parts + namespace + self.query.length()
    }

    /// Checks the request as a whole (`election:RQ-40`): a namespace that is set but empty does not
    /// allow a call on one object.
    ///
    /// # Errors
    /// The first mistake of the builder, or that one.
    pub fn preflight(&self) -> Result<(), BuildError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        let named = !self.name.is_empty();
        let refused = match self.verb {
            Verb::Post => true,
            Verb::Get | Verb::Put | Verb::Delete => named,
            Verb::Patch | Verb::Other(_) => false,
        };
        match self.namespace.as_deref() {
            Some("") if refused => Err(BuildError::EmptyNamespace),
            _ => Ok(()),
        }
    }
}

/// Sets a part that can be set only once. All its segments must be valid.
fn once(part: Part, old: &mut String, new: &str, segments: &[&str]) -> Result<(), BuildError> {
    if !old.is_empty() {
        return Err(already(part, old, new));
    }
    segments.iter().try_for_each(|segment| check(part, segment))?;
    new.clone_into(old);
    Ok(())
}

fn already(part: Part, old: &str, new: &str) -> BuildError {
    BuildError::AlreadySet { part, old: old.to_owned(), new: new.to_owned() }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.url() {
            // Of the address, only the printable part: the rest may hold a password.
            Ok(url) => write!(f, "{} {}{}", self.verb, self.base, &url[self.base.origin().len()..]),
            Err(mistake) => write!(f, "{} {} ({mistake})", self.verb, self.base),
        }
    }
}
