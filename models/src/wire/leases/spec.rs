//! A lock in a Lease over requests, as a sequential object, optionally with a mistake.

use seatrial_core::machine::{Cx, Machine, Step};
use serde_json::{Map, Value, json};

use super::machine::{Call, Said, TIMES};
use super::server::{Answer, NAME, PATH, Server};
use crate::shared::Mistake;

/// A lock, its server, and the Lease that it has seen.
#[derive(Clone, PartialEq, Debug)]
pub struct Spec {
    mistake: Mistake,
    server: Server,
    /// The Lease that was read or written last.
    seen: Option<Value>,
    sent: Vec<(String, Option<Value>)>,
}

impl Default for Spec {
    fn default() -> Self {
        Self::with("")
    }
}

/// The name of an error.
type Failed = &'static str;

impl Spec {
    pub(super) fn with(mistake: Mistake) -> Self {
        Self { mistake, server: Server::default(), seen: None, sent: Vec::new() }
    }

    /// Carries out a step, and returns its result.
    pub fn call(&mut self, call: &Call) -> Said {
        let one = format!("{PATH}/{NAME}");
        let result = match *call {
            Call::Others(change) => {
                self.server.change(change);
                Ok(String::new())
            }
            Call::Next(trouble) => {
                self.server.next = Some(trouble);
                Ok(String::new())
            }
            Call::Get => self.ask("GET", &one, None),
            Call::Create(holder, number) => {
                let lease = self.lease(None, holder, number);
                self.ask("POST", PATH, Some(lease))
            }
            Call::Update(holder, number) => match self.seen.clone() {
                None => Err("NotInitialised"),
                Some(seen) => {
                    let lease = self.lease(Some(seen), holder, number);
                    self.ask("PUT", &one, Some(lease))
                }
            },
        };
        let told = result.unwrap_or_else(str::to_owned);
        let kept = self.server.lease.clone();
        Said { told, sent: std::mem::take(&mut self.sent), kept }
    }

    /// Sends one request, and remembers the Lease in the answer.
    fn ask(&mut self, verb: &str, path: &str, body: Option<Value>) -> Result<String, Failed> {
        if self.mistake == "takes_turns" {
            return Err("Other");
        }
        let told = if self.mistake == "tells_no_timeout" { "" } else { "?timeout=5s" };
        let target = format!("{path}{told}");
        self.sent.push((format!("{verb} {target}"), body.clone()));
        let mut answer = self.server.serve(verb, &target, body.as_ref());
        let is_again = match answer {
            Answer::Breaks => self.mistake == "repeats_lost",
            Answer::Says(code, _) => {
                self.mistake == "repeats_refused" && (code == 429 || code >= 500)
            }
            Answer::Silence => false,
        };
        if is_again {
            self.sent.push((format!("{verb} {target}"), body.clone()));
            answer = self.server.serve(verb, &target, body.as_ref());
        }
        let result = self.meaning(verb, answer);
        match &result {
            Ok(lease) => self.seen = Some(lease.clone()),
            Err(_) if self.mistake == "forgets_on_failure" => self.seen = None,
            Err(_) if self.mistake == "remembers_what_failed" && body.is_some() => self.seen = body,
            Err(_) => {}
        }
        result.map(|lease| summary(&lease))
    }

    fn meaning(&self, verb: &str, answer: Answer) -> Result<Value, Failed> {
        let (code, text) = match answer {
            Answer::Silence if self.mistake == "waits_for_ever" => return Err("hangs"),
            Answer::Silence => return Err("Timeout"),
            Answer::Breaks if self.mistake == "lost_is_known" => return Err("Conflict"),
            Answer::Breaks => return Err("Other"),
            Answer::Says(code, text) => (code, text),
        };
        match code {
            200 | 201 => self.read(&text),
            404 => Err("NotFound"),
            409 if verb == "POST" && self.mistake != "exists_is_conflict" => Err("AlreadyExists"),
            409 => Err(if self.mistake == "conflict_is_other" { "Other" } else { "Conflict" }),
            400 | 422 => Err(if self.mistake == "invalid_is_other" { "Other" } else { "Invalid" }),
            504 => Err("Timeout"),
            _ => Err("Other"),
        }
    }

    /// Reads a Lease; fails if one of its times is no time.
    fn read(&self, text: &str) -> Result<Value, Failed> {
        let lease: Value = serde_json::from_str(text).expect("the server speaks JSON");
        for time in ["acquireTime", "renewTime"] {
            match lease["spec"][time].as_str() {
                None if self.mistake == "needs_times" => return Err("Other"),
                Some("yesterday") => return Err("Other"),
                _ => {}
            }
        }
        Ok(lease)
    }

    /// Writes a record into a Lease, or into a new one (`election:LK-2`).
    fn lease(&self, seen: Option<Value>, holder: &str, number: u8) -> Value {
        let name = json!({ "name": NAME, "namespace": "default" });
        let new = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": name, "spec": {},
        });
        let mut lease = match &seen {
            Some(seen) if self.mistake != "whole_is_new" => seen.clone(),
            _ => new,
        };
        let version = seen.map(|seen| seen["metadata"]["resourceVersion"].clone());
        if let Some(version) = version {
            lease["metadata"]["resourceVersion"] = version;
        }
        if self.mistake == "names_no_version" {
            fields(&mut lease["metadata"]).remove("resourceVersion");
        }
        if self.mistake == "labels_are_new" {
            lease["metadata"]["labels"] = json!({});
        }
        if self.mistake != "labels_are_lost" {
            fields(&mut lease["metadata"]["labels"]).insert("app".to_owned(), "web".into());
        }
        if self.mistake == "spec_is_new" {
            lease["spec"] = Value::Null;
        }
        self.write(fields(&mut lease["spec"]), holder, number);
        lease
    }

    fn write(&self, spec: &mut Map<String, Value>, holder: &str, number: u8) {
        let time = |text: &str| match self.mistake {
            "writes_nanos" => text.replace('Z', "000Z"),
            "writes_seconds" => format!("{}Z", &text[..19]),
            _ => text.to_owned(),
        };
        let renewed = TIMES[usize::from(number) % 3].1;
        for (field, value) in [
            ("holderIdentity", json!(holder)),
            ("leaseDurationSeconds", json!(15)),
            ("leaseTransitions", json!(number)),
            ("acquireTime", json!(time(TIMES[0].1))),
            ("renewTime", json!(time(renewed))),
        ] {
            spec.insert(field.to_owned(), value);
        }
        for field in ["strategy", "preferredHolder"] {
            if self.mistake == "writes_nulls" {
                spec.insert(field.to_owned(), Value::Null);
            } else {
                spec.remove(field);
            }
        }
    }
}

impl Machine for Spec {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(self.call(call))
    }
}

/// Returns the fields of an object. A value that is no object becomes an empty one.
fn fields(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("it is one now")
}

/// The text that a caller gets about a Lease.
fn summary(lease: &Value) -> String {
    const THEIRS: [(i64, &str); 2] = [
        (1_700_000_003_000_000, "2023-11-14T22:13:23Z"),
        (1_700_000_000_123_456, "2023-11-14T22:13:20.123456789Z"),
    ];
    let spec = &lease["spec"];
    let known = |text: &str| {
        TIMES
            .iter()
            .chain(&THEIRS)
            .find(|time| text.starts_with(&time.1[..19]) && same(text, time.1))
    };
    let times = ["acquireTime", "renewTime"]
        .map(|time| spec[time].as_str().and_then(known).map(|known| known.0));
    let number = |field: &str| spec[field].as_i64().unwrap_or(0);
    let holder = spec["holderIdentity"].as_str().unwrap_or_default();
    let version = lease["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let [seconds, transitions] = ["leaseDurationSeconds", "leaseTransitions"].map(number);
    format!("{holder} {seconds} {transitions} {times:?} {version}")
}

/// Whether two texts of the same second mean the same time: trailing zeros do not count.
fn same(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        text[19..].trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    bare(one) == bare(other)
}
