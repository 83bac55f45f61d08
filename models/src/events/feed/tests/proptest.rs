//! Generated calls on a feed, by proptest.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::feed::{check, decode};
use crate::regressions::tried;

proptest! {
    #![proptest_config(tried!("feed", cases: 256))]

    fn whatever_is_called_the_promises_are_kept(bytes in vec(any::<u8>(), 0..80)) {
        check(&decode(&bytes));
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![whatever_is_called_the_promises_are_kept];
