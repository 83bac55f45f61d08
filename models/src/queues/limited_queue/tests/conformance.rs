//! The recorded traces of the reference.

use crate::conformance::every_trace_replays;
use crate::limited_queue::conformance::conformance;

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

const CONFIG: &str = r#"{"rate_limiter":{"kind":"exponential","base_ms":5,"max_ms":8}}"#;

fn trace(steps: &str) -> String {
    format!(r#"{{"id":"1","config":{CONFIG},"steps":[{steps}]}}"#)
}

fn a_trace_of_every_call_replays() {
    let line = trace(
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":1}},
        {"op":"add_rate_limited","args":{"item":"b"},"out":{"len":0,"num_requeues":1}},
        {"op":"add_after","args":{"item":"b","ms":3},"out":{"len":0}},
        {"op":"advance","args":{"ms":3},"out":{"len":1}},
        {"op":"get","out":{"item":"b","shutdown":false}},
        {"op":"done","args":{"item":"b"},"out":{"len":0}},
        {"op":"forget","args":{"item":"a"},"out":null},
        {"op":"num_requeues","args":{"item":"a"},"out":0},
        {"op":"advance","args":{"ms":2},"out":{"len":1}},
        {"op":"add","args":{"item":"c"},"out":{"len":2}},
        {"op":"len","out":2},
        {"op":"shutdown","out":null},
        {"op":"get","out":{"item":"a","shutdown":false}}"#,
    );
    let outcome = conformance().replay_lines([line.replace('\n', " ").as_str()]);
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 1));
}

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":1,"num_requeues":1}}"#,
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":2}}"#,
        r#"{"op":"num_requeues","args":{"item":"a"},"out":1}"#,
        r#"{"op":"forget","args":{"item":"a"},"out":0}"#,
        r#"{"op":"jump","out":null}"#,
    ];
    let lines = lines.map(trace);
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!(outcome.failures.len(), lines.len());
    let unreadable = r#"{"id":"1","config":{"rate_limiter":{"kind":"coin"}},"steps":[]}"#;
    assert_eq!(conformance().replay_lines([unreadable]).failures.len(), 1);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_recorded_trace_replays,
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed
];
