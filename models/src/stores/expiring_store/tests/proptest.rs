//! Random calls: the machine that ships agrees with the map.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::events::fixtures::Object;
use crate::expiring_store::{Op, check, decode};
use crate::regressions::tried;

fn object() -> impl Strategy<Value = Object> {
    (prop_oneof![1 => Just(0_u8), 20 => 1..6_u8], any::<u8>())
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => object().prop_map(Op::Add),
        2 => object().prop_map(Op::Delete),
        1 => (0..6_u8).prop_map(Op::DeleteUnseen),
        1 => vec(object(), 0..5).prop_map(Op::Replace),
        4 => (0..6_u8).prop_map(Op::Get),
        1 => Just(Op::List),
        4 => (0..24_u8).prop_map(Op::Advance),
    ]
}

proptest! {
    #![proptest_config(tried!("expiring_store", cases: 512))]

    fn the_machine_agrees_with_the_map(ops in vec(op(), 0..80)) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..200)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![the_machine_agrees_with_the_map, whatever_bytes_say_the_two_agree];
