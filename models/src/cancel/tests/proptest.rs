//! Random calls: the machines that ship agree with the sequential object.

use ::proptest::collection::vec;
use ::proptest::option;
use ::proptest::prelude::*;

use crate::cancel::{Op, check, decode};
use crate::regressions::tried;

fn op() -> impl Strategy<Value = Op> {
    let number = any::<u8>;
    prop_oneof![
        6 => (number(), option::of(0..8_u8)).prop_map(|(of, after)| Op::Child(of, after)),
        2 => number().prop_map(Op::Cancel),
        1 => number().prop_map(Op::Copy),
        3 => number().prop_map(Op::Drop),
        3 => number().prop_map(Op::Hook),
        1 => number().prop_map(Op::Unhook),
        2 => (0..4_u8).prop_map(Op::Advance),
    ]
}

proptest! {
    #![proptest_config(tried!("cancel", cases: 256))]

    fn the_tokens_agree_with_the_sequential_object(ops in vec(op(), 0..60)) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..150)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![the_tokens_agree_with_the_sequential_object, whatever_bytes_say_the_two_agree];
