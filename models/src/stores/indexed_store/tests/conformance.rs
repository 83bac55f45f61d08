//! The recorded traces of the reference.

use crate::conformance::every_trace_replays;
use crate::indexed_store::conformance::conformance;

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![every_recorded_trace_replays];
