//! How a controller speaks to the server.

use std::time::Duration;

use serde_json::{Value, json};

use crate::apiserver::{Answer, Request, Resource, Server, User};

/// A client inside the process.
pub(super) struct Client<'a> {
    server: &'a mut Server,
    pub(super) now: Duration,
    /// How many requests were refused or lost.
    pub(super) failures: usize,
    pub(super) room: Room,
    user: &'static str,
}

/// How many objects may still be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// How many objects of all kinds may still be made.
    pub(super) left: usize,
    pub(super) pods: usize,
    /// More were wanted.
    pub(super) is_short: bool,
}

impl Room {
    /// How many of the pods that are wanted may be made.
    pub(super) fn of(&mut self, wanted: usize) -> usize {
        let most = self.left.min(self.pods);
        self.is_short |= wanted > most;
        wanted.min(most)
    }

    /// Counts an object that is about to be made; tells whether it may be.
    fn take(&mut self, is_pod: bool) -> bool {
        let may = self.left > 0 && (self.pods > 0 || !is_pod);
        self.is_short |= !may;
        self.left -= usize::from(may);
        self.pods -= usize::from(may && is_pod);
        may
    }
}

/// The result of a look at one object.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Object(Value),
    Absent,
    /// The look failed: it may be there or not.
    Unknown,
}

/// A resource, and the path of its objects.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// `/api/v1` or `/apis/apps/v1`.
    pub(super) root: String,
    pub(super) plural: String,
    pub(super) kind: String,
    pub(super) is_namespaced: bool,
}

impl Place {
    pub(super) fn new(root: &str, plural: &str, kind: &str) -> Self {
        let (root, plural, kind) = (root.to_owned(), plural.to_owned(), kind.to_owned());
        Self { root, plural, kind, is_namespaced: true }
    }

    fn of(resource: &Resource) -> Self {
        let api = if resource.group.is_empty() { "/api" } else { "/apis" };
        Self {
            root: format!("{api}/{}", resource.api_version()),
            plural: resource.plural.clone(),
            kind: resource.kind.clone(),
            is_namespaced: resource.is_namespaced,
        }
    }

    /// The `apiVersion` of its objects.
    pub(super) fn version(&self) -> &str {
        self.root.splitn(3, '/').nth(2).unwrap_or("v1")
    }

    /// The path of all objects, in a namespace or in all of them.
    pub(super) fn path(&self, namespace: &str) -> String {
        let Self { root, plural, .. } = self;
        if namespace.is_empty() || !self.is_namespaced {
            format!("{root}/{plural}")
        } else {
            format!("{root}/namespaces/{namespace}/{plural}")
        }
    }

    /// The path of one object.
    pub(super) fn path_of(&self, object: &Value) -> String {
        format!("{}/{}", self.path(text(object, "namespace")), text(object, "name"))
    }
}

/// A text of the metadata; empty if there is none.
pub(super) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or("")
}

pub(super) fn is_terminating(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

impl<'a> Client<'a> {
    pub(super) fn new(
        server: &'a mut Server,
        now: Duration,
        user: &'static str,
        room: Room,
    ) -> Self {
        Self { server, now, failures: 0, room, user }
    }

    /// The time as objects have it.
    pub(super) fn stamp(&self) -> String {
        crate::apiserver::stamp(self.now)
    }

    /// Everything that is served and can be listed.
    pub(super) fn places(&self) -> Vec<Place> {
        self.server.resources().map(|resource| Place::of(resource)).collect()
    }

    /// Sends a request and returns its result. A failed request is tried again in the next round.
    fn ask(&mut self, request: Request) -> Found {
        let mut request = request.by(User::admin());
        request.headers.push(("User-Agent".to_owned(), self.user.to_owned()));
        match self.server.handle_exempt(self.now, &request) {
            Answer::Response(response) if response.status < 300 => {
                response.json().cloned().map_or(Found::Unknown, Found::Object)
            }
            // A request for a missing object is not a failure.
            Answer::Response(response) if response.status == 404 => Found::Absent,
            _ => {
                self.failures += 1;
                Found::Unknown
            }
        }
    }

    /// The answer, if it is a success.
    fn send(&mut self, request: Request) -> Option<Value> {
        match self.ask(request) {
            Found::Object(object) => Some(object),
            Found::Absent | Found::Unknown => None,
        }
    }

    pub(super) fn get(&mut self, path: &str) -> Found {
        self.ask(Request::new("GET", path))
    }

    /// The objects under a path, with their kind. None if the list fails: that is not the same as
    /// an empty one.
    pub(super) fn list(&mut self, place: &Place, namespace: &str) -> Option<Vec<Value>> {
        let mut list = self.send(Request::new("GET", &place.path(namespace)))?;
        let mut items = std::mem::take(list["items"].as_array_mut()?);
        for item in &mut items {
            item["kind"] = place.kind.as_str().into();
            item["apiVersion"] = place.version().into();
        }
        Some(items)
    }

    pub(super) fn create(&mut self, path: &str, object: &Value) -> Option<Value> {
        if !self.room.take(path.ends_with("/pods")) {
            return None;
        }
        self.send(Request::new("POST", path).json(object))
    }

    pub(super) fn put(&mut self, path: &str, object: &Value) -> Option<Value> {
        self.send(Request::new("PUT", path).json(object))
    }

    pub(super) fn merge(&mut self, path: &str, patch: &Value) -> Option<Value> {
        let kind = "application/merge-patch+json";
        self.send(Request::new("PATCH", path).content(kind, patch.to_string()))
    }

    /// Writes the status, unless it is as it should be.
    pub(super) fn set_status(&mut self, place: &Place, object: &Value, status: &Value) {
        if object["status"] == *status {
            return;
        }
        let mut object = object.clone();
        object["status"] = status.clone();
        self.put(&format!("{}/status", place.path_of(&object)), &object);
    }

    /// What the objects of a namespace use of what a quota limits.
    pub(super) fn used(&self, namespace: &str, spec: &Value) -> Value {
        self.server.used(namespace, spec)
    }

    /// Deletes this very object, with a propagation policy.
    pub(super) fn delete(&mut self, place: &Place, object: &Value, policy: &str) {
        let uid = &object["metadata"]["uid"];
        let options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": {"uid": uid}, "propagationPolicy": policy,
        });
        self.send(Request::new("DELETE", &place.path_of(object)).json(&options));
    }
}
