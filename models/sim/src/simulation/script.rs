//! The steps of the user in a run.

use std::fmt;

use serde_json::Value;

use crate::apiserver::{Answer, Request, Resource, Server};

/// One step of the user.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Create(Value),
    Patch {
        object: Name,
        patch: Value,
        subresource: &'static str,
    },
    Delete(Name),
    /// One of processes of the machine.
    #[cfg(feature = "drive")]
    Act(Box<super::act::Act>),
}

/// Names an object: `StatefulSet` or `statefulsets.apps`, and `name` or `namespace/name`.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) kind: String,
    pub(crate) name: String,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(object) => {
                let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
                write!(f, "create {} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
            }
            Self::Patch { object: Name { kind, name }, .. } => write!(f, "patch {kind} {name}"),
            Self::Delete(Name { kind, name }) => write!(f, "delete {kind} {name}"),
            #[cfg(feature = "drive")]
            Self::Act(act) => act.fmt(f),
        }
    }
}

impl Step {
    /// The request of this step.
    pub(crate) fn request(&self, server: &Server) -> Result<Request, String> {
        match self {
            Self::Create(object) => {
                let (kind, version) = (&object["kind"], &object["apiVersion"]);
                let mut resources = server.resources();
                let resource = resources
                    .find(|it| *kind == *it.kind && *version == *it.api_version())
                    .ok_or_else(|| format!("the server has no {kind} in {version}"))?;
                let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
                Ok(Request::new("POST", &path(resource, namespace, "")).json(object))
            }
            Self::Patch { object, patch, subresource } => {
                let path = format!("{}{subresource}", object.path(server)?);
                let body = patch.to_string();
                Ok(Request::new("PATCH", &path).content("application/merge-patch+json", body))
            }
            Self::Delete(object) => Ok(Request::new("DELETE", &object.path(server)?)),
            #[cfg(feature = "drive")]
            Self::Act(act) => act.request(server)?.ok_or_else(|| format!("{act}")),
        }
    }
}

impl Name {
    fn path(&self, server: &Server) -> Result<String, String> {
        let wanted = &self.kind;
        let mut resources = server.resources();
        let resource = resources.find(|it| {
            let qualified = it.qualified();
            *wanted == it.kind || *wanted == it.plural || *wanted == qualified
        });
        let resource = resource.ok_or_else(|| format!("the server has no {wanted}"))?;
        let (namespace, name) = self.name.split_once('/').unwrap_or(("default", &self.name));
        Ok(path(resource, namespace, &format!("/{name}")))
    }
}

fn path(resource: &Resource, namespace: &str, rest: &str) -> String {
    let root = match resource.group.as_str() {
        "" => format!("/api/{}", resource.version),
        group => format!("/apis/{group}/{}", resource.version),
    };
    let namespace = match resource.is_namespaced {
        true => format!("/namespaces/{namespace}"),
        false => String::new(),
    };
    format!("{root}{namespace}/{}{rest}", resource.plural)
}

/// The server's reason for refusing a step, if it refuses it.
pub(crate) fn refusal(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Response(response) if response.status < 300 => None,
        Answer::Response(response) => {
            let message = response.json().and_then(|it| it["message"].as_str());
            Some(format!("{}: {}", response.status, message.unwrap_or("no reason given")))
        }
        _ => Some("no answer".to_owned()),
    }
}
