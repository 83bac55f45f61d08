//! Random calls: the machine that ships agrees with the sequential object.

use std::num::NonZeroUsize;

use ::proptest::collection::vec;
use ::proptest::option;
use ::proptest::prelude::*;

use crate::events::fixtures::{self, Config, Object, Op, Store};
use crate::ordered_fifo::{OrderedFifo, check};
use crate::regressions::tried;

fn object() -> impl Strategy<Value = Object> {
    (prop_oneof![1 => Just(0_u8), 20 => 1..6_u8], 0..16_u8)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => object().prop_map(Op::Add),
        4 => object().prop_map(Op::Update),
        4 => object().prop_map(Op::Delete),
        2 => (0..6_u8, option::of(object())).prop_map(|(k, o)| Op::DeleteUnseen(k, o)),
        4 => vec(object(), 0..5).prop_map(Op::Replace),
        2 => Just(Op::Resync),
        1 => Just(Op::Bookmark),
        1 => (1..6_u8).prop_map(Op::Spoil),
        4 => Just(Op::Pop),
        1 => Just(Op::PopAndPanic),
        4 => Just(Op::PopBatch),
        1 => object().prop_map(Op::PopAndWrite),
        1 => Just(Op::PopAndReplace),
        1 => Just(Op::Close),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    (any::<[bool; 4]>(), 0..5_usize).prop_map(|(flags, more)| {
        let [atomic, unlock, emit_bookmarks, transform] = flags;
        let known = (!atomic).then(Store::default);
        let batch_size = NonZeroUsize::MIN.saturating_add(more);
        Config { known, unlock, emit_bookmarks, transform, batch_size, ..Config::default() }
    })
}

proptest! {
    #![proptest_config(tried!("ordered_fifo", cases: 512))]

    fn the_machine_agrees_with_the_sequential_object(
        config in config(),
        ops in vec(op(), 0..60),
    ) {
        fixtures::check::<OrderedFifo>(&config, &ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree
];
