//! Random calls: the table that ships agrees with the sequential object.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::backoff::{Op, Setup, check, decode};
use crate::regressions::tried;

fn op() -> impl Strategy<Value = Op> {
    let key = || 0..3_u8;
    let event = || -40..40_i8;
    prop_oneof![
        8 => (key(), event()).prop_map(|(key, event)| Op::Next(key, event)),
        2 => key().prop_map(Op::Get),
        3 => (key(), event()).prop_map(|(key, event)| Op::Since(key, event)),
        3 => (key(), event()).prop_map(|(key, event)| Op::SinceUpdate(key, event)),
        4 => (0..40_u8).prop_map(Op::Advance),
        1 => key().prop_map(Op::Reset),
        1 => Just(Op::CollectGarbage),
    ]
}

proptest! {
    #![proptest_config(tried!("backoff", cases: 1024))]

    fn the_table_agrees_with_the_sequential_object(
        initial in 0..16_u8,
        max in 0..64_u8,
        unit in prop_oneof![Just(0_u8), 0..57_u8],
        ops in vec(op(), 0..80),
    ) {
        check(Setup { initial, max, unit }, &ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..240)) {
        let (setup, ops) = decode(&bytes);
        check(setup, &ops);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![the_table_agrees_with_the_sequential_object, whatever_bytes_say_the_two_agree];
