//! Programs of requests, made up at random, as traces of our own server.

mod fields;
mod objects;
mod patches;
mod reads;
mod writes;

pub use fields::{Tried, fields};
use serde_json::{Value, json};

use super::{Recorder, Simulated, Target, Trace, world};
use crate::apiserver::{Answer, Random, Request, WatchId};

const NAMESPACE: &str = "made-up";
/// A program is a few hundred kilobytes at most.
const ROOM: usize = 64 * 1024 * 1024;
/// A uid that no object has.
const NOBODY: &str = "11111111-2222-3333-4444-555555555555";

/// Runs a made-up program of `steps` steps on our server, and gives back what it answered. The same
/// seed is the same program.
pub fn program(seed: u64, steps: usize) -> Result<Trace, String> {
    Trace::parse(&program_line(seed, steps)?)
}

/// The same, as a line of a file.
pub fn program_line(seed: u64, steps: usize) -> Result<String, String> {
    let mut target = Simulated::new(world(seed));
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    target.send(&Request::new("POST", "/api/v1/namespaces").json(&namespace));
    let recorder = Recorder::within(ROOM).ok_or("there is no room for a program")?.thorough();
    let (random, held) = (Random::new(seed), vec![Value::Null; 4]);
    let (watches, tokens) = (Vec::new(), Vec::new());
    let mut maker = Maker { random, target, recorder, held, watches, tokens, generated: 0 };
    for _ in 0..steps {
        maker.step();
    }
    while let Some(id) = maker.watches.pop() {
        maker.read(id);
    }
    let line = maker.recorder.trace(&format!("program-{seed}"));
    // The namespace is there before the first step.
    Ok(line.replace(NAMESPACE, "ns-1").replacen("\"namespaces\":0", "\"namespaces\":1", 1))
}

/// A kind of objects, and where these lie.
#[derive(Clone, Copy)]
struct Sort {
    root: &'static str,
    plural: &'static str,
    version: &'static str,
    kind: &'static str,
}

const fn sort(
    root: &'static str,
    plural: &'static str,
    version: &'static str,
    kind: &'static str,
) -> Sort {
    Sort { root, plural, version, kind }
}

const CUSTOM: &str = "/apis/sim.example.com/v1";

/// The kinds of objects in programs, as often as they are listed here.
const SORTS: [Sort; 12] = [
    sort("/api/v1", "configmaps", "v1", "ConfigMap"),
    sort("/api/v1", "configmaps", "v1", "ConfigMap"),
    sort("/api/v1", "configmaps", "v1", "ConfigMap"),
    sort(CUSTOM, "widgets", "sim.example.com/v1", "Widget"),
    sort(CUSTOM, "widgets", "sim.example.com/v1", "Widget"),
    sort(CUSTOM, "widgets", "sim.example.com/v1", "Widget"),
    sort(CUSTOM, "gadgets", "sim.example.com/v1", "Gadget"),
    sort(CUSTOM, "gadgets", "sim.example.com/v1", "Gadget"),
    sort(CUSTOM, "gadgets", "sim.example.com/v1", "Gadget"),
    sort("/apis/coordination.k8s.io/v1", "leases", "coordination.k8s.io/v1", "Lease"),
    sort("/api/v1", "secrets", "v1", "Secret"),
    sort("/api/v1", "serviceaccounts", "v1", "ServiceAccount"),
];

impl Sort {
    fn path(self) -> String {
        format!("{}/namespaces/{NAMESPACE}/{}", self.root, self.plural)
    }

    fn is_custom(self) -> bool {
        self.root == CUSTOM
    }
}

struct Maker {
    random: Random,
    target: Simulated,
    recorder: Recorder,
    /// Objects that were read or written, some of them old by now.
    held: Vec<Value>,
    watches: Vec<WatchId>,
    /// The tokens with which lists may go on.
    tokens: Vec<(Sort, String)>,
    /// How many names were to be made up.
    generated: usize,
}

impl Maker {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    /// True once in `bound` calls, on average.
    fn once_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// One of the items of a JSON list.
    fn one(&mut self, list: Value) -> Value {
        let Value::Array(mut items) = list else { return list };
        items.swap_remove(self.below(items.len()))
    }

    fn send(&mut self, request: &Request) {
        let mut request = request.clone();
        request.headers.push(("User-Agent".to_owned(), "trace-recorder".to_owned()));
        let answer = self.target.send(&request);
        self.recorder.call(self.target.now, &request, &answer);
        match answer {
            Answer::Watch { id, .. } => self.watches.push(id),
            Answer::Response(response) => {
                let object = response.json().filter(|it| it["metadata"]["uid"].is_string());
                if let Some(object) = object.filter(|it| it["spec"]["finalizers"].is_null()) {
                    let place = self.random.below(4) as usize;
                    self.held[place] = object.clone();
                }
            }
            Answer::Lost => {}
        }
    }

    fn read(&mut self, id: WatchId) {
        let events = self.target.events(id);
        self.recorder.read(self.target.now, id, &events);
        if events.has_ended {
            self.watches.retain(|it| *it != id);
        }
    }

    fn sort(&mut self) -> Sort {
        SORTS[self.below(SORTS.len())]
    }

    fn name(&mut self) -> String {
        format!("o{}", self.below(3))
    }

    /// A version: one that was seen, or a text that is not a valid version.
    fn version(&mut self) -> String {
        let place = self.below(4);
        let seen = self.held[place]["metadata"]["resourceVersion"].as_str().unwrap_or("0");
        let seen = seen.to_owned();
        match self.below(12) {
            0 => "0".to_owned(),
            1 => self.pick(&["", "1", "abc", "-1", "1.5", "01", "+1"]).to_owned(),
            2 if self.once_in(6) => "999999999999".to_owned(),
            _ => seen,
        }
    }

    fn step(&mut self) {
        let sort = self.sort();
        match self.below(24) {
            0..=4 => self.create(sort),
            5 => self.get(sort),
            6..=8 => self.put(),
            9..=11 => self.patch(sort),
            12..=14 => self.apply(sort),
            15 | 16 => self.delete(sort),
            17 => self.delete_many(sort),
            18 | 19 => self.list(sort),
            20 => self.watch(sort),
            21 => self.scale(),
            _ => {
                if !self.watches.is_empty() {
                    let place = self.below(self.watches.len());
                    self.read(self.watches[place]);
                }
            }
        }
    }
}
