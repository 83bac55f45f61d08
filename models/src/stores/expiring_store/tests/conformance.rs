//! The recorded traces of the reference.

use crate::conformance::every_trace_replays;
use crate::expiring_store::conformance::conformance;

#[test]
fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}
