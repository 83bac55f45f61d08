//! Events about objects, as `kubectl describe` shows them.
//!
//! ```no_run
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! # use kube::{Client, Resource};
//! use seatrial_kube::events::Recorder;
//!
//! # fn example(client: Client, map: &ConfigMap) {
//! let events = Recorder::new(client, "my-operator.example.com"); // once; put it into the context
//! events.warning(&map.object_ref(&()), "CopyFailed", "the bucket does not exist");
//! # }
//! ```
//!
//! The rules are those of client-go:
//!
//! * The same event again raises the count of the first one.
//! * From the tenth different message on within ten minutes, events of one type and reason about
//!   one object become a single one, "combined from similar events", which is counted.
//! * An object has 25 events at once, and one more every five minutes; others are dropped.
//!
//! Recording never waits: one task writes the events. If more than a thousand wait, or the server
//! refuses one, events are dropped: nothing may depend on them. The service account must be allowed
//! to create and patch events in the namespaces of the objects; events about an object in no
//! namespace are in `default`.

mod correlate;
mod recent;
mod write;

use std::fmt;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use seatrial_core::runtime::Tokio;
use tokio::sync::mpsc;

use write::Writer;

/// How many events may wait.
const WAITING: usize = 1_000;

/// The most bytes of a message, and of a reason, that a server takes.
const LONGEST: (usize, usize) = (1_024, 128);

/// Writes events. Cheap to clone; the last clone that is dropped ends the task once all events have
/// been written.
#[derive(Clone)]
pub struct Recorder {
    line: mpsc::Sender<Event>,
}

/// An event to be written.
#[derive(Clone, Debug)]
struct Event {
    about: ObjectReference,
    is_warning: bool,
    reason: String,
    message: String,
}

impl Recorder {
    /// Begins the task that writes events. The component is the name of your operator, such as
    /// `my-operator.example.com`.
    ///
    /// # Panics
    /// Outside of a tokio runtime: tokio's own panic.
    #[must_use]
    pub fn new(client: Client, component: &str) -> Self {
        Self::of_instance(&Tokio::current(), client, component, component)
    }

    /// As [`new`](Self::new), on an existing runtime and for one replica of the operator.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn of_instance(runtime: &Tokio, client: Client, component: &str, instance: &str) -> Self {
        let (line, events) = mpsc::channel(WAITING);
        let writer = Writer::new(runtime, client, component, instance);
        drop(tokio::spawn(writer.run(events)));
        Self { line }
    }

    /// Tells of something that goes as it should. The reason is one word, such as `Copied`.
    pub fn normal(&self, about: &ObjectReference, reason: &str, message: &str) {
        self.record(about, false, reason, message);
    }

    /// Tells of something that needs a person's attention. The reason is one word.
    pub fn warning(&self, about: &ObjectReference, reason: &str, message: &str) {
        self.record(about, true, reason, message);
    }

    fn record(&self, about: &ObjectReference, is_warning: bool, reason: &str, message: &str) {
        let (message, reason) = (cut(message, LONGEST.0), cut(reason, LONGEST.1));
        let event = Event { about: about.clone(), is_warning, reason, message };
        if self.line.try_send(event).is_err() {
            tracing::warn!(reason = "too many events wait", "an event is dropped");
        }
    }
}

/// Returns as much of a text as has that many bytes.
fn cut(text: &str, most: usize) -> String {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text[..end.unwrap_or_default()].to_owned()
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}
