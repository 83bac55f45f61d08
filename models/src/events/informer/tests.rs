//! The recorded traces of the reference.

use super::conformance;
use crate::conformance::every_trace_replays;

#[test]
fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}
