//! Generated steps: the lock that ships agrees with the sequential object, and every mistake is
//! detected.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::leases::{Leases, Spec, decode};
use crate::regressions::tried;
use crate::wire::fixtures::{check, every_mistake_is_noticed};

proptest! {
    #![proptest_config(tried!("leases", cases: 512))]

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..60)) {
        check::<Leases, Spec>(&decode(&bytes));
    }
}

fn calls_that_are_made_up_notice_every_mistake() {
    every_mistake_is_noticed::<Leases>();
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![whatever_bytes_say_the_two_agree, calls_that_are_made_up_notice_every_mistake];
