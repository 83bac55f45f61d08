//! The machine against the sequential object and against the recorded traces.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::channel::{Channel, check, decode, mutants};
use crate::regressions::tried;
use crate::single_step::doubt::notices;
use crate::trial::Component;

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    for mutant in mutants::all() {
        let property = Channel::fuzz_mutant(&mutant).expect("every mutant has one");
        assert_eq!(notices(property), !mutants::is_of_waking(&mutant), "{}", mutant.name);
    }
}

proptest! {
    #![proptest_config(tried!("channel", cases: 1024))]

    fn the_machine_agrees_with_the_simple_construction(bytes in vec(any::<u8>(), 0..240)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    the_machine_agrees_with_the_simple_construction
];
