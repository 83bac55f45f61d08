//! The machine against the sequential object and against the recorded traces.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::channel::{Channel, Op, check, decode, mutants};
use crate::regressions::tried;
use crate::single_step::doubt::notices;
use crate::trial::Component;

fn random_calls_notice_every_mistake_that_a_single_caller_can_see() {
    for mutant in mutants::all() {
        let property = Channel::fuzz_mutant(&mutant).expect("every mutant has one");
        assert_eq!(notices(property), !mutants::is_of_waking(&mutant), "{}", mutant.name);
    }
}

fn the_machine_that_ships_agrees_with_the_simple_construction() {
    assert!(!notices(Channel::fuzz().expect("there is a property")));
}

fn op() -> impl Strategy<Value = Op> {
    let number = any::<u8>;
    let wait = || 0..8_u8;
    prop_oneof![
        2 => (0..4_u8).prop_map(Op::Open),
        5 => (number(), wait()).prop_map(|(at, wait)| Op::Send(at, wait)),
        5 => (number(), wait()).prop_map(|(at, wait)| Op::Receive(at, wait)),
        3 => (number(), number(), wait()).prop_map(|(a, b, wait)| Op::Select(a, b, wait)),
        4 => number().prop_map(Op::Look),
        1 => number().prop_map(Op::GiveUp),
        1 => (number(), any::<bool>()).prop_map(|(at, sends)| Op::Copy(at, sends)),
        1 => (number(), any::<bool>()).prop_map(|(at, sends)| Op::Leave(at, sends)),
        1 => number().prop_map(Op::Len),
        2 => (0..4_u8).prop_map(Op::Advance),
    ]
}

proptest! {
    #![proptest_config(tried!("channel", cases: 512))]

    fn the_machine_agrees_with_the_simple_construction(ops in vec(op(), 0..80)) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..240)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    random_calls_notice_every_mistake_that_a_single_caller_can_see,
    the_machine_that_ships_agrees_with_the_simple_construction,
    the_machine_agrees_with_the_simple_construction,
    whatever_bytes_say_the_two_agree
];
