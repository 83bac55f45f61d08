//! The models hold, and they notice a lost wake-up.

use seatrial_core::channel::{MEETING, RECEIVERS, SENDERS};

use super::*;
use crate::engine::Engine;
use crate::engine::state::{Callers, Limits, agrees_with_the_enumeration, search};
use crate::trial::TERMINATES;
use seatrial::tests::comes_out_as_expected;

fn every_model_of_the_catalogue_comes_out_as_expected() {
    let models = all();
    assert_eq!(models.len(), 3);
    for model in models {
        comes_out_as_expected::<Channel>(Engine::State, model.name());
    }
}

fn the_search_agrees_with_an_enumeration_of_all_paths() {
    let small: &[&[Call]] = &[&[Call::Send(0), SENDS], &[Call::Receive(9), RECEIVES]];
    for capacity in [0, 1] {
        let subject = AtChannel::new(Some(capacity), small);
        let rules = May { symmetric: false, ..May::default() };
        assert!(agrees_with_the_enumeration(&Callers { subject, rules }) > 5);
    }
}

fn a_wake_up_that_is_forgotten_leaves_somebody_asleep() {
    type Forgets = (usize, fn(&mut Wakes));
    let forgets: [Forgets; 3] = [
        (1, |wakes| wakes.set(RECEIVERS, 0)),
        (1, |wakes| wakes.set(SENDERS, 0)),
        (0, |wakes| wakes.set(MEETING, wakes.get(MEETING).min(1))),
    ];
    for (capacity, edit) in forgets {
        let subject = AtChannel { edit, ..AtChannel::new(Some(capacity), ALL) };
        let space = search(&Callers { subject, rules: May::default() }, Limits::default());
        let found = space.wrong.first().expect("somebody sleeps on");
        assert_eq!(found.wrong.invariant, TERMINATES);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_model_of_the_catalogue_comes_out_as_expected,
    the_search_agrees_with_an_enumeration_of_all_paths,
    a_wake_up_that_is_forgotten_leaves_somebody_asleep
];
