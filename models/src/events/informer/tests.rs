//! The recorded traces of the reference.

use super::conformance;
use crate::conformance::every_trace_replays;

fn every_recorded_trace_replays() {
    every_trace_replays(&conformance());
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![every_recorded_trace_replays];
