//! Generated plans detect the mistakes.

use crate::reflector::{Reflector, mutants};
use crate::single_step::doubt::notices;
use crate::trial::Component;

fn made_up_plans_notice_every_mistake() {
    let blind: Vec<_> = mutants::all()
        .iter()
        .filter(|mutant| !notices(Reflector::fuzz_mutant(mutant).expect("every mutant has one")))
        .map(|mutant| mutant.name)
        .collect();
    assert_eq!(blind, [""; 0]);
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![made_up_plans_notice_every_mistake];
