//! The second implementation of the rules decides at every step like the rules that ship.

use std::sync::Arc;
use std::time::Duration;

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use seatrial_core::elector::{Bounds, Config, Election, Timing};
use seatrial_core::machine::Boxed;

use crate::cluster::Make;
use crate::cluster::going_back::two_leaders;
use crate::election::plain::{Plain, Rules};
use crate::elector::decisions::{Happens, Place, random_happenings, set_ups};
use crate::regressions::tried;

/// Makes the rules that ship.
fn ours(config: Config) -> Rules {
    Box::new(Election::new(config).unwrap())
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => any::<u8>().prop_map(Happens::Call),
        12 => any::<u8>().prop_map(Happens::Answer),
        1 => any::<u8>().prop_map(Happens::Meddle),
        2 => any::<u8>().prop_map(Happens::Turn),
        4 => (0..3_000_u16).prop_map(Happens::Pass),
    ]
}

fn both_decide_alike(config: &Config, all: &[Happens]) -> Result<(), TestCaseError> {
    let mut ships = Place::new(config, ours);
    let mut plain = Place::new(config, |config| Plain::rules(&[], config).unwrap());
    for happens in all {
        prop_assert_eq!(ships.step(*happens), plain.step(*happens), "{:?}", happens);
    }
    Ok(())
}

proptest! {
    #![proptest_config(tried!("elector", cases: 512))]

    fn both_decide_alike_whatever_happens(all in vec(happens(), 0..120)) {
        set_ups().iter().try_for_each(|config| both_decide_alike(config, &all))?;
    }
}

prop_compose! {
    /// A strict set-up that is accepted.
    fn any_set_up()(
        lease in 1..60_u64,
        (renew, retry) in (1..1_000_u32, 1..900_u32),
        (drift_ppm, work, scheduling) in (0..300_000_u32, 0..2_000_u64, 0..500_u64),
        acting in prop::option::of(1..60_000_u64),
        (release_on_cancel, coordinated) in any::<(bool, bool)>(),
    ) -> Config {
        let lease = Duration::from_secs(lease);
        let renew = lease / 1_000 * renew;
        let timing = Timing { lease, renew, retry: renew / 1_000 * retry };
        let [work, scheduling] = [work, scheduling].map(Duration::from_millis);
        let acting = acting.map(Duration::from_millis);
        let bounds = Bounds::default().drift_ppm(drift_ppm).work(work).scheduling(scheduling).acting(acting);
        let config = Config::new("me").timing(timing).bounds(bounds);
        config.release_on_cancel(release_on_cancel).coordinated(coordinated)
    }
}

proptest! {
    #![proptest_config(tried!("elector", cases: 512))]

    fn both_decide_alike_in_any_set_up(config in any_set_up(), all in vec(happens(), 0..120)) {
        match (Election::new(config.clone()), Plain::rules(&[], config.clone())) {
            (Ok(_), Ok(_)) => both_decide_alike(&config, &all)?,
            (Err(ours), Err(theirs)) => prop_assert_eq!(ours, theirs),
            (ours, theirs) => prop_assert!(false, "{:?} {:?}", ours.is_ok(), theirs.is_ok()),
        }
    }
}

fn random_happenings_reach_terms_rounds_and_releases() {
    let mut reached = std::collections::BTreeMap::new();
    for seed in 0..200 {
        let [_, releases, ..] = set_ups();
        let mut ships = Place::new(&releases, ours);
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

fn two_lead_if_a_store_that_goes_back_is_trusted() {
    for mistakes in [&["refusals_are_no_news"], &["own_is_own_for_ever"]] {
        let make: Make = Arc::new(move |config| Boxed(Plain::unchecked(mistakes, config)));
        let (broken, _) = two_leaders(&make);
        assert!(!broken.is_empty(), "{mistakes:?}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    two_lead_if_a_store_that_goes_back_is_trusted,
    both_decide_alike_whatever_happens,
    both_decide_alike_in_any_set_up,
    random_happenings_reach_terms_rounds_and_releases
];
