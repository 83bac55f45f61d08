//! The recorded traces of the reference.

use crate::conformance::every_trace_replays;
use crate::delaying_queue::conformance;

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

fn a_trace_of_every_call_replays() {
    let line = r#"{"id":"1","config":{},"steps":[
        {"op":"add_after","args":{"item":"a","ms":5},"out":{"len":0}},
        {"op":"add_after","args":{"item":"b","ms":-5},"out":{"len":1}},
        {"op":"add","args":{"item":"b"},"out":{"len":1}},
        {"op":"advance","args":{"ms":5},"out":{"len":2}},
        {"op":"get","out":{"item":"b","shutdown":false}},
        {"op":"done","args":{"item":"b"},"out":{"len":1}},
        {"op":"len","out":1},
        {"op":"shutdown","out":null},
        {"op":"get","out":{"item":"a","shutdown":false}},
        {"op":"get","out":{"shutdown":true}}]}"#;
    let outcome = conformance().replay_lines([line.replace('\n', " ").as_str()]);
    assert_eq!((outcome.failures, outcome.replayed), (vec![], 1));
}

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"id":"1","steps":[{"op":"add","args":{"item":"a"},"out":{"len":2}}]}"#,
        r#"{"id":"2","steps":[{"op":"add_after","args":{"item":"a","ms":1},"out":{"len":1}}]}"#,
        r#"{"id":"3","steps":[{"op":"shutdown","out":null},{"op":"get","out":null}]}"#,
        r#"{"id":"4","steps":[{"op":"advance","args":{"ms":1},"out":null}]}"#,
        r#"{"id":"5","steps":[{"op":"get","out":{"item":"a","shutdown":false}}]}"#,
        r#"{"id":"6","steps":[{"op":"jump","out":null}]}"#,
    ];
    assert_eq!(conformance().replay_lines(lines).failures.len(), lines.len());
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_recorded_trace_replays,
    a_trace_of_every_call_replays,
    a_changed_result_is_noticed
];
