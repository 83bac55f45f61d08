//! Walks a trace.

use std::collections::BTreeMap;
use std::io::{Result, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::compare::Comparison;
use super::record::is_told;
use super::{Departure, Simulated, Step, Target, Trace, rules_of};
use crate::apiserver::{Answer, Body, Request, Response, Server, WatchEvent, WatchId};

/// The result of a replay.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The departures of our server from the recording.
    pub departures: Vec<Departure>,
    /// How many texts for people, content types and warnings differ.
    pub loose: usize,
    /// The texts that differ: the recorded one, and ours.
    pub texts: Vec<(String, String)>,
}

/// Replays a trace against a server that has the resources which the trace is about. The server is
/// given the trace's namespaces first.
pub fn replay(trace: &Trace, server: Server) -> Report {
    replay_on(trace, &mut Simulated::new(server), "trace-ns-of", &mut |_| {})
}

/// The same against any server. The namespaces are called `namespaces-1` and so on; each request is
/// shown before it is sent.
pub fn replay_on(
    trace: &Trace,
    target: &mut dyn Target,
    namespaces: &str,
    sees: &mut dyn FnMut(&Request),
) -> Report {
    let comparison = Comparison::default();
    let mut replay = Replay { target, sees, comparison, watches: BTreeMap::new() };
    for index in 1..=trace.namespaces {
        let name = format!("{namespaces}-{index}");
        replay.comparison.symbols.bind(&format!("ns-{index}"), &name);
        let body = json!({"metadata": {"name": name}});
        replay.handle(&Request::new("POST", "/api/v1/namespaces").json(&body));
    }
    for (index, step) in trace.steps.iter().enumerate() {
        replay.comparison.step = index;
        replay.comparison.rules = rules_of(step);
        replay.target.pass(Duration::from_millis(10));
        replay.step(step);
    }
    let mut comparison = replay.comparison;
    if let Some((recorded, ours)) = comparison.symbols.disorder() {
        comparison.depart("/order of versions", recorded, ours);
    }
    Report { departures: comparison.departures, loose: comparison.loose, texts: comparison.texts }
}

struct Replay<'a> {
    target: &'a mut dyn Target,
    sees: &'a mut dyn FnMut(&Request),
    comparison: Comparison,
    watches: BTreeMap<String, WatchId>,
}

impl Replay<'_> {
    fn handle(&mut self, request: &Request) -> Answer {
        (self.sees)(request);
        self.target.send(request)
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Call { request, response } => {
                let answer = self.send(request);
                match answer {
                    Answer::Response(ours) => self.response(response, &ours),
                    other => self.comparison.depart("/", "a response", format!("{other:?}")),
                }
            }
            Step::Open { watch, request, response } => match self.send(request) {
                Answer::Response(ours) => self.response(response, &ours),
                Answer::Lost => self.comparison.depart("/", "an answer", "nothing"),
                Answer::Watch { id, head } => {
                    self.watches.insert(watch.clone(), id);
                    if response["status"] != head.status {
                        self.comparison.depart("/status", &response["status"], head.status);
                    }
                }
            },
            Step::Read { watch, events, has_ended, waits } => {
                self.read(watch, events, *has_ended, *waits);
            }
            Step::Close { watch } => {
                if let Some(id) = self.watches.remove(watch) {
                    self.target.close(id);
                }
            }
            Step::Compact => {
                if !self.target.compact() {
                    self.comparison.depart("/", "a compaction", "none");
                }
            }
        }
    }

    fn send(&mut self, recorded: &Value) -> Answer {
        let symbols = &mut self.comparison.symbols;
        let part = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let query = recorded["query"].as_array().into_iter().flatten();
        let headers = recorded["headers"].as_object().into_iter().flatten();
        let mut headers: Vec<_> = headers.map(|(key, value)| (key.clone(), part(value))).collect();
        headers.push(("User-Agent".to_owned(), "trace-recorder".to_owned()));
        let request = Request {
            by: None,
            method: part(&recorded["method"]),
            path: symbols.text(&part(&recorded["path"])),
            query: query.map(|pair| (part(&pair[0]), symbols.text(&part(&pair[1])))).collect(),
            headers,
            body: match (recorded.get("raw_body"), &recorded["body"]) {
                (Some(raw), _) => symbols.text(&part(raw)).into_bytes(),
                (None, Value::Null) => Vec::new(),
                (None, body) => spaced(&symbols.body(body)),
            },
        };
        self.handle(&request)
    }

    fn response(&mut self, recorded: &Value, ours: &Response) {
        let comparison = &mut self.comparison;
        if recorded["status"] != ours.status {
            let found = format!("{} {}", ours.status, text(&ours.body));
            let expected = format!("{} {}", recorded["status"], recorded["body"]["message"]);
            comparison.depart("/status", expected, found);
            return;
        }
        let body = match &ours.body {
            Body::Json(body) | Body::Protobuf(body) => Value::clone(body),
            Body::Text(text) => text.as_str().into(),
            Body::Empty => Value::Null,
        };
        comparison.value("/body", "", &recorded["body"], &body);
        let retry = recorded["retry_after"].as_str();
        if retry != ours.header("Retry-After") {
            comparison.depart("/retry_after", &recorded["retry_after"], format!("{ours:?}"));
        }
        let kind = recorded["content_type"].as_str().unwrap_or("");
        comparison.text(kind, ours.header("Content-Type").unwrap_or(""));
        let warnings = recorded["warnings"].as_array().into_iter().flatten();
        let warnings: Vec<_> = warnings.filter_map(Value::as_str).collect();
        let own = ours.headers.iter().filter(|(key, _)| *key == "Warning");
        let own: Vec<_> = own.map(|(_, value)| value.as_str()).collect();
        comparison.text(&warnings.join("\n"), &own.join("\n"));
    }

    fn read(&mut self, watch: &str, events: &Value, has_ended: bool, waits: Option<Duration>) {
        let Some(id) = self.watches.get(watch).copied() else { return };
        self.target.pass(waits.unwrap_or_default());
        let ours = self.target.events(id);
        let own = ours.events.iter().filter(|event| is_told(event));
        let own: Value = own.map(WatchEvent::to_json).collect();
        self.comparison.value("/events", "", events, &own);
        if has_ended != ours.has_ended {
            self.comparison.depart("/ended", has_ended, ours.has_ended);
        }
    }
}

/// A body byte for byte as the recorder wrote it: with a space after each comma and colon.
fn spaced(body: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
    match serde::Serialize::serialize(body, &mut writer) {
        Ok(()) => bytes,
        Err(_) => body.to_string().into_bytes(),
    }
}

struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> Result<()> {
        to.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> Result<()> {
        to.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        to.write_all(b": ")
    }
}

fn text(body: &Body) -> String {
    let text = String::from_utf8_lossy(&body.bytes()).into_owned();
    text.chars().take(300).collect()
}
