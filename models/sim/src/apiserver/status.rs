//! Failures, and the `Status` objects that tell clients of them.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::cause::Cause;
use super::http::Response;
use super::resource::Resource;
use crate::short::{MOST, short};

/// Why a request fails.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) reason: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) details: Option<Value>,
    /// The token with which an expired list may go on, without being consistent.
    pub(crate) resume: Option<String>,
    /// How long a real server would have tried.
    pub(crate) after: Duration,
    /// The whole `Status`, if somebody else has written it.
    pub(crate) told: Option<Value>,
    /// No `Status`: the body is the message.
    pub(crate) is_text: bool,
}

pub(crate) type Outcome<T> = Result<T, Box<Failure>>;

impl Failure {
    pub(crate) fn new(status: u16, reason: &'static str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { status, reason: Some(reason), message: message.into(), ..Self::default() })
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Box<Self> {
        Self::new(400, "BadRequest", message)
    }

    /// An error that the server has no name for: 500 without a reason.
    pub(crate) fn internal(message: impl Into<String>) -> Box<Self> {
        Box::new(Self { status: 500, message: message.into(), ..Self::default() })
    }

    fn with(mut self: Box<Self>, details: Value) -> Box<Self> {
        self.details = Some(details);
        self
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Box<Self> {
        let message = format!("{} \"{name}\" not found", resource.qualified());
        Self::new(404, "NotFound", message).with(details(&resource.group, &resource.plural, name))
    }

    /// The path leads to nothing that is served.
    pub(crate) fn no_resource() -> Box<Self> {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message).with(json!({}))
    }

    pub(crate) fn no_page() -> Box<Self> {
        let message = "404 page not found\n".to_owned();
        Box::new(Self { status: 404, message, is_text: true, ..Self::default() })
    }

    pub(crate) fn method_not_allowed() -> Box<Self> {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with(json!({}))
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Box<Self> {
        let message =
            format!("Operation cannot be fulfilled on {} \"{name}\": {why}", resource.qualified());
        Self::new(409, "Conflict", message).with(details(&resource.group, &resource.plural, name))
    }

    pub(crate) fn stale(resource: &Resource, name: &str) -> Box<Self> {
        Self::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// A precondition of a deletion failed. These name the kind where others name the resource.
    pub(crate) fn precondition(resource: &Resource, name: &str, why: &str) -> Box<Self> {
        let group = resource.kind_group();
        let kind = qualify(&resource.kind, group);
        let message = format!("Operation cannot be fulfilled on {kind} \"{name}\": {why}");
        Self::new(409, "Conflict", message).with(details(group, &resource.kind, name))
    }

    pub(crate) fn invalid(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Box<Self> {
        let (kind, name) = (&short(kind), &short(name));
        let mut lines: Vec<String> = Vec::new();
        let causes = &causes[..causes.len().min(MOST)];
        for cause in causes {
            let line = format!("{}: {}", cause.field, cause.message);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let why =
            if lines.len() == 1 { lines.remove(0) } else { format!("[{}]", lines.join(", ")) };
        let message = format!("{} \"{name}\" is invalid: {why}", qualify(kind, group));
        let mut details = details(group, kind, name);
        let causes = causes.iter().map(
            |cause| json!({"field": cause.field, "reason": cause.reason, "message": cause.message}),
        );
        details["causes"] = causes.collect();
        Self::new(422, "Invalid", message).with(details)
    }

    /// An option in the query, or in the body of a deletion, is wrong.
    pub(crate) fn bad_options(kind: &str, causes: &[Cause]) -> Box<Self> {
        Self::invalid("meta.k8s.io", kind, "", causes)
    }

    pub(crate) fn unsupported(known: &str) -> Box<Self> {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {known}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The body is larger than it may be.
    pub(crate) fn too_much(why: impl Display) -> Box<Self> {
        let message = format!("Request entity too large: {why}");
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// The version is of the future: a real server waits three seconds for it.
    pub(crate) fn too_large(asked: u64, current: u64) -> Box<Self> {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let cause =
            json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        let details = json!({"causes": [cause], "retryAfterSeconds": 1});
        let mut failure = Self::new(504, "Timeout", message).with(details);
        failure.after = Duration::from_secs(3);
        failure
    }

    /// The cache that answers is not there yet.
    pub(crate) fn initializing() -> Box<Self> {
        let details = json!({"retryAfterSeconds": 1});
        Self::new(429, "TooManyRequests", "storage is (re)initializing").with(details)
    }

    /// The `Status` object.
    pub(crate) fn object(&self) -> Value {
        if let Some(told) = &self.told {
            return told.clone();
        }
        let mut status = json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "code": self.status, "message": self.message,
        });
        if let Some(reason) = self.reason {
            status["reason"] = reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        if let Some(resume) = &self.resume {
            status["metadata"]["continue"] = resume.as_str().into();
        }
        status
    }

    pub(crate) fn response(&self) -> Response {
        if self.is_text {
            return Response::text(self.status, &self.message);
        }
        let mut response = Response::of(self.status, Arc::new(self.object()));
        response.after = self.after;
        if let Some(seconds) = self.details.as_ref().and_then(|it| it.get("retryAfterSeconds")) {
            response.headers.push(("Retry-After", seconds.to_string()));
        }
        response
    }
}

/// `widgets.sim.example.com`, or `configmaps` if the group is the core one.
pub(crate) fn qualify(kind: &str, group: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") }
}

/// The `details` of a status; empty parts are left out.
pub(crate) fn details(group: &str, kind: &str, name: &str) -> Value {
    let parts = [("group", group), ("kind", kind), ("name", name)].into_iter();
    let parts = parts.filter(|(_, value)| !value.is_empty());
    Value::Object(parts.map(|(key, value)| (key.to_owned(), value.into())).collect())
}
