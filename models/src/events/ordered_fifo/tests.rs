//! The recorded traces of the reference.

use crate::ordered_fifo::conformance::conformance;

fn a_changed_result_is_noticed() {
    let config = r#""config":{"atomic_events":true,"emit_bookmark":true,"batch_size":2}"#;
    for step in [
        r#"{"op":"has_synced","out":true}"#,
        r#"{"op":"add","args":{"obj":{"k":"a","v":1}},"out":"key"}"#,
        r#"{"op":"pop_batch","out":null}"#,
        r#"{"op":"replace","args":{"objs":[]},"out":null}"#,
        r#"{"op":"jump","out":null}"#,
    ] {
        let line = format!(r#"{{"id":"1",{config},"steps":[{step}]}}"#);
        assert_eq!(conformance().replay_lines([line.as_str()]).failures.len(), 1, "{step}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![a_changed_result_is_noticed];
