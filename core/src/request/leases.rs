//! Leases of an API server, as the locks of an election.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::cancel::{CancelToken, Reason as Ended};
use crate::elector::{
    AsyncObjectStore, Call, Kind as _, LeaseSpec, Meta, Name, Object, ObjectName, ObjectStore,
    StoreError, Timestamp, Timing, Version,
};
use crate::runtime::Runtime;

use super::build::Request;
use super::client::Client;
use super::failure::RequestError;
use super::json::JsonError;
use super::patience::{block_on, nothing_drives};
use super::status::{Reason, Status};
use super::transport::{Transport, TransportKind};
use super::verb::Verb;

type Lease = Object<LeaseSpec>;

/// The Leases of a server, where a [`LeaseLock`](crate::elector::LeaseLock) keeps the record.
///
/// It has its own client, without a limiter and a back-off, because other calls must not delay a
/// renewal (`election:LK-6`). Calls are not repeated here; the elector repeats them. If a repeated
/// write ended in a conflict, it would be unknown whether it lost against another writer or against
/// its own first attempt (`election:LK-29`).
///
/// ```
/// # use seatrial_core::elector::{Config, Elector, LeaseLock, Timing};
/// # use seatrial_core::request::{Client, Leases, Transport};
/// # use seatrial_core::runtime::System;
/// # fn elect<T: Transport>(system: &System, client: Client<System, T>) {
/// let leases = Leases::new(client, &Timing::DEFAULT);
/// let lock = LeaseLock::new(leases, "default", "controller");
/// let elector = Elector::new(system, lock, Config::new("pod-1_4711"));
/// # drop(elector);
/// # }
/// ```
pub struct Leases<R: Runtime, T> {
    client: Client<R, T>,
    patience: Duration,
}

impl<R: Runtime, T: Transport> Leases<R, T> {
    /// Takes a client for an election with these times, which determine how long a call may take
    /// ([`Timing::request_timeout`]).
    pub fn new(client: Client<R, T>, timing: &Timing) -> Self {
        let mut client = client.with_limiter(None);
        client.backoff = None;
        Self { client, patience: timing.request_timeout() }
    }

    fn request(&self, verb: Verb, name: &ObjectName) -> Request {
        let request = self.client.request(verb, "/apis/coordination.k8s.io/v1");
        let request = request.namespace(name.namespace()).resource("leases");
        request.timeout(self.patience).max_retries(0)
    }

    fn get(&self, name: &ObjectName) -> Request {
        self.request(Verb::Get, name).name(name.name())
    }

    fn create(&self, lease: &Lease) -> Request {
        self.request(Verb::Post, &lease.meta.name).body_json(&encode(lease))
    }

    /// The update sends the version of the Lease, so a different one on the server is a conflict.
    fn update(&self, lease: &Lease) -> Result<Request, StoreError> {
        if lease.meta.version.is_empty() {
            return Err(StoreError::NotInitialised); // would overwrite any Lease
        }
        let request = self.request(Verb::Put, &lease.meta.name).name(lease.meta.name.name());
        Ok(request.body_json(&encode(lease)))
    }

    async fn send(&self, request: Request, token: &CancelToken<R>) -> Result<Lease, StoreError> {
        let reply = self.client.send(&request, token).await.map_err(|why| failure(&why))?;
        decode(reply.json().map_err(|why| failure(&why))?)
    }

    async fn send_alone(&self, request: Request) -> Result<Lease, StoreError> {
        self.send(request, &CancelToken::new(self.client.runtime())).await
    }

    fn send_blocking(&self, request: Request, call: Call<'_>) -> Result<Lease, StoreError> {
        let runtime = self.client.runtime();
        let token = match call.deadline {
            None => CancelToken::new(runtime),
            Some(deadline) => CancelToken::with_deadline(runtime, deadline),
        };
        let work = unless_given_up(call, self.send(request, &token));
        let told = block_on(runtime, || self.client.transport.lives(), work);
        told.unwrap_or_else(|| Err(failure(&nothing_drives())))
    }
}

/// Awaits `work` until its caller gives it up.
async fn unless_given_up(
    call: Call<'_>,
    work: impl Future<Output = Result<Lease, StoreError>>,
) -> Result<Lease, StoreError> {
    let (mut work, mut hook) = (pin!(work), None);
    std::future::poll_fn(|context| {
        if let Poll::Ready(result) = work.as_mut().poll(context) {
            return Poll::Ready(result);
        }
        let Some(token) = call.token else { return Poll::Pending };
        drop(hook.replace(token.on_end(context.waker().clone())));
        // Checked only after the hook is set, so that no end is missed.
        if token.is_cancelled() { Poll::Ready(Err(StoreError::Cancelled)) } else { Poll::Pending }
    })
    .await
}

impl<R: Runtime, T: Transport> ObjectStore<LeaseSpec> for Leases<R, T> {
    fn get(&self, name: &ObjectName, call: Call<'_>) -> Result<Lease, StoreError> {
        self.send_blocking(Self::get(self, name), call)
    }

    fn create(&self, lease: &Lease, call: Call<'_>) -> Result<Lease, StoreError> {
        self.send_blocking(Self::create(self, lease), call)
    }

    fn update(&self, lease: &Lease, call: Call<'_>) -> Result<Lease, StoreError> {
        self.send_blocking(Self::update(self, lease)?, call)
    }
}

impl<R: Runtime, T: Transport> AsyncObjectStore<LeaseSpec> for Leases<R, T> {
    async fn get(&self, name: &ObjectName) -> Result<Lease, StoreError> {
        self.send_alone(Self::get(self, name)).await
    }

    async fn create(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.send_alone(Self::create(self, lease)).await
    }

    async fn update(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.send_alone(Self::update(self, lease)?).await
    }
}

/// Translates a failure for an election, and tells whether the call may have had an effect.
fn failure(error: &RequestError) -> StoreError {
    match error {
        RequestError::Status(status) => refused(status),
        RequestError::Build(_) | RequestError::Body(_) => StoreError::Invalid(said(error)),
        RequestError::Ended(Ended::Cancelled) => StoreError::Cancelled,
        RequestError::Ended(Ended::DeadlineExceeded) => StoreError::Timeout,
        RequestError::Transport { last, .. } if last.kind() == TransportKind::Timeout => {
            StoreError::Timeout
        }
        _ => StoreError::Other(said(error)),
    }
}

fn refused(status: &Status) -> StoreError {
    let text = || Arc::from(status.to_string());
    for (reason, error) in [
        (Reason::NotFound, StoreError::NotFound),
        (Reason::AlreadyExists, StoreError::AlreadyExists),
        (Reason::Conflict, StoreError::Conflict),
        (Reason::Timeout, StoreError::Timeout),
    ] {
        if status.is(&reason) {
            return error;
        }
    }
    let is_invalid = status.is(&Reason::Invalid) || status.is(&Reason::BadRequest);
    if is_invalid { StoreError::Invalid(text()) } else { StoreError::Other(text()) }
}

/// An error with its causes, to be read by people.
fn said(error: &RequestError) -> Arc<str> {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text.into()
}

/// A Lease in the wire format, with the fields that an election reads.
#[derive(Deserialize)]
struct Wire {
    metadata: WireMeta,
    #[serde(default)]
    spec: Option<WireSpec>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMeta {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    resource_version: String,
    labels: Option<std::collections::BTreeMap<String, String>>,
    annotations: Option<std::collections::BTreeMap<String, String>>,
}

/// The spec of a Lease (`election:LK-11`). Absent fields are left out.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct WireSpec {
    holder_identity: Option<String>,
    lease_duration_seconds: Option<i32>,
    acquire_time: Option<String>,
    renew_time: Option<String>,
    lease_transitions: Option<i32>,
    strategy: Option<String>,
    preferred_holder: Option<String>,
}

/// Reads a Lease. All of it is sent back with the next update (`election:LK-2`).
fn decode(value: Value) -> Result<Lease, StoreError> {
    let no_lease = |why: String| StoreError::Other(format!("this is no Lease: {why}").into());
    // An array would be decoded as well, field by field, but could not be written back.
    let is_map = |part: &str| value[part].is_object();
    if !is_map("metadata") || !(is_map("spec") || value["spec"].is_null()) {
        return Err(no_lease("metadata and spec must be objects".to_owned()));
    }
    let Wire { metadata, spec } = serde_path_to_error::deserialize(&value).map_err(|why| {
        no_lease(JsonError::new(why.inner(), &why.path().to_string()).to_string())
    })?;
    let mut meta = Meta::new(ObjectName::new(&metadata.namespace, &metadata.name));
    meta.uid = Name::new(&metadata.uid);
    meta.version = Version::new(&metadata.resource_version);
    meta.labels = metadata.labels;
    meta.annotations = metadata.annotations;
    meta.rest = Some(Arc::new(value));
    let Some(spec) = spec else { return Ok(Object::new(meta, LeaseSpec::default())) };
    let time = |text: Option<String>| {
        let bad = || no_lease("a time of its spec is none".to_owned());
        text.map(|text| Timestamp::parse(&text).ok_or_else(bad)).transpose()
    };
    let name = |text: Option<String>| text.map(|text| Name::new(&text));
    let content = LeaseSpec::default()
        .holder(name(spec.holder_identity))
        .duration_seconds(spec.lease_duration_seconds)
        .acquire_time(time(spec.acquire_time)?)
        .renew_time(time(spec.renew_time)?)
        .transitions(spec.lease_transitions)
        .strategy(name(spec.strategy))
        .preferred_holder(name(spec.preferred_holder));
    Ok(Object::new(meta, content))
}

/// Writes a Lease as it was read, with the current record and labels.
fn encode(lease: &Lease) -> Value {
    let Object { meta, content, .. } = lease;
    let read = meta.rest.as_ref().and_then(|rest| rest.downcast_ref::<Value>());
    let mut value = read.cloned().unwrap_or_else(|| {
        json!({
            "apiVersion": LeaseSpec::API_VERSION,
            "kind": LeaseSpec::KIND,
            "metadata": { "name": meta.name.name(), "namespace": meta.name.namespace() },
        })
    });
    if let Some(labels) = &meta.labels {
        value["metadata"]["labels"] = json!(labels);
    }
    if let Some(annotations) = &meta.annotations {
        value["metadata"]["annotations"] = json!(annotations);
    }
    if !meta.version.is_empty() {
        value["metadata"]["resourceVersion"] = meta.version.to_string().into();
    }
    if !value["spec"].is_object() {
        value["spec"] = Value::Object(Map::new());
    }
    let text = |name: &Option<Name>| name.as_ref().map(|name| name.as_str().to_owned());
    let spec = json!(WireSpec {
        holder_identity: text(&content.holder),
        lease_duration_seconds: content.duration_seconds,
        acquire_time: content.acquire_time.map(micros),
        renew_time: content.renew_time.map(micros),
        lease_transitions: content.transitions,
        strategy: text(&content.strategy),
        preferred_holder: text(&content.preferred_holder),
    });
    if let (Value::Object(spec), Value::Object(old)) = (spec, &mut value["spec"]) {
        for (field, value) in spec {
            if value.is_null() { drop(old.remove(&field)) } else { drop(old.insert(field, value)) }
        }
    }
    value
}

/// A time with exactly six digits after the seconds (`election:LK-12`).
fn micros(time: Timestamp) -> String {
    let mut text = String::new();
    time.write_micros(&mut text);
    text
}

impl<R: Runtime, T> fmt::Debug for Leases<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("client", &self.client).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_list_is_no_lease() {
        let listed = json!([{ "name": "a" }, null]);
        let meta = json!({ "metadata": ["a", "ns", "uid", "1", null, null] });
        let spec =
            json!({ "metadata": { "name": "a" }, "spec": ["me", 15, null, null, 0, null, null] });
        for value in [listed, meta, spec, json!("a"), json!(null)] {
            assert!(matches!(decode(value), Err(StoreError::Other(_))));
        }
        let lease = json!({ "metadata": { "name": "a", "resourceVersion": "1" }, "spec": null });
        assert_eq!(encode(&decode(lease).unwrap())["metadata"]["resourceVersion"], "1");
    }
}
