//! Random calls: the machine that ships agrees with the sequential object.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::events::fixtures::{self, Config, Object, Op};
use crate::fifo::{Fifo, check};
use crate::regressions::tried;

fn object() -> impl Strategy<Value = Object> {
    (prop_oneof![1 => Just(0_u8), 20 => 1..5_u8], any::<u8>())
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => object().prop_map(Op::Add),
        6 => object().prop_map(Op::Delete),
        1 => (0..5_u8).prop_map(|key| Op::DeleteUnseen(key, None)),
        3 => vec(object(), 0..5).prop_map(Op::Replace),
        1 => Just(Op::Resync),
        6 => Just(Op::Pop),
        1 => Just(Op::PopAndPanic),
        1 => Just(Op::PopAndRequeue),
        1 => object().prop_map(Op::AddIfAbsent),
        1 => (0..5_u8).prop_map(Op::Get),
        1 => Just(Op::Close),
    ]
}

proptest! {
    #![proptest_config(tried!("fifo", cases: 512))]

    fn the_machine_agrees_with_the_sequential_object(ops in vec(op(), 0..60)) {
        fixtures::check::<Fifo>(&Config::default(), &ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree
];
