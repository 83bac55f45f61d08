//! Invariants of every program that clients may run against a server, whatever their order. The
//! same programs find out servers with mistakes.

use std::collections::BTreeMap;
use std::time::Duration;

use seatrial_sim::apiserver::{Answer, MISTAKES, Options, Request, Server, WatchId};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const STEPS: usize = 60;
const PROGRAMS: u64 = 200;

/// The state of one object that a client read.
#[derive(Clone)]
struct Held(Value);

/// Three clients, a watch from the beginning, and what they must find.
struct World {
    server: Server,
    random: fastrand::Rng,
    held: [Option<Held>; 3],
    watch: WatchId,
    begun_at: u64,
    /// How often each counter was raised, by its uid.
    raised: BTreeMap<String, u64>,
    /// The newest state of every object as the answers said, by name.
    known: BTreeMap<String, Value>,
    /// The version of every write that was acknowledged.
    writes: Vec<u64>,
    /// The state of every object, as the watch told it.
    seen: BTreeMap<String, Value>,
    told: Vec<u64>,
}

type Checked = Result<(), String>;

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn finalizers(object: &Value) -> Vec<&str> {
    let list = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

impl World {
    fn new(mut server: Server, seed: u64) -> Self {
        let begun_at = server.revision();
        let open = format!("{MAPS}?watch=true&resourceVersion={begun_at}");
        let Answer::Watch { id, .. } = server.handle(Duration::ZERO, &Request::new("GET", &open))
        else {
            panic!("no watch was opened")
        };
        Self {
            server,
            random: fastrand::Rng::with_seed(seed),
            held: [None, None, None],
            watch: id,
            begun_at,
            raised: BTreeMap::new(),
            known: BTreeMap::new(),
            writes: Vec::new(),
            seen: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    fn call(&mut self, request: &Request) -> (u16, Value) {
        match self.server.handle(Duration::from_secs(1), request) {
            Answer::Response(response) => {
                (response.status, response.json().cloned().unwrap_or(Value::Null))
            }
            other => panic!("no response: {other:?}"),
        }
    }

    /// Takes in a write that was acknowledged.
    fn wrote(&mut self, object: &Value) -> Checked {
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let newest = self.writes.last().copied().unwrap_or(self.begun_at);
        let is_same = self.known.get(&name) == Some(object);
        if !is_same && version(object) <= newest {
            return Err(format!("versions grow: {} after {newest}", version(object)));
        }
        if let Some(before) = self.known.get(&name)
            && before["metadata"]["uid"] == object["metadata"]["uid"]
            && !before["metadata"]["deletionTimestamp"].is_null()
            && finalizers(object).iter().any(|it| !finalizers(before).contains(it))
        {
            return Err(format!("finalizers hold: {name} is on its way out and gets one more"));
        }
        if !is_same {
            self.writes.push(version(object));
            self.known.insert(name, object.clone());
        }
        Ok(())
    }

    fn step(&mut self) -> Checked {
        let client = self.random.usize(..3);
        let name = format!("n{}", self.random.usize(..3));
        match self.random.usize(..8) {
            0 | 1 => self.create(&name),
            2 | 3 => {
                let (status, object) = self.call(&Request::new("GET", &format!("{MAPS}/{name}")));
                self.held[client] = (status == 200).then_some(Held(object));
                Ok(())
            }
            4 | 5 => self.raise(client),
            6 => self.delete(&name),
            _ => self.finalize(client),
        }
    }

    fn create(&mut self, name: &str) -> Checked {
        let finalizers: &[&str] = if self.random.usize(..2) == 0 { &[] } else { &["a.io/x"] };
        let body =
            json!({"metadata": {"name": name, "finalizers": finalizers}, "data": {"n": "0"}});
        let (status, object) = self.call(&Request::new("POST", MAPS).json(&body));
        if status != 201 {
            return Ok(());
        }
        if self::finalizers(&object) != finalizers {
            return Err(format!("finalizers hold: {name} is created without"));
        }
        self.raised.insert(object["metadata"]["uid"].to_string(), 0);
        self.wrote(&object)
    }

    /// Raises a counter that the client read before: only if it is the newest.
    fn raise(&mut self, client: usize) -> Checked {
        let Some(Held(mut object)) = self.held[client].clone() else { return Ok(()) };
        let count: u64 = object["data"]["n"].as_str().and_then(|it| it.parse().ok()).unwrap_or(0);
        object["data"]["n"] = (count + 1).to_string().into();
        let uid = object["metadata"]["uid"].to_string();
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let (status, new) =
            self.call(&Request::new("PUT", &format!("{MAPS}/{name}")).json(&object));
        if status != 200 {
            return Ok(());
        }
        let raised = self.raised.entry(uid).or_default();
        *raised += 1;
        if new["data"]["n"] != *raised.to_string() {
            let why = format!("{} after {raised} raises", new["data"]["n"]);
            return Err(format!("compare-and-swap: the counter of {name} is {why}"));
        }
        self.wrote(&new)
    }

    fn delete(&mut self, name: &str) -> Checked {
        let held = self.known.get(name).is_some_and(|object| !finalizers(object).is_empty());
        let (status, answer) = self.call(&Request::new("DELETE", &format!("{MAPS}/{name}")));
        if status != 200 {
            return Ok(());
        }
        if answer["kind"] == "ConfigMap" {
            return self.wrote(&answer);
        }
        if held {
            return Err(format!("finalizers hold: {name} is gone with some left"));
        }
        self.gone(name);
        Ok(())
    }

    fn gone(&mut self, name: &str) {
        self.known.remove(name);
        self.writes.push(self.server.revision());
    }

    /// Takes the finalizers off, or puts others on.
    fn finalize(&mut self, client: usize) -> Checked {
        let Some(Held(mut object)) = self.held[client].clone() else { return Ok(()) };
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let wanted: &[&str] = [&["b.io/y"][..], &[], &[]][self.random.usize(..3)];
        object["metadata"]["finalizers"] = json!(wanted);
        let (status, new) =
            self.call(&Request::new("PUT", &format!("{MAPS}/{name}")).json(&object));
        if status != 200 {
            return Ok(());
        }
        let dies = wanted.is_empty() && !new["metadata"]["deletionTimestamp"].is_null();
        if !dies {
            return self.wrote(&new);
        }
        let (status, _) = self.call(&Request::new("GET", &format!("{MAPS}/{name}")));
        if status != 404 {
            return Err(format!("finalizers hold: {name} stays without any"));
        }
        self.gone(&name);
        Ok(())
    }

    /// Reads the watch, and holds it against the writes and the list.
    fn look(&mut self) -> Checked {
        for event in self.server.events(self.watch).events {
            self.told.push(version(&event.object));
            let name = event.object["metadata"]["name"].as_str().unwrap_or("").to_owned();
            let was = match event.kind {
                "DELETED" => self.seen.remove(&name),
                _ => self.seen.insert(name.clone(), (*event.object).clone()),
            };
            if was.is_none() != (event.kind == "ADDED") {
                return Err(format!("watch: {} of {name}, which is out of order", event.kind));
            }
        }
        if self.told != self.writes {
            return Err(format!("watch: {:?} were written, {:?} told", self.writes, self.told));
        }
        if self.seen != self.known {
            return Err("watch: it does not add up to what was answered".to_owned());
        }
        let (_, list) = self.call(&Request::new("GET", MAPS));
        let listed = list["items"].as_array().into_iter().flatten();
        let listed: Vec<_> = listed.map(version).collect();
        let known: Vec<_> = self.known.values().map(version).collect();
        if listed != known || version(&list) != self.server.revision() {
            return Err(format!("list: {listed:?}, while the answers and events make {known:?}"));
        }
        Ok(())
    }
}

/// Runs a made-up program and gives back what did not hold.
fn violation(server: &Server, seed: u64) -> Option<String> {
    let mut world = World::new(server.clone(), seed);
    for _ in 0..STEPS {
        let step = world.step();
        let looked = if world.random.usize(..3) == 0 { world.look() } else { Ok(()) };
        if let Err(why) = step.and(looked) {
            return Some(why);
        }
    }
    world.look().err()
}

#[test]
fn a_right_server_keeps_all_of_it() {
    let server = Server::new(&Options::default());
    for seed in 0..PROGRAMS {
        assert_eq!(violation(&server, seed), None, "program {seed}");
    }
}

#[test]
fn servers_that_are_wrong_are_found_out_by_the_invariant_that_they_break() {
    for (name, breaks) in [
        ("overwrites_newer", "compare-and-swap: "),
        ("loses_deletions", "watch: "),
        ("takes_changes_for_news", "watch: "),
        ("deletes_at_the_old_version", "watch: "),
        ("keeps_no_finalizers", "finalizers hold: "),
        ("keeps_what_lost_its_last_finalizer", "finalizers hold: "),
        ("takes_finalizers_for_the_dying", "finalizers hold: "),
    ] {
        let mut all = MISTAKES.iter().flat_map(|(_, all)| all.iter());
        let mistake = all.find(|it| it.name == name).expect("the mistake is listed");
        let server = Server::new(&Options::default()).with_mistake(*mistake);
        let mut found = (0..PROGRAMS).filter_map(|seed| violation(&server, seed));
        assert!(found.any(|why| why.starts_with(breaks)), "{name} is not found out");
    }
}
