//! Writes down the requests to a server and its answers, as a trace.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::normal;
use crate::apiserver::{Answer, Body, Events, Request, Response, WatchEvent, WatchId};
use crate::json;
use crate::protobuf;

/// The requests and answers so far. It holds a limited number of bytes: later ones are not written
/// down, and [`Recorder::is_full`] says so.
#[derive(Clone, Debug)]
pub struct Recorder {
    steps: Vec<Value>,
    /// How many bytes may still be written down.
    room: usize,
    is_full: bool,
    /// Owners of fields are written down as well, and that a watch said nothing.
    is_thorough: bool,
    open: BTreeMap<WatchId, Duration>,
}

impl Recorder {
    /// A recorder that holds up to `bytes` bytes of bodies; none if that is zero.
    pub fn within(bytes: usize) -> Option<Self> {
        let open = BTreeMap::new();
        let steps = Vec::new();
        let recorder = Self { steps, room: bytes, is_full: false, is_thorough: false, open };
        (bytes > 0).then_some(recorder)
    }

    /// The same, for a comparison with a server that no other client uses: the owners of fields are
    /// written down too, and that a watch said nothing.
    pub(super) fn thorough(mut self) -> Self {
        self.is_thorough = true;
        self
    }

    /// The token with which the list of the last answer goes on, if there is one.
    pub(super) fn last_token(&self) -> Option<String> {
        let token = &self.steps.last()?["response"]["body"]["metadata"]["continue"];
        token.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// Tells whether something was left out.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Writes down a request and its answer. Requests that are not about a resource, or were never
    /// answered, are left out.
    pub fn call(&mut self, now: Duration, request: &Request, answer: &Answer) {
        if !is_about_a_resource(&request.path) {
            return;
        }
        let asked = asked(request);
        match answer {
            Answer::Response(response) => {
                let given = given(response);
                self.add(json!({"op": "call", "request": asked, "response": given}));
            }
            Answer::Watch { id, head } => {
                let given = given(head);
                self.open.insert(*id, now);
                self.add(json!({
                    "op": "watch_open", "watch": name(*id), "request": asked, "response": given,
                }));
            }
            Answer::Lost => {}
        }
    }

    /// Writes down what a watch said, if it said anything.
    pub fn read(&mut self, now: Duration, id: WatchId, news: &Events) {
        let Some(opened) = self.open.get(&id).copied() else { return };
        let told = news.events.iter().filter(|event| is_told(event));
        let events: Vec<Value> = told.map(WatchEvent::to_json).collect();
        if events.is_empty() && !news.has_ended && !self.is_thorough {
            return;
        }
        let mut step = json!({"op": "watch_read", "watch": name(id), "events": events});
        if news.has_ended {
            self.open.remove(&id);
            step["op"] = "watch_wait_end".into();
            step["ended"] = "server".into();
            step["waited"] = now.saturating_sub(opened).as_secs().saturating_add(1).into();
        }
        self.add(step);
    }

    /// Writes down that a client hung up.
    pub fn close(&mut self, id: WatchId) {
        if self.open.remove(&id).is_some() {
            self.add(json!({"op": "watch_close", "watch": name(id)}));
        }
    }

    /// Everything as one line, with symbols for what the server chose.
    pub fn trace(&self, name: &str) -> String {
        let mut steps = self.steps.clone();
        let mut trace = normal::normalise(&mut steps, self.is_thorough);
        let has_watches = steps.iter().any(|step| step["op"] == "watch_open");
        trace["name"] = name.into();
        trace["file"] = if has_watches { "watch" } else { "crud" }.into();
        trace["steps"] = steps.into();
        trace.to_string()
    }

    fn add(&mut self, step: Value) {
        let size = size(&step);
        if self.is_full || size > self.room {
            self.is_full = true;
            return;
        }
        self.room -= size;
        self.steps.push(step);
    }
}

fn name(id: WatchId) -> String {
    format!("w{}", id.0)
}

/// A bookmark that ends the initial events counts; the others come when they like.
pub(super) fn is_told(event: &WatchEvent) -> bool {
    let end = "k8s.io/initial-events-end";
    event.kind != "BOOKMARK" || event.object["metadata"]["annotations"].get(end).is_some()
}

/// About how much memory a value takes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 32,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 32,
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| key.len() + 64 + size(value)).sum::<usize>() + 32
        }
        _ => 32,
    }
}

/// Discovery depends on everything that was ever declared, and no trace on discovery.
fn is_about_a_resource(path: &str) -> bool {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.first() {
        Some(&"api") => parts.len() > 2,
        Some(&"apis") => parts.len() > 3,
        _ => false,
    }
}

fn asked(request: &Request) -> Value {
    let of = request.header("Content-Type").unwrap_or("").split(';').next().unwrap_or("").trim();
    if of == protobuf::MEDIA_TYPE
        && let Ok(body) = protobuf::decode(&request.body)
    {
        // A trace is text: the same object is sent again as JSON.
        let mut readable = request.clone();
        readable.headers.retain(|(key, _)| !key.eq_ignore_ascii_case("Content-Type"));
        return asked(&readable.json(&body));
    }
    let kept = ["Accept", "Content-Type", "User-Agent"];
    let headers = request.headers.iter();
    let headers = headers.filter_map(|(key, value)| {
        let key = kept.iter().find(|kept| kept.eq_ignore_ascii_case(key))?;
        Some(((*key).to_owned(), value.as_str().into()))
    });
    let headers: Map<String, Value> = headers.collect();
    let mut asked = json!({
        "method": request.method, "path": request.path, "query": request.query, "headers": headers,
    });
    match json::parse(&request.body) {
        _ if request.body.is_empty() => asked["body"] = Value::Null,
        Ok((body, twice)) if twice.is_empty() && !body.is_null() => asked["body"] = body,
        _ => asked["raw_body"] = String::from_utf8_lossy(&request.body).into(),
    }
    asked
}

fn given(response: &Response) -> Value {
    let warnings = response.headers.iter().filter(|(key, _)| *key == "Warning");
    let warnings: Vec<_> = warnings.map(|(_, value)| value.as_str()).collect();
    let mut given = json!({
        "status": response.status, "content_type": response.header("Content-Type"),
        "body": match &response.body {
            Body::Json(body) | Body::Protobuf(body) => Value::clone(body),
            Body::Text(text) => text.as_str().into(),
            Body::Empty => Value::Null,
        },
    });
    if !warnings.is_empty() {
        given["warnings"] = warnings.into();
    }
    if let Some(after) = response.header("Retry-After") {
        given["retry_after"] = after.into();
    }
    given
}
