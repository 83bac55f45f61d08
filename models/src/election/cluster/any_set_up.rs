//! Random set-ups in random weather: an elector keeps its promises with every set-up that it
//! accepts.

use ::proptest::prelude::*;

use super::Plan;
use super::invariants::{Terms, breaches};
use super::plan::SECOND;
use super::simulate_plan;
use crate::election::plain;
use crate::regressions::tried;

const MILLI: u64 = SECOND / 1_000;

prop_compose! {
    /// Durations of any ratio; most of them are refused.
    fn durations()(
        lease in 1..60_u64,
        renew in 1..1_000_u64,
        retry in 20..900_u64,
    ) -> (u64, u64, u64) {
        let renew = lease * SECOND / 1_000 * renew;
        (lease * SECOND, renew, renew / 1_000 * retry)
    }
}

prop_compose! {
    /// A set-up that an elector accepts.
    fn set_up()(
        strict in any::<bool>(),
        (lease, renew, retry) in durations(),
        drift in 0..200_000_u32,
        (work, scheduling) in (0..3_000 * MILLI, 0..500 * MILLI),
        acting in prop_oneof![2 => Just(0), 1 => 1..1_000_u64],
        (release, ordered) in (any::<bool>(), any::<bool>()),
        nodes in 1..5_u32,
    ) -> Option<Plan> {
        let plan = Plan {
            strict,
            lease,
            renew,
            retry,
            drift,
            work,
            scheduling,
            release,
            ordered,
            nodes,
            horizon: 8 * lease,
            ..Plan::default()
        };
        // A share of the longest acting time that is safe.
        let longest = plan.bounds().longest_acting(plan.timing().stored_lease()).as_nanos() as u64;
        let plan = Plan { acting: longest / 1_000 * acting, ..plan };
        let mut config = plan.config();
        config.identity = "a".into();
        plain::validate(&config).is_ok().then_some(plan)
    }
}

prop_compose! {
    /// The same in any weather, measured in leases.
    fn in_any_weather()(
        plan in set_up().prop_filter_map("an elector refuses it", |plan| plan),
        (usual, slow, timeout) in (0..200_u64, 0..2_000_u64, 0..2_000_u64),
        [slow_permille, lost, lost_reply, refused, lag] in [0..400_u32, 0..400, 0..400, 0..200, 0..400],
        [cut_off, crashes, cancels] in [0..8_u32, 0..4, 0..4],
        (rerun, same_identity, probe) in (0..1_000_u32, any::<bool>(), any::<bool>()),
        [pauses, stalls, deletes, edits] in [0..3_u32, 0..3, 0..3, 0..3],
        rough in any::<bool>(),
        seed in any::<u64>(),
    ) -> (Plan, bool) {
        let of_lease = |permille: u64| plan.lease / 1_000 * permille;
        let calm = Plan {
            usual: of_lease(usual),
            slow: of_lease(slow),
            timeout: of_lease(timeout),
            slow_permille,
            lost,
            lost_reply,
            refused,
            lag,
            cut_off,
            crashes,
            cancels,
            rerun,
            probe,
            acts: of_lease(40) + 1,
            seed,
            ..plan
        };
        // The faults that no rule survives without tokens.
        let wild = Plan { pauses, stalls, deletes, edits, same_identity, ..calm.clone() };
        if rough { (wild, false) } else { (calm, true) }
    }
}

proptest! {
    #![proptest_config(tried!("elector", cases: 400))]

    fn whatever_set_up_is_accepted_keeps_its_promises((plan, calm) in in_any_weather()) {
        let run = simulate_plan(&plan);
        let terms = Terms { config: plan.config(), drift_ppm: plan.drift };
        // The classic profile promises safety within a bound of its own, which most of these plans
        // break.
        let broken = breaches(&run, &terms, calm && plan.strict);
        prop_assert!(broken.is_empty(), "{}: {:?}", plan, broken);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![whatever_set_up_is_accepted_keeps_its_promises];
