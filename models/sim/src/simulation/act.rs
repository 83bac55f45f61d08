//! The steps of the user of processes, as they stand in a file.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::State;
use super::script::{Name, Step};
use crate::apiserver::{Request, Server, User};

/// One step of the user. In a file each is a map with one of these keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Act {
    /// Applies an object, as `kubectl apply --server-side` does.
    Apply(Value),
    /// Patches an object (RFC 7386).
    Patch(Patch),
    /// Deletes an object.
    Delete(Object),
    /// Waits until an object is so.
    Wait(Wait),
}

/// Names an object: a kind as in `StatefulSet` or `statefulsets.apps`, and `name` or `namespace/name`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// A patch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// What changes.
    pub patch: Value,
    /// The status is patched.
    #[serde(default)]
    pub status: bool,
}

/// What is waited for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// A pointer (RFC 6901) into the object; without it, the object itself.
    #[serde(default)]
    pub at: String,
    /// The value there. Without it anything will do, and `null` says that there is nothing.
    #[serde(default, deserialize_with = "present")]
    pub equals: Option<Value>,
}

/// A value that stands in the file, `null` too.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn named(kind: &str, name: &str) -> Name {
    Name { kind: kind.to_owned(), name: name.to_owned() }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Apply(object) => {
                let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
                write!(f, "apply {} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
            }
            Self::Patch(Patch { kind, name, .. }) => write!(f, "patch {kind} {name}"),
            Self::Delete(Object { kind, name }) => write!(f, "delete {kind} {name}"),
            Self::Wait(Wait { kind, name, at, .. }) => write!(f, "wait for {kind} {name} {at}"),
        }
    }
}

impl Act {
    /// The request of the step; none if there is nothing to ask for.
    pub(crate) fn request(&self, server: &Server) -> Result<Option<Request>, String> {
        let request = match self {
            Self::Apply(object) => apply(object, server)?,
            Self::Patch(Patch { kind, name, patch, status }) => {
                let subresource = if *status { "/status" } else { "" };
                let (object, patch) = (named(kind, name), patch.clone());
                Step::Patch { object, patch, subresource }.request(server)?
            }
            Self::Delete(Object { kind, name }) => {
                Step::Delete(named(kind, name)).request(server)?
            }
            Self::Wait(wait) => return wait.lacks(server).map_or(Ok(None), Err),
        };
        Ok(Some(request.by(User::admin())))
    }
}

impl Wait {
    fn lacks(&self, server: &Server) -> Option<String> {
        let mut resources = server.resources();
        let resource = resources.find(|it| {
            self.kind == it.kind || self.kind == it.plural || self.kind == it.qualified()
        });
        let Some(resource) = resource else {
            return Some(format!("the server has no {}", self.kind));
        };
        let key = match resource.is_namespaced && !self.name.contains('/') {
            true => format!("default/{}", self.name),
            false => self.name.clone(),
        };
        let state = State::of(server);
        let object = state.get(&resource.qualified(), &key);
        let found = object.and_then(|it| it.pointer(&self.at)).filter(|it| !it.is_null());
        let holds = match &self.equals {
            None => found.is_some(),
            Some(Value::Null) => found.is_none(),
            Some(wanted) => found == Some(wanted),
        };
        let found = || found.map_or("nothing".to_owned(), Value::to_string);
        (!holds).then(|| format!("there is {}", found()))
    }
}

/// The request that applies an object.
pub(crate) fn apply(object: &Value, server: &Server) -> Result<Request, String> {
    let mut request = Step::Create(object.clone()).request(server)?;
    let name = object["metadata"]["name"].as_str().ok_or("the object has no name")?;
    let path = format!("{}/{name}?fieldManager=user&force=true", request.path);
    request = Request::new("PATCH", &path);
    Ok(request.content("application/apply-patch+yaml", object.to_string()))
}
