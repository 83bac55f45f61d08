//! The models of states hold, and detect reflectors that do not come to rest.

use crate::engine::Engine;
use crate::engine::state::{Callers, Limits, search};
use crate::reflector::states::{AtServer, all, changes, streamed};
use crate::reflector::tried::Bend;
use crate::reflector::{Reflector, mutants};
use seatrial::tests::comes_out_as_expected;

fn every_model_of_the_catalogue_comes_out_as_expected() {
    for model in all() {
        comes_out_as_expected::<Reflector>(Engine::State, model.name());
    }
}

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
    every_model_of_the_catalogue_comes_out_as_expected,
    a_reflector_that_loses_deletions_rests_with_another_state,
    a_stream_whose_end_is_not_heard_rests_with_nothing
];
