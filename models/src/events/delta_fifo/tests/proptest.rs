//! Random calls: the machine that ships agrees with the sequential object.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::delta_fifo::{DeltaFifo, check};
use crate::events::fixtures::{self, Config, Object, Op, Store};
use crate::regressions::tried;

fn object() -> impl Strategy<Value = Object> {
    (prop_oneof![1 => Just(0_u8), 20 => 1..6_u8], 0..16_u8)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => object().prop_map(Op::Add),
        4 => object().prop_map(Op::Update),
        6 => object().prop_map(Op::Delete),
        2 => (1..6_u8, proptest::option::of(object())).prop_map(|(k, o)| Op::DeleteUnseen(k, o)),
        4 => vec(object(), 0..5).prop_map(Op::Replace),
        2 => Just(Op::Resync),
        6 => Just(Op::Pop),
        1 => Just(Op::PopAndFail),
        1 => Just(Op::PopAndPanic),
        1 => Just(Op::PopAndRequeue),
        1 => Just(Op::AddBack),
        2 => (0..6_u8).prop_map(Op::Get),
        1 => Just(Op::Close),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    (any::<[bool; 3]>(), prop::bool::weighted(0.125)).prop_map(
        |([known, emit_replaced, transform], unreadable)| {
            let store = if unreadable { Store::default().unreadable() } else { Store::default() };
            let known = known.then_some(store);
            Config { known, emit_replaced, transform, ..Config::default() }
        },
    )
}

proptest! {
    #![proptest_config(tried!("delta_fifo", cases: 512))]

    fn the_machine_agrees_with_the_sequential_object(
        config in config(),
        ops in vec(op(), 0..60),
    ) {
        fixtures::check::<DeltaFifo>(&config, &ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree
];
