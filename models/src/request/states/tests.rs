//! The models hold, and they notice the mistakes that a client may make.

use super::*;
use crate::engine::Engine;
use crate::engine::state::{Callers, Limits, search};
use crate::trial::Component as _;
use seatrial::tests::comes_out_as_expected;

fn every_model_of_the_catalogue_comes_out_as_expected() {
    for (name, ..) in MODELS {
        comes_out_as_expected::<Request>(Engine::State, name);
    }
}

/// Returns the invariants that each model in turn finds broken.
fn broken(mistake: Mistake, slip: Option<Slip>) -> impl Iterator<Item = Vec<&'static str>> {
    MODELS.iter().map(move |(.., make)| {
        let subject = AtServers { mistake, slip, ..make() };
        let space = search(&Callers { subject, rules: RULES }, Limits::default());
        space.wrong.iter().map(|found| found.wrong.invariant).collect()
    })
}

fn every_mistake_in_the_rules_is_noticed_in_some_state() {
    let noticed = |mistake| broken(mistake, None).any(|broken| !broken.is_empty());
    let mistakes = Request::mutants().into_iter().map(|mutant| mutant.name);
    let blind: Vec<_> = mistakes.filter(|mistake| !noticed(mistake)).collect();
    // These models leave no host alone, so there is no pause before the first attempt.
    assert_eq!(blind, ["no_first_pause", "written_down_again"]);
}

fn every_slip_of_a_client_breaks_its_invariant() {
    let slips = [
        (Slip::KeepsTheTurn, "the_limiter_keeps_its_rate"),
        (Slip::GivesBackTwice, "the_limiter_keeps_its_rate"),
        (Slip::TakesNoReservation, "the_limiter_keeps_its_rate"),
        (Slip::SendsAfterTheEnd, "nothing_after_the_end"),
        (Slip::SleepsOn, "nothing_after_the_end"),
        (Slip::WaitsForTheAnswer, crate::engine::TERMINATES),
        (Slip::SharesItsRules, "repeats_what_may_help"),
        (Slip::LeavesAnswersOpen, "answers_are_closed"),
    ];
    for (slip, invariant) in slips {
        let breaks_it = broken("", Some(slip)).any(|broken| broken.contains(&invariant));
        assert!(breaks_it, "{slip:?} does not break {invariant}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_model_of_the_catalogue_comes_out_as_expected,
    every_mistake_in_the_rules_is_noticed_in_some_state,
    every_slip_of_a_client_breaks_its_invariant
];
