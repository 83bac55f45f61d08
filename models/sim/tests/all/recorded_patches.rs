//! Patches and applies that a real server answered, replayed without a server around the functions.
//!
//! The objects are those of the recorded answers; their managed fields, which the recording lacks,
//! are our own from the first creation on. If a write changed nothing, managed fields included, the
//! recording shows it: the resource version stays.

use std::collections::BTreeMap;
use std::io::Read;

use seatrial_sim::patch::{self, Apply, PatchError, Types, Update};
use serde_json::{Map, Value, json};

const TIME: &str = "2026-01-01T00:00:00Z";

#[test]
fn recorded_patches_give_what_the_server_gave() {
    let crd = serde_json::from_str::<Value>(include_str!("../../conformance/apiserver/crd.json"))
        .unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let kinds = BTreeMap::from([
        ("widgets", Types::from_schema(schema).with_status()),
        ("configmaps", Types::built_in("", "v1", "ConfigMap").unwrap()),
        ("leases", Types::built_in("coordination.k8s.io", "v1", "Lease").unwrap()),
    ]);
    let mut seen = Seen::default();
    for file in ["patch", "lease", "finalizers"] {
        for trace in traces(file) {
            Replay { kinds: &kinds, objects: BTreeMap::new(), seen: &mut seen }.replay(&trace);
        }
    }
    println!("{} writes, {} refusals compared", seen.written, seen.refused);
    println!("{} lists of managed fields compared", seen.quoted);
    assert!(seen.wrong.is_empty(), "{} differ:\n{}", seen.wrong.len(), seen.wrong.join("\n"));
    assert!(seen.written > 1900 && seen.refused > 590 && seen.quoted > 10);
}

#[derive(Default)]
struct Seen {
    written: usize,
    refused: usize,
    quoted: usize,
    wrong: Vec<String>,
}

fn traces(file: &str) -> Vec<Value> {
    let path = format!("{}/conformance/apiserver/{file}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

struct Replay<'a> {
    kinds: &'a BTreeMap<&'static str, Types>,
    /// By path, with their managed fields.
    objects: BTreeMap<String, Value>,
    seen: &'a mut Seen,
}

/// One request of a trace.
struct Step<'a> {
    name: String,
    method: &'a str,
    /// The path of the object.
    path: String,
    resource: &'a str,
    subresource: &'a str,
    request: &'a Value,
    status: u64,
    answer: &'a Value,
}

impl Step<'_> {
    fn query(&self, name: &str) -> Option<&str> {
        let pairs = self.request["query"].as_array().unwrap();
        pairs.iter().find(|pair| pair[0] == name).map(|pair| pair[1].as_str().unwrap())
    }

    fn content_type(&self) -> &str {
        let whole = self.request["headers"]["Content-Type"].as_str().unwrap_or_default();
        whole.split(';').next().unwrap()
    }

    fn api_version(&self) -> &str {
        match self.resource {
            "widgets" => "sim.example.com/v1",
            "leases" => "coordination.k8s.io/v1",
            _ => "v1",
        }
    }

    fn manager(&self) -> &str {
        self.query("fieldManager").unwrap_or("trace-recorder")
    }

    fn update(&self) -> Update<'_> {
        Update {
            manager: self.manager(),
            api_version: self.api_version(),
            time: TIME,
            subresource: self.subresource,
        }
    }

    fn body(&self) -> Vec<u8> {
        match self.request["raw_body"].as_str() {
            Some(raw) => raw.as_bytes().to_vec(),
            None => self.request["body"].to_string().into_bytes(),
        }
    }
}

impl Replay<'_> {
    fn replay(&mut self, trace: &Value) {
        for step in trace["steps"].as_array().unwrap() {
            let Some(request) = step.get("request") else { continue };
            let path = request["path"].as_str().unwrap();
            let parts = path.split('/').collect::<Vec<_>>();
            let Some(at) = parts.iter().position(|part| *part == "namespaces") else { continue };
            let Some(resource) = parts.get(at + 2) else { continue };
            if !self.kinds.contains_key(resource) {
                continue;
            }
            let answer = &step["response"]["body"];
            let named = parts.get(at + 3).map(|name| (*name).to_owned());
            let name = named.or_else(|| answer["metadata"]["name"].as_str().map(str::to_owned));
            self.step(&Step {
                name: format!("{}#{}", trace["name"].as_str().unwrap(), step["i"]),
                method: request["method"].as_str().unwrap(),
                path: format!("{resource}/{}/{}", parts[at + 1], name.unwrap_or_default()),
                resource,
                subresource: parts.get(at + 4).copied().unwrap_or_default(),
                request,
                status: step["response"]["status"].as_u64().unwrap(),
                answer,
            });
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        let dry = step.query("dryRun") == Some("All") || !step.request["body"]["dryRun"].is_null();
        match step.method {
            "PATCH" => self.patch(step, dry),
            "POST" | "PUT" if !dry && step.status < 300 => {
                let old = self.objects.get(&step.path);
                let mut new = step.request["body"].clone();
                if !new.is_object() {
                    new = serde_json::from_slice(&step.body()).unwrap();
                }
                let kind = &self.kinds[step.resource];
                decode(step, &mut new);
                patch::track(old, &mut new, &step.update(), kind);
                self.keep(step, &new);
            }
            "DELETE" if !dry && step.status < 300 => match step.answer["kind"].as_str() {
                Some("Status") => drop(self.objects.remove(&step.path)),
                Some(kind) if kind.ends_with("List") => {
                    self.objects.retain(|path, _| {
                        !path.starts_with(&step.path) || step.query("dryRun").is_some()
                    });
                }
                _ => {
                    let old = self.objects.get(&step.path).cloned().unwrap_or_default();
                    self.keep(step, &old);
                }
            },
            _ => {}
        }
    }

    /// Keeps the recorded object with the managed fields of another.
    fn keep(&mut self, step: &Step<'_>, managed: &Value) {
        let mut object = step.answer.clone();
        if let Some(fields) = managed.pointer("/metadata/managedFields") {
            object["metadata"]["managedFields"] = fields.clone();
        }
        if is_gone(&object) {
            self.objects.remove(&step.path);
        } else {
            self.objects.insert(step.path.clone(), object);
        }
    }

    fn patch(&mut self, step: &Step<'_>, dry: bool) {
        let kind = &self.kinds[step.resource];
        let old = self.objects.get(&step.path);
        let apply = step.content_type() == "application/apply-patch+yaml";
        let unanswered =
            step.status == 415 || (step.resource, step.subresource) == ("configmaps", "status");
        let unnamed = apply && step.query("fieldManager").is_none();
        if unanswered || unnamed || (old.is_none() && (!apply || step.subresource == "status")) {
            return;
        }
        let result = self.perform(step, kind, old);
        match (result, step.status) {
            (Err(error), 400..) if is_ours(step.answer) => self.refused(step, &error),
            (Err(error), _) => self.wrong(step, &format!("refused: {error}"), step.answer),
            (Ok(_), 400..) if is_ours(step.answer) => self.wrong(step, "accepted", step.answer),
            (Ok(new), 400..) => self.quoted(step, &new),
            (Ok(new), _) => {
                let settled = settle(step, old, new);
                let stays = old.is_some_and(|old| patch::unchanged(old, &settled));
                self.compare(step, &settled, stays, dry);
                if !dry {
                    self.keep(step, &settled);
                }
            }
        }
    }

    fn perform(
        &self,
        step: &Step<'_>,
        kind: &Types,
        old: Option<&Value>,
    ) -> Result<Value, PatchError> {
        let body = step.body();
        let mut new = match (step.content_type(), old) {
            ("application/json-patch+json", Some(old)) => patch::json(old, &body)?,
            ("application/merge-patch+json", Some(old)) => patch::merge(old, &body)?,
            ("application/strategic-merge-patch+json", Some(old)) => {
                patch::strategic(old, &body, kind)?
            }
            _ => {
                let request = Apply {
                    manager: step.manager(),
                    force: step.query("force") == Some("true"),
                    api_version: step.api_version(),
                    time: TIME,
                    subresource: step.subresource,
                };
                let mut new = patch::apply(old, &step.request["body"], &request, kind)?;
                decode(step, &mut new);
                return Ok(new);
            }
        };
        decode(step, &mut new);
        patch::track(old, &mut new, &step.update(), kind);
        Ok(new)
    }

    /// A refusal of a patched object that cannot be read quotes it, with its managed fields.
    fn quoted(&mut self, step: &Step<'_>, new: &Value) {
        let message = step.answer["message"].as_str().unwrap_or_default();
        let Some((_, rest)) = message.split_once("patch: Invalid value: ") else { return };
        let text = serde_json::Deserializer::from_str(rest).into_iter::<String>().next().unwrap();
        let object = serde_json::from_str::<Value>(&text.unwrap()).unwrap();
        let mut theirs = object["metadata"]["managedFields"].clone();
        let mut ours = self.objects[&step.path]["metadata"]["managedFields"].clone();
        for list in [&mut theirs, &mut ours] {
            for entry in list.as_array_mut().unwrap() {
                entry.as_object_mut().unwrap().remove("time");
            }
        }
        self.seen.quoted += 1;
        assert!(new.is_object());
        if ours != theirs {
            self.wrong(step, &ours.to_string(), &theirs);
        }
    }

    fn refused(&mut self, step: &Step<'_>, error: &PatchError) {
        self.seen.refused += 1;
        let mut ours = json!({
            "code": error.status,
            "reason": error.reason,
            "message": error.message,
            "details": error.details,
        });
        if let Some(causes) = ours.pointer_mut("/details/causes").and_then(Value::as_array_mut) {
            causes.sort_by_key(|cause| (cause["field"].to_string(), cause["message"].to_string()));
        }
        for name in ["code", "reason", "message", "details"] {
            if ours[name] != step.answer[name] {
                self.wrong(step, &ours.to_string(), step.answer);
                return;
            }
        }
    }

    fn compare(&mut self, step: &Step<'_>, new: &Value, stays: bool, dry: bool) {
        self.seen.written += 1;
        let mut ours = new.clone();
        let mut theirs = step.answer.clone();
        let version = theirs["metadata"]["resourceVersion"].clone();
        for object in [&mut ours, &mut theirs] {
            for name in ["managedFields", "resourceVersion", "generation", "uid", "namespace"] {
                object["metadata"].as_object_mut().unwrap().remove(name);
            }
        }
        if ours != theirs {
            self.wrong(step, &ours.to_string(), &theirs);
        }
        let old = self.objects.get(&step.path);
        let stayed = old.is_some_and(|old| old["metadata"]["resourceVersion"] == version);
        if !dry && stays != stayed && !is_gone(step.answer) {
            let fields = |object: &Value| object["metadata"]["managedFields"].clone();
            let what = format!("stays {stays}: {}", fields(new));
            let before = old.map(fields).unwrap_or_default();
            self.wrong(step, &what, &before);
        }
    }

    fn wrong(&mut self, step: &Step<'_>, ours: &str, theirs: &Value) {
        let body = &step.request["body"];
        let (name, kind) = (&step.name, step.content_type());
        self.seen.wrong.push(format!("{name} {kind} {body}\n  ours   {ours}\n  theirs {theirs}"));
    }
}

/// Whether an answer is the last state of an object that is deleted now; it has its old version.
fn is_gone(object: &Value) -> bool {
    let finalizers = object["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty);
    object["metadata"]["deletionTimestamp"].is_string() && finalizers
}

/// Whether a refusal comes from the patch, and not from the server around it.
fn is_ours(answer: &Value) -> bool {
    let message = answer["message"].as_str().unwrap_or_default();
    ["the server rejected", "error decoding patch", "Apply failed", "metadata.managedFields"]
        .iter()
        .any(|start| message.starts_with(start))
}

/// The server's decoding of an object: it removes fields that the kind does not have, and empty
/// fields among those that every object has.
fn decode(step: &Step<'_>, object: &mut Value) {
    let known: &[&str] = match step.resource {
        "widgets" => &["apiVersion", "kind", "metadata", "spec", "status"],
        "leases" => &["apiVersion", "kind", "metadata", "spec"],
        _ => &["apiVersion", "kind", "metadata", "data", "binaryData", "immutable"],
    };
    let whole = object.as_object_mut().unwrap();
    whole.retain(|name, value| known.contains(&name.as_str()) && !value.is_null());
    for name in ["data", "metadata"] {
        let Some(members) = whole.get_mut(name).and_then(Value::as_object_mut) else { continue };
        if name == "data" {
            for value in members.values_mut().filter(|value| value.is_null()) {
                *value = json!("");
            }
        }
        members.retain(|name, value| {
            name == "managedFields"
                || !value.is_null()
                    && !value.as_array().is_some_and(Vec::is_empty)
                    && !value.as_object().is_some_and(Map::is_empty)
        });
    }
    if whole.get("data").and_then(Value::as_object).is_some_and(Map::is_empty) {
        whole.remove("data");
    }
    if let Some(spec) = whole.get_mut("spec").and_then(Value::as_object_mut) {
        let all = step.resource == "leases";
        let dropped = |name: &str| all || ["size", "color", "tags", "ports"].contains(&name);
        spec.retain(|name, value| !value.is_null() || !dropped(name));
    }
}

/// The server's work after the patch: it restores the parts that this write cannot change.
fn settle(step: &Step<'_>, old: Option<&Value>, mut new: Value) -> Value {
    let empty = json!({});
    let old = old.unwrap_or(&empty);
    let managed = new["metadata"]["managedFields"].clone();
    let back: &[&str] = match (step.resource, step.subresource) {
        ("widgets", "status") => &["spec", "metadata"],
        ("widgets", _) => &["status"],
        _ => &[],
    };
    for name in back {
        match old.get(*name) {
            Some(value) => new[*name] = value.clone(),
            None => drop(new.as_object_mut().unwrap().remove(*name)),
        }
    }
    let metadata = new["metadata"].as_object_mut().unwrap();
    for name in ["generation", "resourceVersion"] {
        metadata.remove(name);
        if let Some(value) = old.get("metadata").and_then(|metadata| metadata.get(name)) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    if !managed.is_null() {
        metadata.insert("managedFields".to_owned(), managed);
    }
    new
}
