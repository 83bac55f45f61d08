//! Random calls: the elector that ships agrees with the sequential object.

use ::proptest::array::uniform3;
use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::elector::op::{CallFate, ELECTORS, Fault, Op, check, check_bytes};
use crate::regressions::tried;

fn fate() -> impl Strategy<Value = CallFate> {
    let fault = prop_oneof![
        8 => Just(Fault::None),
        1 => Just(Fault::Lost),
        1 => Just(Fault::ReplyLost),
        1 => Just(Fault::Conflict),
        1 => Just(Fault::NotFound),
        1 => (1..5_u8).prop_map(Fault::Lagging),
    ];
    let takes = prop_oneof![8 => 0..100_u16, 1 => 0..20_000_u16];
    (takes, fault).prop_map(|(takes_ms, fault)| CallFate { takes_ms, fault })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (0..ELECTORS, uniform3(fate())).prop_map(|(who, fates)| Op::Attempt(who, fates)),
        2 => (0..ELECTORS, uniform3(fate())).prop_map(|(who, fates)| Op::Release(who, fates)),
        6 => (0..20_000_u16).prop_map(Op::Advance),
        1 => Just(Op::Delete),
        1 => Just(Op::ClearHolder),
        1 => (0..20_u8).prop_map(Op::SetDuration),
        1 => (0..ELECTORS, any::<u16>()).prop_map(|(who, tolerance)| Op::Check(who, tolerance)),
    ]
}

proptest! {
    #![proptest_config(tried!("elector", cases: 512))]

    fn the_elector_agrees_with_the_sequential_object(ops in vec(op(), 0..60)) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..300)) {
        check_bytes(&bytes);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_elector_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree
];
