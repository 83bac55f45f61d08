//! What a request asks for, as roles see it, and the refusal of it.

use serde_json::{Value, json};

use super::super::http::{Request, decode};
use super::super::options;
use super::super::status::{Failure, details, qualify};
use super::user::User;
use crate::short::short;

/// What is asked for: a verb on a resource, or on a path if that is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attributes {
    /// Such as `get`, `list` or `deletecollection`.
    pub verb: String,
    /// The group; empty for the core one.
    pub group: String,
    /// The name in paths, such as `pods`.
    pub resource: String,
    /// Such as `status`; empty if none is meant.
    pub subresource: String,
    /// Empty: the whole cluster.
    pub namespace: String,
    /// Empty if no object is named.
    pub name: String,
    /// A path that leads to no resource; empty if a resource is meant.
    pub path: String,
}

impl Attributes {
    /// What a request asks for. That is told from its path alone: what is not served is refused as well.
    pub fn of(request: &Request) -> Self {
        let parts: Vec<_> = request.path.trim_matches('/').split('/').map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
        let (group, rest) = match &parts[..] {
            ["api", _, rest @ ..] if !rest.is_empty() => ("", rest),
            ["apis", group, _, rest @ ..] if !rest.is_empty() => (*group, rest),
            _ => return Self::of_path(request),
        };
        let (verb, rest) = match rest {
            [old @ ("watch" | "proxy"), rest @ ..] if !rest.is_empty() => (*old, rest),
            rest => {
                let verb = match request.method.as_str() {
                    "POST" => "create",
                    "GET" | "HEAD" => "get",
                    "PUT" => "update",
                    "PATCH" => "patch",
                    "DELETE" => "delete",
                    _ => "",
                };
                (verb, rest)
            }
        };
        // A namespace lies in itself.
        let (namespace, rest) = match rest {
            ["namespaces", name, sub, ..] if !matches!(*sub, "status" | "finalize") => {
                (*name, &rest[2..])
            }
            ["namespaces", name, ..] => (*name, rest),
            rest => ("", rest),
        };
        let part = |at: usize| rest.get(at).copied().unwrap_or("").to_owned();
        let mut asked = Self {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: part(0),
            subresource: part(2),
            namespace: namespace.to_owned(),
            name: part(1),
            path: String::new(),
        };
        if asked.name.is_empty() {
            asked.collect(request);
        }
        asked
    }

    /// Many are meant, but for a read of the one that a field selector names.
    fn collect(&mut self, request: &Request) {
        match self.verb.as_str() {
            "get" => {
                let watches = request.parameter("watch").is_some_and(options::boolean);
                self.verb = if watches { "watch" } else { "list" }.to_owned();
                let terms = request.parameter("fieldSelector").unwrap_or("").split(',');
                let named = terms.filter_map(|term| term.strip_prefix("metadata.name="));
                let name = named.map(|it| it.trim_start_matches('=')).next().unwrap_or("");
                self.name = name.to_owned();
            }
            "delete" => self.verb = "deletecollection".to_owned(),
            _ => {}
        }
    }

    fn of_path(request: &Request) -> Self {
        let verb = request.method.to_ascii_lowercase();
        Self { verb, path: request.path.clone(), ..Self::default() }
    }

    /// What a review asks about; none if it is malformed.
    pub(super) fn of_review(spec: &Value) -> Self {
        let (resource, other) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
        let part = |of: &Value, field: &str| of[field].as_str().unwrap_or("").to_owned();
        if other.is_object() {
            let path = part(other, "path");
            // An empty path is none of a resource.
            let path = if path.is_empty() { " ".to_owned() } else { path };
            return Self { verb: part(other, "verb"), path, ..Self::default() };
        }
        Self {
            verb: part(resource, "verb"),
            group: part(resource, "group"),
            resource: part(resource, "resource"),
            subresource: part(resource, "subresource"),
            namespace: part(resource, "namespace"),
            name: part(resource, "name"),
            path: String::new(),
        }
    }

    /// `pods` or `pods/status`.
    pub(crate) fn combined(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            sub => format!("{}/{sub}", self.resource),
        }
    }

    /// The answer to somebody who may not.
    pub(crate) fn refusal(&self, user: &User, reason: &str) -> Box<Failure> {
        let quoted = |text: &str| Value::from(short(text)).to_string();
        let (who, verb) = (quoted(&user.name), short(&self.verb));
        let mut why = if self.path.is_empty() {
            let place = match self.namespace.as_str() {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {}", quoted(namespace)),
            };
            let (resource, group) = (quoted(&self.combined()), quoted(&self.group));
            format!("User {who} cannot {verb} resource {resource} in API group {group} {place}")
        } else {
            format!("User {who} cannot {verb} path {}", quoted(&self.path))
        };
        for (sign, name) in [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")] {
            why = why.replace(sign, name);
        }
        if !reason.is_empty() {
            why = format!("{why}: {reason}");
        }
        self.forbidden(&why)
    }

    /// The refusal with a reason of its own.
    pub(crate) fn forbidden(&self, why: &str) -> Box<Failure> {
        let (resource, name) = (short(&self.resource), short(&self.name));
        let of = qualify(&resource, &short(&self.group));
        let message = match (self.path.is_empty(), name.is_empty()) {
            (false, _) => format!("forbidden: {why}"),
            (true, true) => format!("{of} is forbidden: {why}"),
            (true, false) => format!("{of} \"{name}\" is forbidden: {why}"),
        };
        let mut failure = Failure::new(403, "Forbidden", message);
        failure.details = Some(match self.path.is_empty() {
            true => details(&self.group, &resource, &name),
            false => json!({}),
        });
        failure
    }
}
