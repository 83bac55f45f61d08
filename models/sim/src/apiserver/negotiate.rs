//! The representation that a client wants, and the conversion of answers into it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Body, Request, Response};
use super::resource::Resource;
use super::status::{Failure, Outcome};
use super::table;
use crate::protobuf;

const KNOWN: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// A representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Whole,
    /// The metadata alone.
    Metadata,
    /// The same, of a list.
    MetadataList,
    /// Rows and columns.
    Table,
}

/// The parts of an `Accept` header, the most wanted ones first.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<_> = accept.split(',').map(Clause::parse).collect();
    // What is named comes before what is meant by a star, as in a real server.
    let stars = |clause: &Clause<'_>| clause.range.matches('*').count();
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(stars(a).cmp(&stars(b))));
    clauses
}

impl View {
    /// The representation that the `Accept` header asks for, and whether it is wanted as protobuf.
    pub(crate) fn wanted(request: &Request, resource: &Resource) -> Outcome<(Self, bool)> {
        let accept = match request.header("Accept") {
            None | Some("") => return Ok((Self::Whole, false)),
            Some(accept) => accept,
        };
        let fits = |clause: &Clause<'_>| {
            let (view, is_binary) = (clause.view()?, clause.is_binary());
            // Custom resources have no messages, but their metadata has one. Tables are JSON.
            let has_message = match view {
                Self::Whole => !resource.is_custom,
                Self::Metadata | Self::MetadataList => true,
                Self::Table => false,
            };
            (has_message || !is_binary).then_some((view, is_binary))
        };
        clauses(accept).iter().find_map(fits).ok_or_else(|| {
            if resource.is_custom {
                let message = format!("only the following media types are accepted: {KNOWN}");
                Failure::new(406, "NotAcceptable", message)
            } else {
                let message = format!("406: Not Acceptable\n\nAvailable representations: {KNOWN}");
                let mut failure = Failure::new(406, "NotAcceptable", message);
                failure.details = Some(json!({}));
                failure
            }
        })
    }

    /// Brings a successful answer into the representation.
    pub(crate) fn apply(self, shown: &Shown<'_>, mut response: Response) -> Response {
        let Body::Json(body) = &response.body else { return response };
        if self == Self::Whole || response.status >= 300 || body["kind"] == "Status" {
            return response;
        }
        let Shown { resource, now, object } = *shown;
        let is_list = body["items"].is_array();
        if is_list == (self == Self::Metadata) && self != Self::Table {
            return self.unfit(resource).response();
        }
        let shown = match body["items"].as_array() {
            Some(items) if self == Self::Table => {
                table::table(resource, now, object, &body["metadata"], items)
            }
            None if self == Self::Table => Value::clone(&table::row(resource, now, object, body)),
            Some(items) => partial_list(&body["metadata"], items),
            None => partial(body),
        };
        response.body = Body::Json(Arc::new(shown));
        response
    }

    /// A list was asked for where there is one object, or the other way round.
    fn unfit(self, resource: &Resource) -> Box<Failure> {
        let kind = &resource.kind;
        let message = match self {
            Self::Metadata => format!(
                "you requested PartialObjectMetadata, but the requested object is a list (*{kind}List)"
            ),
            _ if resource.is_custom => return Failure::internal("content is not a list"),
            _ => format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list (*{kind})"
            ),
        };
        Failure::new(406, "NotAcceptable", message)
    }

    /// The same for an object of an event.
    pub(crate) fn object(self, shown: &Shown<'_>, object: &Arc<Value>) -> Arc<Value> {
        match self {
            Self::Whole => object.clone(),
            _ if object["kind"] == "Status" => object.clone(),
            Self::Table => table::row(shown.resource, shown.now, shown.object, object),
            _ => Arc::new(partial(object)),
        }
    }
}

/// The context in which tables are made.
pub(crate) struct Shown<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) now: Duration,
    /// How much of an object goes with its row, as the client asks for it.
    pub(crate) object: Option<&'a str>,
}

fn partial_list(metadata: &Value, items: &[Value]) -> Value {
    let mut metadata = metadata.clone();
    if let Some(fields) = metadata.as_object_mut() {
        fields.retain(|_, value| *value != "");
    }
    let partial = match items {
        [] => Value::Null,
        items => items.iter().map(partial).collect(),
    };
    json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList",
        "metadata": metadata, "items": partial,
    })
}

fn partial(object: &Value) -> Value {
    json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": object["metadata"],
    })
}

struct Clause<'a> {
    range: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f64,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let range = parts.next().unwrap_or("");
        let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters.iter().find(|(key, _)| *key == "q");
        let quality = quality.and_then(|(_, value)| value.parse().ok()).unwrap_or(1.0);
        Self { range, parameters, quality }
    }

    fn is_binary(&self) -> bool {
        self.range == protobuf::MEDIA_TYPE
    }

    fn view(&self) -> Option<View> {
        if !matches!(self.range, "*/*" | "application/*" | "application/json") && !self.is_binary()
        {
            return None;
        }
        let parameter = |name: &str| {
            self.parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
        };
        match (parameter("as"), parameter("g"), parameter("v")) {
            (None, ..) => Some(View::Whole),
            (Some("Table"), Some("meta.k8s.io"), Some("v1")) => Some(View::Table),
            (Some("PartialObjectMetadata"), Some("meta.k8s.io"), Some("v1")) => {
                Some(View::Metadata)
            }
            (Some("PartialObjectMetadataList"), Some("meta.k8s.io"), Some("v1")) => {
                Some(View::MetadataList)
            }
            _ => None,
        }
    }
}

/// The type of the body, without parameters; `application/json` if none is given.
pub(crate) fn content_type(request: &Request) -> &str {
    let header = request.header("Content-Type").unwrap_or("application/json");
    header.split(';').next().unwrap_or("").trim()
}

/// Brings a failure into the form that the client wants, whatever the resource.
pub(crate) fn told(request: &Request, response: Response) -> Response {
    if response.status < 400 {
        return response;
    }
    let clauses = clauses(request.header("Accept").unwrap_or(""));
    let known = clauses.iter().find(|clause| clause.view() == Some(View::Whole));
    let is_binary = known.is_some_and(Clause::is_binary);
    if is_binary { response.into_protobuf() } else { response }
}

/// Tells whether the head of a request names protobuf as the type of its body.
pub(crate) fn is_protobuf(request: &Request) -> bool {
    content_type(request) == protobuf::MEDIA_TYPE
}

/// Refuses bodies that are neither JSON nor, for a built-in kind, protobuf.
pub(crate) fn require_known(request: &Request, resource: &Resource) -> Outcome<()> {
    match content_type(request) {
        "application/json" | "" => Ok(()),
        protobuf::MEDIA_TYPE if !resource.is_custom => Ok(()),
        _ => Err(Failure::unsupported(KNOWN)),
    }
}
