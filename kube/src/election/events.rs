//! Events about the election, shown by `kubectl describe` of the Lease.

use std::fmt;
use std::time::Duration;

use kube::Client;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use seatrial_core::elector::{EventRecorder, LockEvent, Timestamp};
use seatrial_core::runtime::{Ambient, Tokio};
use serde_json::json;

/// How long an event is being written, at most. Otherwise a server that never answers would collect
/// a task for every change of the leader.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes events of the core API group, each in its own task. An event that is refused, for example
/// because the service account may not write events, is dropped; the election does not depend on
/// it.
pub(super) struct Recorder {
    pub(super) client: Client,
    pub(super) runtime: Tokio,
    pub(super) identity: String,
}

impl EventRecorder for Recorder {
    fn record(&self, event: LockEvent) {
        let (namespace, name) = (event.object.namespace(), event.object.name());
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Event"));
        // Makes the names of two simultaneous events different.
        let unique = self.runtime.entropy();
        let now = Timestamp::from(self.runtime.wall());
        let mut seconds = String::new();
        now.write_seconds(&mut seconds);
        let content = json!({
            "involvedObject": {
                "apiVersion": event.api_version, "kind": event.kind,
                "namespace": namespace, "name": name, "uid": event.uid.as_str(),
            },
            "type": "Normal", "reason": event.reason, "message": event.message,
            "action": event.reason, "count": 1, "firstTimestamp": seconds,
            "lastTimestamp": seconds, "eventTime": now.to_string(),
            "source": {"component": self.identity},
            "reportingComponent": "seatrial-kube", "reportingInstance": self.identity,
        });
        let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), namespace, &kind);
        let event = DynamicObject::new(&format!("{name}.{unique:016x}"), &kind).data(content);
        drop(tokio::spawn(async move {
            let options = PostParams::default();
            drop(tokio::time::timeout(PATIENCE, api.create(&options, &event)).await);
        }));
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}
