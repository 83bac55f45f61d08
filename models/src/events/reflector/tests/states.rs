//! The models of states detect reflectors that do not come to rest.

use crate::engine::state::{Callers, Limits, search};
use crate::reflector::mutants;
use crate::reflector::states::{AtServer, changes, streamed};
use crate::reflector::tried::Bend;

/// Returns the invariants that a subject breaks.
fn broken(subject: AtServer) -> Vec<&'static str> {
    let model = Callers { subject, rules: Default::default() };
    let space = search(&model, Limits { go_on: true, ..Limits::default() });
    space.wrong.iter().map(|found| found.wrong.invariant).collect()
}

fn a_reflector_that_loses_deletions_rests_with_another_state() {
    assert_eq!(broken(changes()), [""; 0]);
    let bend = Bend { ask: mutants::deletions_are_not_given, ..Bend::NONE };
    assert_eq!(broken(changes().bent(bend)), ["comes_to_the_state"]);
}

fn a_stream_whose_end_is_not_heard_rests_with_nothing() {
    let bend = Bend { tell: mutants::no_bookmark_ends, ..Bend::NONE };
    assert_eq!(broken(streamed().bent(bend)), ["comes_to_the_state"]);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    a_reflector_that_loses_deletions_rests_with_another_state,
    a_stream_whose_end_is_not_heard_rests_with_nothing
];
