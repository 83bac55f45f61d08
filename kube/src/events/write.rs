//! Writing events, one after the other.

use std::time::Duration;

use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use seatrial_core::elector::Timestamp;
use seatrial_core::runtime::{Ambient as _, Tokio};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Event;
use super::correlate::Correlator;

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The task that writes events.
pub(super) struct Writer {
    client: Client,
    runtime: Tokio,
    component: String,
    instance: String,
    correlator: Correlator,
}

impl Writer {
    pub(super) fn new(runtime: &Tokio, client: Client, component: &str, instance: &str) -> Self {
        let (runtime, component) = (runtime.clone(), component.to_owned());
        let (instance, correlator) = (instance.to_owned(), Correlator::new());
        Self { client, runtime, component, instance, correlator }
    }

    /// Writes events until nobody can send more. Those that the server refuses are dropped.
    pub(super) async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        while let Some(event) = events.recv().await {
            let written = tokio::time::timeout(PATIENCE, self.write(&event)).await;
            match written {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "an event is dropped"),
                Err(_) => tracing::debug!("an event is dropped: the server is silent"),
            }
        }
    }

    async fn write(&mut self, event: &Event) -> kube::Result<()> {
        let Some((key, message)) = self.correlator.admit(event, self.runtime.now()) else {
            return Ok(());
        };
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Event"));
        let namespace = event.about.namespace.as_deref().unwrap_or("default");
        let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), namespace, &kind);
        let now = Timestamp::from(self.runtime.wall());
        let mut seconds = String::new();
        now.write_seconds(&mut seconds);
        let known = self.correlator.known(&key).clone();
        if !known.name.is_empty() {
            let count = known.count + 1;
            let more = json!({"count": count, "lastTimestamp": seconds, "message": message});
            let params = PatchParams::default();
            match api.patch(&known.name, &params, &Patch::Merge(more)).await {
                // The server removes events after a while.
                Err(Error::Api(status)) if status.code == 404 => self.correlator.forget(&key),
                result => {
                    self.correlator.known(&key).count = count;
                    return result.map(drop);
                }
            }
        }
        // Makes the names of two simultaneous events different.
        let unique = self.runtime.entropy();
        let about = event.about.name.as_deref().filter(|name| is_fit(name)).unwrap_or("unnamed");
        let name = format!("{about}.{unique:016x}");
        let content = self.content(event, &message, &seconds, now);
        let written = DynamicObject::new(&name, &kind).data(content);
        api.create(&PostParams::default(), &written).await?;
        let known = self.correlator.known(&key);
        (known.name, known.count) = (name, 1);
        Ok(())
    }

    fn content(&self, event: &Event, message: &str, seconds: &str, now: Timestamp) -> Value {
        json!({
            "involvedObject": event.about,
            "type": if event.is_warning { "Warning" } else { "Normal" },
            "reason": event.reason, "message": message, "action": event.reason, "count": 1,
            "firstTimestamp": seconds, "lastTimestamp": seconds, "eventTime": now.to_string(),
            "source": {"component": self.instance},
            "reportingComponent": self.component, "reportingInstance": self.instance,
        })
    }
}

/// Tells whether an event may be named after an object: its own name is a DNS subdomain of at most 253 bytes.
fn is_fit(name: &str) -> bool {
    let fits = |it: u8| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    name.len() <= 236 && name.bytes().all(fits)
}
