//! Random calls: the machine that ships agrees with the sequential object.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::limited_queue::{Op, check, decode};
use crate::queues::fixtures::outcomes::any_outcome;
use crate::regressions::tried;

fn op() -> impl Strategy<Value = Op> {
    let key = || 0..5_u8;
    prop_oneof![
        2 => key().prop_map(Op::Add),
        3 => (key(), 0..20_u16).prop_map(|(key, delay)| Op::AddAfter(key, delay)),
        6 => key().prop_map(Op::AddRateLimited),
        2 => key().prop_map(Op::Forget),
        2 => key().prop_map(Op::NumRequeues),
        6 => (0..20_u16).prop_map(Op::Advance),
        8 => Just(Op::Get),
        2 => key().prop_map(Op::Done),
        2 => key().prop_map(Op::DoneByValue),
        5 => (key(), any_outcome(20)).prop_map(|(key, outcome)| Op::Settle(key, outcome)),
        1 => Just(Op::Len),
        1 => prop_oneof![Just(Op::ShutDown), Just(Op::Drain)],
    ]
}

proptest! {
    #![proptest_config(tried!("limited_queue", cases: 512))]

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
