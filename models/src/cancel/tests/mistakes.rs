//! The property notices every mistake.

use crate::cancel::{Cancel, mutants};
use crate::single_step::doubt::notices;
use crate::trial::Component;

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    for mutant in mutants::all() {
        let property = Cancel::fuzz_mutant(&mutant).expect("every mutant has one");
        assert_eq!(notices(property), !mutants::is_of_waking(&mutant), "{}", mutant.name);
    }
}

fn the_machine_that_ships_agrees_with_the_sequential_object() {
    assert!(!notices(Cancel::fuzz().expect("there is a property")));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    the_machine_that_ships_agrees_with_the_sequential_object
];
