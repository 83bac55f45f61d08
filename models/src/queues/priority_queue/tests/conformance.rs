//! The recorded traces of the reference.

use crate::conformance::every_trace_replays;
use crate::priority_queue::conformance;

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

fn trace(steps: &str) -> String {
    let config = r#"{"rate_limiter":{"kind":"exponential","base_ms":5,"max_ms":8}}"#;
    format!(r#"{{"id":"1","config":{config},"steps":[{steps}]}}"#).replace('\n', " ")
}

fn a_trace_of_every_call_replays() {
    let line = trace(
        r#"{"op":"add_with_opts","args":{"items":["a","b"],"priority":-3,"after_ms":9,
            "rate_limited":true},"out":{"len":0}},
        {"op":"num_requeues","args":{"item":"a"},"out":1},
        {"op":"forget","args":{"item":"a"},"out":null},
        {"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":1}},
        {"op":"add_after","args":{"item":"c","ms":-1},"out":{"len":1}},
        {"op":"advance","args":{"ms":5},"out":{"len":3}},
        {"op":"add","args":{"item":"b"},"out":{"len":3}},
        {"op":"get","out":{"item":"c","priority":0,"shutdown":false}},
        {"op":"done","args":{"item":"c"},"out":{"len":2}},
        {"op":"get","out":{"item":"a","priority":0,"shutdown":false}},
        {"op":"len","out":1},
        {"op":"shutdown","out":null},
        {"op":"get","out":{"shutdown":true}}"#,
    );
    let outcome = conformance().replay_lines([line.as_str()]);
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 1));
}

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"op":"add","args":{"item":"a"},"out":{"len":0}}"#,
        r#"{"op":"add_with_opts","args":{"items":["a"],"after_ms":1},"out":{"len":1}}"#,
        r#"{"op":"add_rate_limited","args":{"item":"a"},"out":{"len":0,"num_requeues":0}}"#,
        r#"{"op":"add_with_opts","args":{"items":["a"],"priority":2147483648},"out":{"len":1}}"#,
        r#"{"op":"add_with_opts","args":{"items":[1]},"out":{"len":1}}"#,
        r#"{"op":"num_requeues","args":{"item":"a"},"out":1}"#,
        r#"{"op":"get","out":{"item":"a","priority":0,"shutdown":false}}"#,
        r#"{"op":"jump","out":null}"#,
    ];
    let lines = lines.map(trace);
    let outcome = conformance().replay_lines(lines.iter().map(String::as_str));
    assert_eq!(outcome.failures.len(), lines.len());
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_recorded_trace_replays,
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed
];
