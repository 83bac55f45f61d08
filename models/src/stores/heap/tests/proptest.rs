//! Random calls: the machine that ships agrees with the sequential object.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::events::fixtures::Object;
use crate::heap::{Op, check, decode};
use crate::regressions::tried;

fn object() -> impl Strategy<Value = Object> {
    (prop_oneof![1 => Just(0_u8), 20 => 1..24_u8], any::<u8>())
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => object().prop_map(Op::Add),
        2 => object().prop_map(Op::AddIfAbsent),
        2 => vec(object(), 0..8).prop_map(Op::BulkAdd),
        4 => object().prop_map(Op::Delete),
        6 => Just(Op::Pop),
        1 => (0..24_u8).prop_map(Op::Get),
        1 => Just(Op::Close),
    ]
}

proptest! {
    #![proptest_config(tried!("heap", cases: 512))]

    fn the_machine_agrees_with_the_sequential_object(ops in vec(op(), 0..80)) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..250)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree
];
