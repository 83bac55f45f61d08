//! Generated calls detect the mistakes.

use crate::feed::{Feed, mutants};
use crate::single_step::doubt::notices;
use crate::trial::Component;

fn made_up_calls_notice_every_mistake_that_a_single_caller_can_see() {
    for mutant in mutants::all() {
        let property = Feed::fuzz_mutant(&mutant).expect("every mutant has one");
        assert_eq!(notices(property), !mutants::is_of_waking(&mutant), "{}", mutant.name);
    }
}

fn the_rules_that_ship_keep_their_promises() {
    assert!(!notices(Feed::fuzz().expect("there is a property")));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    made_up_calls_notice_every_mistake_that_a_single_caller_can_see,
    the_rules_that_ship_keep_their_promises
];
