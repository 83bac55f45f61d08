//! The rules that were written down again decide at every step what the rules that ship decide.

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::elector::Election;

use crate::elector::decisions::{Happens, Place, random_happenings, set_ups};
use crate::elector::plain::Plain;
use crate::trial::component_tests::regressions;

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => any::<u8>().prop_map(Happens::Call),
        12 => any::<u8>().prop_map(Happens::Answer),
        1 => any::<u8>().prop_map(Happens::Meddle),
        4 => (0..3_000_u16).prop_map(Happens::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: regressions!("elector"),
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_decide_alike_whatever_happens(all in vec(happens(), 0..120)) {
        for config in set_ups() {
            let mut ships = Place::new(Box::new(Election::new(config.clone()).unwrap()));
            let mut plain = Place::new(Plain::rules(&[], config).unwrap());
            for happens in &all {
                prop_assert_eq!(ships.step(*happens), plain.step(*happens), "{:?}", happens);
            }
        }
    }
}

#[test]
fn random_happenings_reach_terms_rounds_and_releases() {
    let mut reached = std::collections::BTreeMap::new();
    for seed in 0..200 {
        let [_, releases, _] = set_ups();
        let mut ships = Place::new(Box::new(Election::new(releases).unwrap()));
        for happens in random_happenings(seed) {
            let decided = ships.step(happens);
            for what in ["Lead", "releases: true", "slow_path: true", "led: true", "Conflict"] {
                *reached.entry(what).or_insert(0_u32) += u32::from(decided.contains(what));
            }
        }
    }
    for what in ["Lead", "releases: true", "slow_path: true", "led: true"] {
        assert!(reached[what] > 5, "{reached:?}");
    }
}
