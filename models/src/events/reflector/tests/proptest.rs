//! Generated plans of a reflector's server, by proptest.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::reflector::{check, decode};
use crate::regressions::tried;

proptest! {
    #![proptest_config(tried!("reflector", cases: 256))]

    fn whatever_happens_the_promises_are_kept(bytes in vec(any::<u8>(), 0..120)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![whatever_happens_the_promises_are_kept];
