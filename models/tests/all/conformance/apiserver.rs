//! The traces of the API server, whose steps are requests with their answers.

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::conformance::{Conformance, carried};
use serde_json::Value;

use super::change::{Random, cut};

const FILES: [(&str, u64); 6] = [
    ("crud", 200),
    ("finalizers", 200),
    ("lease", 200),
    ("list", 100),
    ("patch", 200),
    ("watch", 100),
];
/// How often each file is changed.
const CHANGES: u64 = 40;

fn of(name: &str) -> Conformance {
    let mut all = CATALOGUE.conformance().filter(|it| carried(it.traces_of).is_none());
    all.find(|it| it.traces_of == name).expect("the catalogue has the file")
}

fn lines(name: &str) -> Vec<String> {
    let text = of(name).recorded().expect("its traces are carried");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_trace_of_the_server_replays_without_a_departure() {
    for (name, count) in FILES {
        let outcome = of(name).replay_lines(lines(name).iter().map(String::as_str));
        assert_eq!(outcome.failures, [], "{name}");
        assert_eq!((outcome.traces, outcome.replayed), (count, count), "{name}");
        assert!(outcome.departures.is_empty());
    }
}

/// Visits all values that are compared strictly.
fn strict(value: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|part| strict(part, visit)),
        Value::Object(fields) => {
            for (_, part) in fields.iter_mut().filter(|(key, _)| *key != "message") {
                strict(part, visit);
            }
        }
        leaf => visit(leaf),
    }
}

/// Changes one strictly compared value of the recorded answers to another number or text.
fn flip(trace: &mut Value, random: &mut Random) {
    let (mut count, mut chosen) = (0, None);
    for round in 0..2 {
        let mut at = 0;
        for step in trace["steps"].as_array_mut().expect("steps") {
            for path in ["/response/status", "/response/body", "/events"] {
                // A body of plain text is for people, and is not compared strictly.
                let Some(part) = step.pointer_mut(path).filter(|part| !part.is_string()) else {
                    continue;
                };
                strict(part, &mut |leaf| {
                    if chosen == Some(at) {
                        *leaf = match leaf.as_str() {
                            Some(text) => format!("{text}~").into(),
                            None => (leaf.as_i64().unwrap_or(7) + 1).into(),
                        };
                    }
                    at += 1;
                });
            }
        }
        if round == 0 {
            count = at;
        }
        chosen = Some(random.below(count));
    }
}

#[test]
fn every_flip_of_a_recorded_answer_is_noticed_and_named_by_its_rules() {
    for (name, _) in FILES {
        let (conformance, lines) = (of(name), lines(name));
        for seed in 0..CHANGES {
            let mut random = Random::new(seed);
            let mut trace: Value =
                serde_json::from_str(&lines[random.below(lines.len())]).expect("a trace");
            flip(&mut trace, &mut random);
            let outcome = conformance.replay_lines([trace.to_string().as_str()]);
            let [failure] = &outcome.failures[..] else {
                panic!("{name}, seed {seed}: {} is as before", trace["name"]);
            };
            assert!(failure.error.to_string().contains("(rules of `"), "{}", failure.error);
        }
    }
}

#[test]
fn a_trace_that_was_cut_off_or_holds_nonsense_is_an_error() {
    let (conformance, lines) = (of("watch"), lines("watch"));
    for seed in 0..CHANGES {
        let mut random = Random::new(seed);
        let line = cut(&lines[random.below(lines.len())], &mut random);
        let outcome = conformance.replay_lines([line.as_str()]);
        assert_eq!(outcome.failures.len(), usize::from(!line.trim().is_empty()), "{line}");
    }
    for line in [
        r#"{"name":"a","steps":[{"op":"dance"}]}"#,
        r#"{"name":"a","steps":[{"op":"call","request":7,"response":[]}]}"#,
        r#"{"name":"a","steps":[{"op":"call"}]}"#,
    ] {
        assert_eq!(conformance.replay_lines([line]).failures.len(), 1, "{line}");
    }
}
