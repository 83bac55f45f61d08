//! Made-up calls: the rules that ship agree with their plain form, and every
//! mistake is noticed.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::regressions::tried;
use crate::request::{Request, check, decode};
use crate::single_step::doubt::notices;
use crate::trial::Component as _;

proptest! {
    #![proptest_config(tried!("request", cases: 1024))]

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..150)) {
        check(&decode(&bytes));
    }
}

fn calls_that_are_made_up_notice_every_mistake() {
    for mutant in Request::mutants() {
        let property = Request::fuzz_mutant(&mutant).expect("every mutant has one");
        assert_eq!(notices(property), mutant.name != "written_down_again", "{}", mutant.name);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![whatever_bytes_say_the_two_agree, calls_that_are_made_up_notice_every_mistake];
