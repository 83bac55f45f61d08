//! Generated plans detect the mistakes.

use crate::reflector::{Reflector, mutants};
use crate::single_step::doubt::notices;
use crate::trial::Component;

/// Made-up plans hardly ever delete an object between the first objects of a stream and their end: a scenario
/// does.
const UNSEEN: [&str; 1] = ["what_is_gone_before_the_end_stays"];

fn made_up_plans_notice_every_mistake() {
    let blind: Vec<_> = mutants::all()
        .iter()
        .filter(|mutant| !notices(Reflector::fuzz_mutant(mutant).expect("every mutant has one")))
        .map(|mutant| mutant.name)
        .collect();
    assert_eq!(blind, UNSEEN);
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![made_up_plans_notice_every_mistake];
