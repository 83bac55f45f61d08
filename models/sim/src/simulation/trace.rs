//! The events of a run, in their order.

use std::sync::Arc;
use std::time::Duration;

use super::rules::Rules;
use crate::apiserver::{Request, Response, Server};

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Since the run began.
    pub(crate) at: Duration,
    /// The process that it is about; empty if there is one alone, or none that did it.
    pub(crate) process: Arc<str>,
    pub(crate) what: What,
}

/// The author of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Controller,
    User,
    Collector,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A change at the server: `create pods default/a`, and its number. A beat only carries a time or a
    /// counter.
    Changed { who: Who, number: u32, beat: bool, text: String },
    /// The user's next step begins.
    Step { text: String },
    /// A watch told of something.
    Told { text: String },
    /// The controller's request, and its outcome.
    Asked { request: Asked },
    /// A fault struck.
    Struck { text: String },
    /// The controller's process begins or ends.
    Life { text: String },
}

/// A request of the controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) is_watch: bool,
    /// The path, if nothing that is served is asked for.
    pub(crate) resource: String,
    /// Empty if it names no object.
    pub(crate) key: String,
    /// The status of the answer; 0 if none arrived.
    pub(crate) status: u16,
    /// The number of the write, 0 for a read.
    pub(crate) write: u32,
    /// It changed something.
    pub(crate) has_changed: bool,
    /// It accepts any version, so a replica that lags may answer.
    pub(crate) takes_any: bool,
}

impl Asked {
    /// A request that has no answer yet, nor a number.
    pub(crate) fn of(server: &Server, request: &Request) -> Self {
        let subject = server.subject(&request.path);
        let (resource, key) = subject.unwrap_or_else(|| (request.path.clone(), None));
        let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
        let is_watch =
            is_read && request.parameter("watch").is_some_and(|it| matches!(it, "1" | "true"));
        Self {
            method: request.method.clone(),
            is_watch,
            resource,
            key: key.unwrap_or_default(),
            status: 0,
            write: 0,
            has_changed: false,
            takes_any: is_read && request.parameter("resourceVersion") == Some("0"),
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        self.method == "GET" && self.key.is_empty() && !self.is_of_nothing_served()
    }

    /// Whether it asks what is served, or for a kind that is not.
    pub(crate) fn is_of_nothing_served(&self) -> bool {
        self.resource.starts_with('/')
    }

    /// Whether it is more than an election, a watch, or a look at what is served.
    pub(crate) fn is_work(&self) -> bool {
        !self.is_watch && !Rules::is_noise(&self.resource) && !self.is_of_nothing_served()
    }

    /// Whether it asks what is served, or for one object of a kind that is not: a list of such a kind is a
    /// mistake.
    pub(crate) fn looks_for_what_is_served(&self) -> bool {
        let parts: Vec<_> = self.resource.split('/').filter(|it| !it.is_empty()).collect();
        match parts[..] {
            ["apis", ..] => !matches!(parts.len(), 4 | 6),
            ["api", ..] => !matches!(parts.len(), 3 | 5),
            _ => self.is_of_nothing_served(),
        }
    }

    /// Takes note of an answer; that to a creation tells the name.
    pub(crate) fn learn(&mut self, response: &Response) {
        self.status = response.status;
        if self.key.is_empty()
            && self.status < 300
            && self.method == "POST"
            && let Some(metadata) = response.json().map(|it| &it["metadata"])
        {
            let text = |field: &str| metadata[field].as_str().unwrap_or_default();
            let slash = if text("namespace").is_empty() { "" } else { "/" };
            self.key = format!("{}{slash}{}", text("namespace"), text("name"));
        }
    }

    /// The request as a person would call it.
    pub(crate) fn text(&self) -> String {
        let verb = match (self.method.as_str(), self.is_watch) {
            ("GET", true) => "watch",
            ("GET", false) if self.key.is_empty() => "list",
            ("GET", false) => "get",
            ("POST", _) => "create",
            ("PUT", _) => "update",
            ("PATCH", _) => "patch",
            ("DELETE", _) => "delete",
            (other, _) => other,
        };
        let number = if self.write > 0 { format!("{}: ", self.write) } else { String::new() };
        let status = match self.status {
            0 => " -> no answer".to_owned(),
            200 | 201 => String::new(),
            other => format!(" -> {other}"),
        };
        let blank = if self.key.is_empty() { "" } else { " " };
        format!("{number}{verb} {}{blank}{}{status}", self.resource, self.key)
    }
}
