//! How objects are selected, changed and deleted.

use serde::Serialize;
use serde_json::Value;

use crate::informer::Match;
use crate::request::build::Request;
use crate::request::collection::{versioned, with};

/// Which objects are listed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ListParams {
    /// The labels that objects must have, such as `app=web`; empty for any.
    pub label_selector: String,
    /// The fields that objects must have, such as `metadata.name=a`; empty for any.
    pub field_selector: String,
    /// How many objects a page may have; zero for all.
    pub limit: u32,
    /// The token of the page, from the previous page.
    pub continue_token: String,
    /// The version: empty for the newest, `0` for any version in the server's cache.
    pub resource_version: String,
    /// How to match the version; `None` for the server's default.
    pub resource_version_match: Option<Match>,
}

impl ListParams {
    /// Selects objects by their labels.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.label_selector);
        self
    }

    /// Selects objects by their fields.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.field_selector);
        self
    }

    /// Sets how many objects a page may have.
    #[must_use]
    pub fn limit(mut self, count: u32) -> Self {
        self.limit = count;
        self
    }

    /// Asks for the page of a token. A server refuses a version beside it.
    pub(super) fn page(mut self, token: &str) -> Self {
        token.clone_into(&mut self.continue_token);
        (self.resource_version, self.resource_version_match) = (String::new(), None);
        self
    }

    pub(super) fn select(&self, request: Request) -> Request {
        let request = with(request, "labelSelector", &self.label_selector);
        with(request, "fieldSelector", &self.field_selector)
    }

    pub(super) fn put(&self, request: Request) -> Request {
        let limit = if self.limit > 0 { self.limit.to_string() } else { String::new() };
        let request = with(self.select(request), "limit", &limit);
        let request = with(request, "continue", &self.continue_token);
        versioned(request, &self.resource_version, self.resource_version_match)
    }
}

/// A change of an object.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Patch {
    /// Fields to set; those that are `null` are removed, and lists are replaced.
    Merge(Value),
    /// A list of operations.
    Json(Value),
    /// As a merge, but lists are merged as the server's types say. Only built-in kinds have it.
    Strategic(Value),
}

impl Patch {
    pub(super) fn put(&self, request: Request) -> Request {
        let (kind, value) = match self {
            Self::Merge(value) => ("application/merge-patch+json", value),
            Self::Json(value) => ("application/json-patch+json", value),
            Self::Strategic(value) => ("application/strategic-merge-patch+json", value),
        };
        request.body_json(value).header("Content-Type", &[kind])
    }
}

/// What happens to the objects that an object owns when it is deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub enum Propagation {
    /// They stay.
    Orphan,
    /// They are deleted later.
    Background,
    /// They are deleted first.
    Foreground,
}

/// How an object is deleted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeleteParams {
    /// How long it has to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<u32>,
    /// What happens to the objects that it owns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation_policy: Option<Propagation>,
    /// What the object must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    preconditions: Option<Preconditions>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Preconditions {
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
}

impl DeleteParams {
    /// Sets what happens to the objects that an object owns.
    #[must_use]
    pub fn propagation(mut self, policy: Propagation) -> Self {
        self.propagation_policy = Some(policy);
        self
    }

    /// Deletes only the object with this identity; another one of its name is a conflict.
    #[must_use]
    pub fn uid(mut self, uid: &str) -> Self {
        self.preconditions.get_or_insert_default().uid = Some(uid.to_owned());
        self
    }

    /// Deletes only the object of this version; another one is a conflict.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.preconditions.get_or_insert_default().resource_version = Some(version.to_owned());
        self
    }

    pub(super) fn put(&self, request: Request) -> Request {
        if *self == Self::default() { request } else { request.body_json(self) }
    }
}
