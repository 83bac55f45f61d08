//! Events about the election, shown by `kubectl describe` of the Lease.

use k8s_openapi::api::core::v1::ObjectReference;
use seatrial_core::elector::{EventRecorder, LockEvent};

use crate::events;

/// Writes events of the election. An event that is refused, for example because the service account
/// may not write events, is dropped; the election does not depend on it.
#[derive(Debug)]
pub(super) struct Recorder(pub(super) events::Recorder);

impl EventRecorder for Recorder {
    fn record(&self, event: LockEvent) {
        let about = ObjectReference {
            api_version: Some(event.api_version.to_owned()),
            kind: Some(event.kind.to_owned()),
            namespace: Some(event.object.namespace().to_owned()),
            name: Some(event.object.name().to_owned()),
            uid: Some(event.uid.as_str().to_owned()),
            ..ObjectReference::default()
        };
        self.0.normal(&about, event.reason, &event.message);
    }
}
