//! Random calls: the limiters that ship agree with their sequential objects.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::limiter::{Op, Shape, check, decode};
use crate::regressions::tried;
use crate::token_bucket::Rate;

fn nanos() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => (0..8_u64, 0..64_u32).prop_map(|(n, shift)| n << shift),
        1 => any::<u64>(),
        1 => Just(u64::MAX),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    let rate = prop_oneof![(0..3_u8).prop_map(Rate::PerSecond), Just(Rate::Unlimited),];
    let leaf = prop_oneof![
        3 => (nanos(), nanos()).prop_map(|(base, max)| Shape::Exponential { base, max }),
        2 => (nanos(), nanos(), 0..5_u8)
            .prop_map(|(fast, slow, max_fast)| Shape::FastSlow { fast, slow, max_fast }),
        2 => (rate, 0..6_u8).prop_map(|(rate, burst)| Shape::Bucket { rate, burst }),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Shape::MaxOf),
            (inner, nanos()).prop_map(|(inner, max)| Shape::WithMaxWait(Box::new(inner), max)),
        ]
    })
}

fn op() -> impl Strategy<Value = Op> {
    let key = || 0..4_u8;
    prop_oneof![
        12 => key().prop_map(Op::When),
        1 => key().prop_map(Op::Forget),
        2 => key().prop_map(Op::NumRequeues),
        2 => (0..64_u8).prop_map(Op::Advance),
    ]
}

proptest! {
    #![proptest_config(tried!("limiter", cases: 512))]

    fn a_limiter_agrees_with_its_sequential_object(
        shape in shape(),
        ops in vec(op(), 0..200),
    ) {
        check(&shape, &ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..240)) {
        let (shape, ops) = decode(&bytes);
        check(&shape, &ops);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![a_limiter_agrees_with_its_sequential_object, whatever_bytes_say_the_two_agree];
