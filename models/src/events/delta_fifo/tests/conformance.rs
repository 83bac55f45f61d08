//! The recorded traces of the reference.

use crate::delta_fifo::conformance::conformance;

fn a_changed_result_is_noticed() {
    let lines = [
        r#"{"id":"1","steps":[{"op":"has_synced","out":true}]}"#,
        r#"{"id":"2","steps":[{"op":"add","args":{"obj":{"k":"a","v":1}},"out":"key"}]}"#,
        r#"{"id":"3","steps":[{"op":"pop","out":null}]}"#,
        r#"{"id":"4","steps":[{"op":"jump","out":null}]}"#,
    ];
    // On the machine that ships and on the faithful variant.
    assert_eq!(conformance().replay_lines(lines).failures.len(), 2 * lines.len());
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![a_changed_result_is_noticed];
