//! Programs of requests, made up at random, as traces of our own server.

use serde_json::{Value, json};

use super::{Recorder, Simulated, Target, Trace, world};
use crate::apiserver::{Answer, Random, Request, WatchId};

const NAMESPACE: &str = "made-up";
/// A program is a few hundred kilobytes at most.
const ROOM: usize = 64 * 1024 * 1024;

/// Runs a made-up program of `steps` steps on our server, and gives back what it answered. The same
/// seed is the same program.
pub fn program(seed: u64, steps: usize) -> Result<Trace, String> {
    let mut target = Simulated::new(world(seed));
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    target.send(&Request::new("POST", "/api/v1/namespaces").json(&namespace));
    let recorder = Recorder::within(ROOM).ok_or("there is no room for a program")?;
    let (random, held) = (Random::new(seed), vec![Value::Null; 4]);
    let mut maker = Maker { random, target, recorder, held, watches: Vec::new() };
    for _ in 0..steps {
        maker.step();
    }
    while let Some(id) = maker.watches.pop() {
        maker.read(id);
    }
    let line = maker.recorder.trace(&format!("program-{seed}"));
    let mut trace = Trace::parse(&line.replace(NAMESPACE, "ns-1"))?;
    trace.namespaces = 1;
    Ok(trace)
}

struct Maker {
    random: Random,
    target: Simulated,
    recorder: Recorder,
    /// Objects that were read or written, some of them old by now.
    held: Vec<Value>,
    watches: Vec<WatchId>,
}

impl Maker {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn send(&mut self, request: &Request) {
        let mut request = request.clone();
        request.headers.push(("User-Agent".to_owned(), "trace-recorder".to_owned()));
        let answer = self.target.send(&request);
        self.recorder.call(self.target.now, &request, &answer);
        match answer {
            Answer::Watch { id, .. } => self.watches.push(id),
            Answer::Response(response) => {
                let object = response.json().filter(|it| !it["metadata"]["uid"].is_null());
                if let Some(object) = object.cloned() {
                    let place = self.below(4);
                    self.held[place] = object;
                }
            }
            Answer::Lost => {}
        }
    }

    fn read(&mut self, id: WatchId) {
        let events = self.target.events(id);
        self.recorder.read(self.target.now, id, &events);
    }

    /// A path of objects, and the kind of those.
    fn place(&mut self) -> (String, &'static str, &'static str) {
        let (group, plural, version, kind) = match self.below(5) {
            0 | 1 => ("/api/v1", "configmaps", "v1", "ConfigMap"),
            2 | 3 => ("/apis/sim.example.com/v1", "widgets", "sim.example.com/v1", "Widget"),
            _ => ("/apis/coordination.k8s.io/v1", "leases", "coordination.k8s.io/v1", "Lease"),
        };
        (format!("{group}/namespaces/{NAMESPACE}/{plural}"), version, kind)
    }

    fn content(&mut self, kind: &str) -> Value {
        let number = self.below(5);
        match kind {
            "ConfigMap" => json!({"data": {self.pick(&["a", "b"]): number.to_string()}}),
            "Widget" => json!({"spec": {"size": number}}),
            _ => {
                json!({"spec": {"holderIdentity": self.pick(&["x", "y"]), "leaseDurationSeconds": 15}})
            }
        }
    }

    fn object(&mut self, version: &str, kind: &str) -> Value {
        let mut object = self.content(kind);
        let label = self.pick(&["x", "y"]);
        object["apiVersion"] = version.into();
        object["kind"] = kind.into();
        object["metadata"] = json!({"name": self.name(), "labels": {"app": label}});
        if self.below(4) == 0 {
            object["metadata"]["finalizers"] = json!(["example.com/a"]);
        }
        object
    }

    fn name(&mut self) -> String {
        format!("o{}", self.below(3))
    }

    fn step(&mut self) {
        let (path, version, kind) = self.place();
        match self.below(12) {
            0..=2 => {
                let object = self.object(version, kind);
                self.send(&Request::new("POST", &path).json(&object));
            }
            3 => {
                let target = format!("{path}/{}", self.name());
                self.send(&Request::new("GET", &target));
            }
            4 | 5 => self.put(),
            6 => self.patch(&path, kind),
            7 => self.apply(&path, version, kind),
            8 => self.delete(&path),
            9 => self.list(&path),
            10 => {
                let query = self.pick(&["", "&resourceVersion=0", "&labelSelector=app%3Dx"]);
                if self.watches.len() < 3 {
                    self.send(&Request::new("GET", &format!("{path}?watch=true{query}")));
                }
            }
            _ => {
                if let Some(id) = self.watches.first().copied() {
                    self.read(id);
                }
            }
        }
    }

    /// Writes an object back that was held, perhaps for too long.
    fn put(&mut self) {
        let place = self.below(4);
        let mut object = self.held[place].clone();
        let Some(kind) = object["kind"].as_str().map(str::to_owned) else { return };
        for (field, value) in self.content(&kind).as_object().into_iter().flatten() {
            object[field] = value.clone();
        }
        match self.below(6) {
            0 => object["metadata"]["finalizers"] = json!([]),
            1 => object["metadata"]["labels"] = json!({"app": "z"}),
            2 => object["metadata"]["resourceVersion"] = Value::Null,
            _ => {}
        }
        let plural = format!("{}s", kind.to_lowercase());
        let version = object["apiVersion"].as_str().unwrap_or("v1");
        let root = if version == "v1" { "/api" } else { "/apis" };
        let name = object["metadata"]["name"].as_str().unwrap_or("");
        let target = format!("{root}/{version}/namespaces/{NAMESPACE}/{plural}/{name}");
        self.send(&Request::new("PUT", &target).json(&object));
    }

    fn patch(&mut self, path: &str, kind: &str) {
        let request = Request::new("PATCH", &format!("{path}/{}", self.name()));
        let request = if self.below(2) == 0 {
            let patch = self.content(kind).to_string();
            request.content("application/merge-patch+json", patch)
        } else {
            let op = self.pick(&["add", "replace", "remove", "test"]);
            let at = self.pick(&["/metadata/labels/app", "/metadata/finalizers", "/spec", "/data"]);
            let value = match at {
                "/metadata/labels/app" => json!("y"),
                "/metadata/finalizers" => json!(["example.com/b"]),
                _ => json!({}),
            };
            let patch = json!([{"op": op, "path": at, "value": value}]).to_string();
            request.content("application/json-patch+json", patch)
        };
        self.send(&request);
    }

    fn apply(&mut self, path: &str, version: &str, kind: &str) {
        let mut object = self.content(kind);
        let name = self.name();
        object["apiVersion"] = version.into();
        object["kind"] = kind.into();
        object["metadata"] = json!({"name": name});
        let (manager, force) = (self.pick(&["m1", "m2"]), self.pick(&["", "&force=true"]));
        let target = format!("{path}/{name}?fieldManager={manager}{force}");
        let body = object.to_string();
        self.send(&Request::new("PATCH", &target).content("application/apply-patch+yaml", body));
    }

    fn delete(&mut self, path: &str) {
        let query =
            self.pick(&["", "", "?propagationPolicy=Foreground", "?propagationPolicy=Orphan"]);
        let target = format!("{path}/{}{query}", self.name());
        self.send(&Request::new("DELETE", &target));
    }

    fn list(&mut self, path: &str) {
        let queries = [
            "",
            "?limit=1",
            "?labelSelector=app%3Dx",
            "?resourceVersion=0",
            "?limit=2&labelSelector=app",
        ];
        let query = self.pick(&queries);
        self.send(&Request::new("GET", &format!("{path}{query}")));
    }
}
