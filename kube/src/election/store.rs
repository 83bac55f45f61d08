//! Leases on an API server, for the elector: compare-and-swap on the resource version.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use seatrial_core::elector::{
    AsyncObjectStore, LeaseSpec, Meta, Name, Object, ObjectName, StoreError, Timestamp, Version,
};
use serde_json::{Map, Value};

use super::work::Runs;

/// The Leases that a client can reach, as a store for core's
/// [`LeaseLock`](seatrial_core::elector::LeaseLock).
///
/// An update sends the resource version that was read, so of two writers one is refused. Fields of
/// the Lease that the election does not use are sent back unchanged.
#[derive(Clone)]
pub struct LeaseStore {
    client: Client,
    kind: ApiResource,
    patience: Duration,
    /// The work that a Lease protects.
    runs: Runs,
}

impl LeaseStore {
    /// Makes a store. Requests are given up after `patience`.
    #[must_use]
    pub fn new(client: Client, patience: Duration) -> Self {
        let kind = GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease");
        Self { client, kind: ApiResource::from_gvk(&kind), patience, runs: Runs::default() }
    }

    /// Makes the store refuse to free a Lease while that work may still run.
    pub(super) fn protecting(self, runs: Runs) -> Self {
        Self { runs, ..self }
    }

    fn api(&self, name: &ObjectName) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), name.namespace(), &self.kind)
    }

    async fn limited(
        &self,
        call: impl Future<Output = kube::Result<DynamicObject>>,
    ) -> Result<Object<LeaseSpec>, StoreError> {
        match tokio::time::timeout(self.patience, call).await {
            Ok(Ok(lease)) => Ok(read(lease)),
            Ok(Err(error)) => Err(refusal(&error)),
            Err(_elapsed) => Err(StoreError::Timeout),
        }
    }
}

impl AsyncObjectStore<LeaseSpec> for LeaseStore {
    async fn get(&self, name: &ObjectName) -> Result<Object<LeaseSpec>, StoreError> {
        self.limited(self.api(name).get(name.name())).await
    }

    async fn create(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        let lease = written(object, &self.kind);
        let api = self.api(&object.meta.name);
        self.limited(api.create(&PostParams::default(), &lease)).await
    }

    async fn update(&self, object: &Object<LeaseSpec>) -> Result<Object<LeaseSpec>, StoreError> {
        if object.meta.version.is_empty() {
            return Err(StoreError::NotInitialised); // would overwrite any Lease
        }
        if self.runs.get() && object.content.holder.as_ref().is_none_or(Name::is_empty) {
            return Err(StoreError::Other("the work still runs".into()));
        }
        let lease = written(object, &self.kind);
        let (api, name) = (self.api(&object.meta.name), object.meta.name.name());
        self.limited(api.replace(name, &PostParams::default(), &lease)).await
    }
}

/// Translates an error for the elector. A write certainly failed only if the server answered so.
fn refusal(error: &kube::Error) -> StoreError {
    let kube::Error::Api(status) = error else {
        return StoreError::Other(error.to_string().into());
    };
    match (status.code, status.reason.as_str()) {
        (404, _) => StoreError::NotFound,
        (409, "AlreadyExists") => StoreError::AlreadyExists,
        (409, _) => StoreError::Conflict,
        (422, _) => StoreError::Invalid(status.message.as_str().into()),
        _ => StoreError::Other(format!("{} {}", status.code, status.message).into()),
    }
}

fn read(lease: DynamicObject) -> Object<LeaseSpec> {
    let metadata = &lease.metadata;
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let mut meta = Meta::new(ObjectName::new(&text(&metadata.namespace), &text(&metadata.name)));
    meta.uid = Name::new(&text(&metadata.uid));
    meta.version = Version::new(&text(&metadata.resource_version));
    meta.labels.clone_from(&metadata.labels);
    meta.annotations.clone_from(&metadata.annotations);
    let content = spec_of(lease.data.get("spec").unwrap_or(&Value::Null));
    meta.rest = Some(Arc::new(lease));
    Object::new(meta, content)
}

/// Reads a spec. A field of the wrong type counts as absent; servers do not store any.
fn spec_of(spec: &Value) -> LeaseSpec {
    let name = |field: &str| spec.get(field).and_then(Value::as_str).map(Name::new);
    let number = |field: &str| spec.get(field).and_then(Value::as_i64)?.try_into().ok();
    let time = |field: &str| spec.get(field).and_then(Value::as_str).and_then(Timestamp::parse);
    LeaseSpec::default()
        .holder(name("holderIdentity"))
        .duration_seconds(number("leaseDurationSeconds"))
        .acquire_time(time("acquireTime"))
        .renew_time(time("renewTime"))
        .transitions(number("leaseTransitions"))
        .strategy(name("strategy"))
        .preferred_holder(name("preferredHolder"))
}

/// Writes an object into the one that was received, if any.
fn written(object: &Object<LeaseSpec>, kind: &ApiResource) -> DynamicObject {
    let received = object.meta.rest.as_ref().and_then(|rest| rest.downcast_ref::<DynamicObject>());
    let fresh = || DynamicObject::new(object.meta.name.name(), kind);
    let mut lease = received.cloned().unwrap_or_else(fresh);
    let version = &object.meta.version;
    lease.metadata.namespace = Some(object.meta.name.namespace().to_owned());
    lease.metadata.resource_version = (!version.is_empty()).then(|| version.to_string());
    lease.metadata.labels.clone_from(&object.meta.labels);
    lease.metadata.annotations.clone_from(&object.meta.annotations);
    if !lease.data.is_object() {
        lease.data = Value::Object(Map::new());
    }
    let spec = &mut lease.data["spec"];
    if !spec.is_object() {
        *spec = Value::Object(Map::new());
    }
    write_spec(spec, &object.content);
    lease
}

fn write_spec(spec: &mut Value, content: &LeaseSpec) {
    let mut set = |field: &str, value: Option<Value>| {
        let Value::Object(fields) = &mut *spec else { return };
        match value {
            Some(value) => drop(fields.insert(field.to_owned(), value)),
            None => drop(fields.remove(field)),
        }
    };
    let name = |name: &Option<Name>| name.as_ref().map(|name| Value::from(name.as_str()));
    let time = |time: Option<Timestamp>| time.map(|time| Value::from(time.to_string()));
    set("holderIdentity", name(&content.holder));
    set("leaseDurationSeconds", content.duration_seconds.map(Value::from));
    set("acquireTime", time(content.acquire_time));
    set("renewTime", time(content.renew_time));
    set("leaseTransitions", content.transitions.map(Value::from));
    set("strategy", name(&content.strategy));
    set("preferredHolder", name(&content.preferred_holder));
}

impl fmt::Debug for LeaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseStore").field("patience", &self.patience).finish_non_exhaustive()
    }
}
