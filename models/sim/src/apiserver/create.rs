//! `POST`.

use std::sync::Arc;

use serde_json::Value;

use super::admission::Wish;
use super::http::Response;
use super::metadata::{self, text};
use super::options::Writing;
use super::resource::{Resource, Shape};
use super::status::{Failure, Outcome};
use super::store::Key;
use super::{Call, Server, clock, decode, negotiate, options, types, update};

impl Server {
    pub(super) fn post(&mut self, call: &mut Call<'_>) -> Outcome<Response> {
        negotiate::require_known(call.request, call.resource())?;
        let writing = Self::writing(call, "CreateOptions")?;
        let resource = call.target.resource.clone();
        let request = call.request;
        let mut object = decode::body(&resource, request, writing.unknown, &mut call.warnings)?;
        check_namespace(&mut object, &call.target.namespace)?;
        let object = self.create(call, object, &writing, Origin::Post)?;
        Ok(Response::of(201, object))
    }

    /// Creates an object that was read and whose namespace fits.
    pub(super) fn create(
        &mut self,
        call: &mut Call<'_>,
        mut object: Value,
        writing: &Writing,
        origin: Origin,
    ) -> Outcome<Arc<Value>> {
        let resource = call.target.resource.clone();
        self.check_definition_lives(&resource, text(&object, "name"))?;
        self.check_namespace_lives(&resource, &call.target.namespace)?;
        let version = text(&object, "resourceVersion").to_owned();
        if origin == Origin::Post {
            for field in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"] {
                metadata::set(&mut object, field, Value::Null);
            }
        }
        if origin != Origin::Apply {
            self.track(call, None, &mut object, writing)?;
        }
        let mut wish = Wish::write(call, "CREATE", writing);
        wish.is_about(&object);
        let mut object = self.mutated(call, &wish, object, None)?;
        check_namespace(&mut object, &call.target.namespace)?;
        self.begin(&resource, &mut object);
        (resource.prepare)(&mut object, None);
        call.warnings.extend(metadata::dedup_owners(&mut object));
        call.warnings.extend(metadata::warnings(&resource, &object));
        let causes = update::validate_new(&resource, &object);
        if !causes.is_empty() {
            let kind = object["kind"].as_str().unwrap_or("");
            let (group, name) = (resource.kind_group(), text(&object, "name"));
            return Err(Failure::invalid(group, kind, name, &causes));
        }
        let is_set = options::version(&version).is_some_and(|version| version != 0);
        if origin == Origin::Post && is_set && !writing.is_dry {
            return Err(Failure::internal(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        wish.is_about(&object);
        self.approve(call, &wish, Some(&object), None)?;
        let key = Key::new(&call.target.namespace, text(&object, "name"));
        if let Some(stored) = self.stored(&resource, &key) {
            return Err(exists(&resource, &stored.object, &object));
        }
        if origin != Origin::Post {
            self.check_creation(call)?;
        }
        self.check_grant(call, None, &object)?;
        self.allocate(&resource, &mut object)?;
        let is_odd = decode::stored(&resource, &mut object, origin)?;
        self.keep(&resource, &key, object, (is_odd, writing.is_dry))
    }

    /// Gives a new object what the server decides.
    fn begin(&mut self, resource: &Resource, object: &mut Value) {
        metadata::set(object, "uid", self.random.uid());
        metadata::set(object, "creationTimestamp", clock::stamp(self.now));
        let prefix = text(object, "generateName").to_owned();
        if text(object, "name").is_empty() && !prefix.is_empty() {
            let prefix: String = prefix.chars().take(58).collect();
            let name = format!("{prefix}{}", self.random.suffix());
            metadata::set(object, "name", name);
        }
        if resource.counts_generation {
            metadata::set(object, "generation", 1);
        }
        if resource.has_status
            && resource.kind != "Node"
            && let Some(fields) = object.as_object_mut()
        {
            fields.remove("status");
            if let Shape::Struct(of) = &resource.shape
                && let Some(status) = types::zero_field(of, "status")
            {
                fields.insert("status".to_owned(), status);
            }
        }
    }

    /// Nothing is created in a namespace that is not there or that is on its way out.
    fn check_namespace_lives(&self, resource: &Resource, namespace: &str) -> Outcome<()> {
        let Some(namespaces) = self.registry.get("", "v1", "namespaces") else { return Ok(()) };
        if !resource.is_namespaced {
            return Ok(());
        }
        let Some(stored) = self.stored(namespaces, &Key::new("", namespace)) else {
            return Err(Failure::not_found(namespaces, namespace));
        };
        if metadata::is_terminating(&stored.object) {
            return Err(terminating(resource, namespace));
        }
        Ok(())
    }
}

/// The kind of request that makes a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Post,
    /// An update or a patch of an object that did not exist.
    Update,
    /// A server-side apply, which has already recorded the owners of the fields.
    Apply,
}

fn terminating(resource: &Resource, namespace: &str) -> Box<Failure> {
    let why = format!(
        "{} \"\" is forbidden: unable to create new content in namespace {namespace} because it is being terminated",
        resource.qualified()
    );
    let mut failure = Failure::new(403, "Forbidden", why);
    let mut details = super::status::details(&resource.group, &resource.plural, "");
    details["causes"] = serde_json::json!([{
        "reason": "NamespaceTerminating", "field": "metadata.namespace",
        "message": format!("namespace {namespace} is being terminated"),
    }]);
    failure.details = Some(details);
    failure
}

fn exists(resource: &Resource, old: &Value, new: &Value) -> Box<Failure> {
    let name = text(new, "name");
    let mut message = format!("{} \"{name}\" already exists", resource.qualified());
    let mut details = super::status::details(&resource.group, &resource.plural, name);
    if !text(new, "generateName").is_empty() {
        message.push_str(", the server was not able to generate a unique name for the object");
        details["retryAfterSeconds"] = 1.into();
    }
    if metadata::is_terminating(old) {
        message.insert_str(0, "object is being deleted: ");
    }
    let mut failure = Failure::new(409, "AlreadyExists", message);
    failure.details = Some(details);
    failure
}

/// The namespace of the path becomes the object's; another one is refused. Where there are no namespaces the
/// object loses its own.
pub(super) fn check_namespace(object: &mut Value, namespace: &str) -> Outcome<()> {
    let found = text(object, "namespace");
    if namespace.is_empty() {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("namespace");
        }
        return Ok(());
    }
    if !found.is_empty() && found != namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    metadata::set(object, "namespace", namespace);
    Ok(())
}
