//! Random calls: the machine that ships agrees with the sequential object.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::delaying_queue::{Op, check, decode};
use crate::regressions::tried;

pub(super) fn op() -> impl Strategy<Value = Op> {
    let key = || 0..5_u8;
    prop_oneof![
        4 => key().prop_map(Op::Add),
        8 => (key(), 0..20_u16).prop_map(|(key, delay)| Op::AddAfter(key, delay)),
        6 => (0..20_u16).prop_map(Op::Advance),
        8 => Just(Op::Get),
        6 => key().prop_map(Op::Done),
        2 => key().prop_map(Op::DoneByValue),
        2 => Just(Op::Len),
        1 => prop_oneof![Just(Op::ShutDown), Just(Op::Drain), Just(Op::DrainAll)],
    ]
}

proptest! {
    #![proptest_config(tried!("delaying_queue", cases: 512))]

    fn the_machine_agrees_with_the_sequential_object(ops in vec(op(), 0..80)) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..240)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree
];
