//! The models hold, and they notice a time that a caller sleeps through.

use seatrial_core::queue::GETTERS;

use super::*;
use crate::engine::Engine;
use crate::engine::state::{Callers, Limits, agrees_with_the_enumeration, search};
use seatrial::tests::comes_out_as_expected;

fn every_model_of_the_catalogue_comes_out_as_expected() {
    let models = all();
    assert!(models.len() >= 3);
    for model in models {
        comes_out_as_expected::<DelayingQueue>(Engine::State, model.name());
    }
}

fn the_search_agrees_with_an_enumeration_of_all_paths() {
    let small: &[&[Call]] = &[&[Call::After(0, 5), Call::After(1, 2)], &[Call::Work(2)]];
    for jumps in [Jumps::AtStandstill, Jumps::AtAnyTime] {
        let subject = AtDelayingQueue::new(small, jumps == Jumps::AtStandstill, |_| true);
        let rules = May { symmetric: false, jumps, ..May::default() };
        assert!(agrees_with_the_enumeration(&Callers { subject, rules }) > 10);
    }
}

fn an_earlier_time_that_wakes_one_alone_is_slept_through() {
    let mut subject = AtDelayingQueue::new(EARLIER, true, |_| true);
    subject.edit = |wakes| wakes.set(GETTERS, wakes.get(GETTERS).min(1));
    let space = search(&Callers { subject, rules: May::default() }, Limits::default());
    let found = space.wrong.first().expect("it is off with another item");
    assert_eq!(found.wrong.invariant, "nothing_late");
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_model_of_the_catalogue_comes_out_as_expected,
    the_search_agrees_with_an_enumeration_of_all_paths,
    an_earlier_time_that_wakes_one_alone_is_slept_through
];
