//! Random calls: the store that ships agrees with the sequential object.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::indexed_store::{Labelled, Op, check, decode};
use crate::regressions::tried;

fn object() -> impl Strategy<Value = Labelled> {
    let key = prop_oneof![1 => Just(0_u8), 20 => 1..8_u8];
    (key, 0..16_u8, any::<u8>()).prop_map(|(key, version, bits)| Labelled { key, version, bits })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => object().prop_map(Op::Add),
        3 => object().prop_map(Op::Delete),
        1 => (0..8_u8).prop_map(Op::DeleteKey),
        2 => vec(object(), 0..6).prop_map(Op::Replace),
        3 => vec((any::<bool>(), object()), 0..6).prop_map(Op::Transact),
        1 => Just(Op::AddBits),
        1 => Just(Op::AddParity),
        2 => object().prop_map(Op::Like),
        1 => Just(Op::Bookmark),
    ]
}

proptest! {
    #![proptest_config(tried!("indexed_store", cases: 256))]

    fn the_store_agrees_with_the_sequential_object(ops in vec(op(), 0..60)) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..250)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![the_store_agrees_with_the_sequential_object, whatever_bytes_say_the_two_agree];
