//! The same seed and program give the same bytes, in this process and in any other.

use std::process::Command;
use std::time::Duration;

use crate::common::{server, traces};
use seatrial_sim::apiserver::{Answer, Request, Server};
use seatrial_sim::conformance::Step;
use serde_json::{Value, json};

fn post(name: &str) -> Request {
    let body = json!({"metadata": {"name": name}, "data": {"a": "b"}});
    Request::new("POST", "/api/v1/namespaces/default/configmaps").json(&body)
}

/// All bytes that a server sends when the requests of a trace are made as they are recorded.
fn bytes(mut server: Server, steps: &[Step]) -> Vec<u8> {
    let (mut out, mut now, mut watches) = (Vec::new(), Duration::from_secs(1), Vec::new());
    for step in steps {
        let (Step::Call { request, .. } | Step::Open { request, .. }) = step else { continue };
        let part = |value: &Value| value.as_str().unwrap_or("").replace("ns-1", "default");
        let query = request["query"].as_array().into_iter().flatten();
        let headers = request["headers"].as_object().into_iter().flatten();
        let request = Request {
            by: None,
            method: part(&request["method"]),
            path: part(&request["path"]),
            query: query.map(|pair| (part(&pair[0]), part(&pair[1]))).collect(),
            headers: headers.map(|(key, value)| (key.clone(), part(value))).collect(),
            body: request["body"].to_string().replace("ns-1", "default").into_bytes(),
        };
        now += Duration::from_millis(700);
        match server.handle(now, &request) {
            Answer::Response(response) => {
                out.extend(format!("{} {:?}", response.status, response.headers).into_bytes());
                out.extend(response.body.bytes());
            }
            Answer::Watch { id, .. } => watches.push(id),
            Answer::Lost => panic!("no fault was injected"),
        }
        for id in &watches {
            let events = server.events(*id).events;
            out.extend(events.iter().flat_map(|it| it.to_json().to_string().into_bytes()));
        }
    }
    out
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let mut total = 0;
    for file in ["crud", "watch", "patch"] {
        for trace in traces(file).iter().take(20) {
            let first = bytes(server(7), &trace.steps);
            assert_eq!(first, bytes(server(7), &trace.steps), "{}", trace.name);
            total += first.len();
        }
    }
    assert!(total > 100_000, "only {total} bytes were compared");
}

#[test]
fn another_seed_gives_other_uids() {
    let uid = |seed| match server(seed).handle(Duration::ZERO, &post("a")) {
        Answer::Response(response) => response.json().map(|it| it["metadata"]["uid"].clone()),
        _ => None,
    };
    assert_eq!(uid(1), uid(1));
    assert_ne!(uid(1), uid(2));
}

#[test]
fn a_copy_goes_its_own_way() {
    let mut server = server(1);
    server.handle(Duration::ZERO, &post("a"));
    let mut copy = server.clone();
    copy.handle(Duration::ZERO, &post("b"));
    let path = "/api/v1/namespaces/default/configmaps";
    let count =
        |server: &mut Server| match server.handle(Duration::ZERO, &Request::new("GET", path)) {
            Answer::Response(response) => {
                response.json().and_then(|it| it["items"].as_array().map(Vec::len))
            }
            _ => None,
        };
    assert_eq!((count(&mut server), count(&mut copy)), (Some(1), Some(2)));
}

/// Set for a process that this test started anew.
const ANEW: &str = "SEATRIAL_REPEATS";

/// A number for bytes, the same in every process (FNV-1a).
fn digest(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[test]
fn a_thousand_runs_in_twenty_processes_give_the_same_bytes() {
    const NAME: &str = "repeatable::a_thousand_runs_in_twenty_processes_give_the_same_bytes";
    let programs = ["patch", "watch"].map(|file| traces(file).swap_remove(3));
    let run = || -> Vec<u8> {
        programs.iter().flat_map(|trace| bytes(server(7), &trace.steps)).collect()
    };
    let first = run();
    let line = format!("gave {} bytes, {:x}", first.len(), digest(&first));
    if let Ok(runs) = std::env::var(ANEW) {
        let runs: usize = runs.parse().expect("a number");
        assert!((1..runs).all(|_| run() == first), "one process gave other bytes");
        println!("{line}");
        return;
    }
    assert!(first.len() > 10_000, "only {} bytes are compared", first.len());
    let program = std::env::current_exe().expect("this program");
    for process in 0..20 {
        let mut anew = Command::new(&program);
        anew.args(["--exact", NAME, "--nocapture"]).env(ANEW, "50");
        // Differences between machines must not matter.
        anew.env("HOME", format!("/nowhere/{process}")).env("TZ", format!("UTC{process:+}"));
        let output = anew.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(&line), "no {line:?} in {said}");
    }
}
