//! Random calls: the machine that ships agrees with the sequential object.

use std::time::Duration;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::priority_queue::AddOptions;

use crate::priority_queue::{Op, check, decode};
use crate::queues::fixtures::outcomes::any_outcome;
use crate::regressions::tried;

fn options() -> impl Strategy<Value = AddOptions> {
    let after = proptest::option::of((0..16_u64).prop_map(Duration::from_millis));
    let rate_limited = prop_oneof![3 => Just(false), 1 => Just(true)];
    (after, rate_limited, -1..2_i32).prop_map(|(after, rate_limited, priority)| AddOptions {
        after,
        rate_limited,
        priority,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let key = || 0..5_u8;
    prop_oneof![
        10 => (key(), options()).prop_map(|(key, options)| Op::Add(key, options)),
        2 => ([key(), key(), key()], options()).prop_map(|(keys, o)| Op::AddThree(keys, o)),
        1 => key().prop_map(Op::Forget),
        2 => key().prop_map(Op::NumRequeues),
        6 => (0..16_u16).prop_map(Op::Advance),
        8 => Just(Op::Get),
        3 => key().prop_map(Op::Done),
        2 => key().prop_map(Op::DoneByValue),
        4 => (key(), any_outcome(16), -1..2_i32).prop_map(|(key, o, rank)| Op::Settle(key, o, rank)),
        2 => Just(Op::Len),
    ]
}

/// Mostly calls without a shutdown, and sometimes with a shutdown somewhere.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    (vec(op(), 0..80), proptest::option::weighted(0.2, 0..80_usize)).prop_map(|(mut ops, at)| {
        if let Some(at) = at {
            ops.insert(at.min(ops.len()), Op::ShutDown);
        }
        ops
    })
}

proptest! {
    #![proptest_config(tried!("priority_queue", cases: 1024))]

    fn the_machine_agrees_with_the_sequential_object(ops in ops()) {
        check(&ops);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..240)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_machine_agrees_with_the_sequential_object,
    whatever_bytes_say_the_two_agree
];
