//! Random calls: the bucket that ships agrees with the one in whole numbers, bit for bit.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::regressions::tried;
use crate::token_bucket::{Op, Rate, Setup, check, decode};

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![
        4 => Just(Rate::PerSecond(1)),
        4 => Just(Rate::PerSecond(2)),
        1 => Just(Rate::PerSecond(0)),
        1 => Just(Rate::Unlimited),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let n = || 0..6_u8;
    prop_oneof![
        6 => (0..64_u8).prop_map(Op::Advance),
        2 => (0..64_u8).prop_map(Op::GoBack),
        4 => n().prop_map(Op::Allow),
        6 => n().prop_map(Op::Reserve),
        2 => (n(), 0..96_u8).prop_map(|(n, ticks)| Op::ReserveWithin(n, ticks)),
        6 => any::<u8>().prop_map(Op::Cancel),
        1 => rate().prop_map(Op::SetRate),
        1 => n().prop_map(Op::SetBurst),
    ]
}

proptest! {
    #![proptest_config(tried!("token_bucket", cases: 1024))]

    fn the_bucket_agrees_with_the_one_in_whole_numbers(
        rate in rate(),
        burst in 0..6_u8,
        ops in vec(op(), 0..80),
    ) {
        check(Setup { rate, burst }, &ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..240)) {
        let (setup, ops) = decode(&bytes);
        check(setup, &ops);
    }
}

/// The fuzzer found this: each cancel of tokens that were reserved at another rate halves the unit
/// of time in use, and the next reservation halves it again.
fn cancels_at_another_rate_are_compared_as_long_as_nanoseconds_tell() {
    let bytes: &[u8] = &[
        0xff, 0x9b, 0x3a, 0xff, 0x02, 0xc9, 0xc9, 0xc9, 0xc9, 0xc9, 0x28, 0x7c, 0x98, 0x85, 0xc9,
        0xc9, 0xde, 0xde, 0xc9, 0x7c, 0x7c, 0x98, 0x98, 0x1d, 0x1d, 0x1d, 0x28, 0x28, 0x7c, 0x1d,
        0x28, 0x7c, 0x7c, 0x98, 0x98, 0x01, 0x7c, 0x1d, 0x7c, 0x1d,
    ];
    let (setup, ops) = decode(bytes);
    assert!(ops.iter().filter(|op| matches!(op, Op::Cancel(_))).count() > 3);
    check(setup, &ops);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_bucket_agrees_with_the_one_in_whole_numbers,
    whatever_bytes_say_the_two_agree,
    cancels_at_another_rate_are_compared_as_long_as_nanoseconds_tell
];
