//! Random runs: promises hold, broken promises are found, and the same seed gives the same run.

use seatrial_core::elector::Config;

use super::boundary::liveness;
use super::invariants::{Terms, breaches};
use super::plan::SECOND;
use super::world::{NodeSetup, Setup, simulate};
use super::{
    Action, After, Attempted, Campaign, Fate, Faults, Plan, Random, Run, What, simulate_plan,
};
use crate::election::plain;

fn plan(text: &str) -> Plan {
    text.parse().unwrap()
}

fn terms(plan: &Plan) -> Terms {
    Terms { config: plan.config(), drift_ppm: plan.drift }
}

/// Every fault except the ones that no rule survives.
const ROUGH: &str = "slow=30s,timeout=30s,cut_off=5,lost=300,lost_reply=300,refused=100,lag=300,\
                     drift=10000,rerun=300,cancels=3,release=true,crashes=3,work=500ms,\
                     scheduling=100ms,acts=1s,probe=true";

/// Runs this many seeds; returns the number of terms that were led, and the seeds with a breach.
fn campaign(plan: &Plan, seeds: u64) -> (usize, Vec<(u64, String)>) {
    let terms = terms(plan);
    let mut campaign = Campaign::new();
    let (mut led, mut broken) = (0, Vec::new());
    for seed in 0..seeds {
        let run = campaign.run(&plan.with_seed(seed));
        led += count(run, |what| matches!(what, What::Leads { .. }));
        let found = breaches(run, &terms, true);
        broken.extend(found.first().map(|breach| (seed, format!("{breach:?}"))));
    }
    (led, broken)
}

fn count(run: &Run, is: impl Fn(&What) -> bool) -> usize {
    run.happenings.iter().filter(|happening| is(&happening.what)).count()
}

fn strict_keeps_everything_in_rough_weather() {
    for extra in ["", ",ordered=true", ",renew=14s,retry=5s", ",lease=60s,renew=15s,retry=5s"] {
        let plan = plan(&format!("strict,{ROUGH}{extra}"));
        let (led, broken) = campaign(&plan, 400);
        assert_eq!(broken, [], "{plan}");
        assert!(led > 400, "{led} terms: the runs must be worth something");
    }
}

fn strict_beyond_its_bound_has_two_leaders() {
    let beyond = "strict,slow=30s,timeout=30s,cut_off=5,lost=300,lost_reply=300,acting=25s";
    let (_, broken) = campaign(&plan(beyond), 1_000);
    assert!(!broken.is_empty());
}

fn the_same_text_is_the_same_run() {
    let text = format!("strict,{ROUGH},pauses=2,stalls=2,seed=77");
    let (first, second) = (simulate_plan(&plan(&text)), simulate_plan(&plan(&text)));
    assert_eq!(first.happenings, second.happenings);
    let mut campaign = Campaign::new();
    campaign.run(&plan(&format!("classic,{ROUGH},seed=5")));
    let third = campaign.run(&plan(&text));
    assert_eq!(first.happenings, third.happenings, "also in the memory of another run");
    assert_eq!(first.steps, third.steps);
    let other = simulate_plan(&plan(&text).with_seed(78));
    assert_ne!(first.happenings, other.happenings);
}

fn a_plan_survives_its_text_and_nonsense_is_refused() {
    let whole =
        format!("classic,{ROUGH},acting=13712970ns,same_identity=true,seed=18446744073709551615");
    let parsed = plan(&whole);
    assert_eq!(parsed.to_string().parse(), Ok(parsed.clone()));
    assert_eq!(parsed.acting, 13_712_970);
    assert_eq!(Plan::default().to_string(), "strict");
    for text in ["", "loose", "strict=true", "nodes", "nodes=x", "lease=15", "lease=s", "seed=-1"] {
        assert!(text.parse::<Plan>().is_err(), "{text}");
    }
}

fn every_fault_of_a_plan_happens() {
    // Each of these shows as a change from outside.
    for outside in ["deletes=5", "edits=5", "returns=5"] {
        let text =
            format!("strict,crashes=5,cancels=5,pauses=5,rerun=500,lost=300,acts=1s,{outside}");
        let mut campaign = Campaign::new();
        let mut seen = [false; 6];
        for seed in 0..30 {
            for happening in &campaign.run(&plan(&text).with_seed(seed)).happenings {
                let kind = match happening.what {
                    What::Crashed => 0,
                    What::Cancelled => 1,
                    What::Frozen => 2,
                    What::Outside { .. } => 3,
                    What::Learns { answer: super::Answer::Unsure, .. } => 4,
                    What::Acts { accepted: true, .. } => 5,
                    _ => continue,
                };
                seen[kind] = true;
            }
        }
        assert!(seen.iter().all(|seen| *seen), "{text}: {seen:?}");
    }
}

/// Perfect weather, except for the faults that a test causes on purpose.
struct Calm(Random);

impl Faults for Calm {
    fn fate(&mut self, _: &Attempted<'_>) -> Fate {
        Fate { request: Some(SECOND / 1_000), reply: Some(SECOND / 1_000), lag: 0, refused: false }
    }

    fn entropy(&mut self, _: u8, _: u64) -> u64 {
        self.0.bits()
    }

    fn after(&mut self, _: u8) -> After {
        After::Down
    }
}

fn calm(config: Config, nodes: Vec<NodeSetup>, actions: Vec<(u64, Action)>, seed: u64) -> Run {
    let setup =
        Setup { config, nodes, client_timeout: None, actions, horizon: 200 * SECOND, probe: false };
    simulate(setup, Calm(Random::new(seed)))
}

fn a_write_that_was_sent_arrives_although_its_process_has_crashed() {
    let calls_at = |run: &Run| {
        let writes = |what: &What| matches!(what, What::Calls { verb: super::Verb::Create, .. });
        run.happenings.iter().find(|happening| writes(&happening.what)).map(|it| it.at)
    };
    let alone = || vec![NodeSetup::default()];
    let at =
        calls_at(&calm(plain::reference(""), alone(), vec![], 1)).expect("it creates the lock");
    let crash = Action::Crash { node: 0, back_after: 1_000 * SECOND, same_identity: false };
    let run = calm(plain::reference(""), alone(), vec![(at + SECOND / 2_000, crash)], 1);
    let crashed = run.happenings.iter().position(|it| matches!(it.what, What::Crashed)).unwrap();
    let behind = &run.happenings[crashed..];
    let applied = |what: &What| matches!(what, What::Applied { .. });
    assert!(behind.iter().any(|happening| applied(&happening.what)), "ENV-4: {behind:?}");
}

fn overlapping_stalls_are_one() {
    let clock_at_45 = |stalls: &[(u64, u64)]| {
        let stall = |&(at, nanos): &(u64, u64)| {
            (at * SECOND, Action::Stall { node: 0, nanos: nanos * SECOND })
        };
        let actions = stalls.iter().map(stall).collect();
        let run = calm(plain::reference(""), vec![NodeSetup::default()], actions, 1);
        let after = run.happenings.iter().find(|happening| happening.at >= 45 * SECOND);
        let after = after.expect("it goes on");
        after.local - (after.at - 45 * SECOND)
    };
    assert_eq!(clock_at_45(&[(20, 25)]), 20 * SECOND, "CX-6");
    assert_eq!(clock_at_45(&[(20, 10), (25, 20)]), 20 * SECOND);
    assert_eq!(clock_at_45(&[(20, 25), (25, 5)]), 20 * SECOND, "the longer one came first");
    assert_eq!(clock_at_45(&[(20, 10), (32, 13)]), 22 * SECOND, "apart they are two");
}

/// Returns how long after `at` the next process begins to lead.
fn led_after(run: &Run, at: u64) -> u64 {
    let leads = run
        .happenings
        .iter()
        .find(|happening| happening.at > at && matches!(happening.what, What::Leads { .. }));
    leads.map_or(run.end, |happening| happening.at) - at
}

fn a_crash_and_a_release_are_followed_by_a_leader_within_the_bounds() {
    for config in [Config::new(""), plain::reference("")] {
        let bound = liveness(&config.timing, 0, std::time::Duration::from_millis(2));
        let (mut longest_crash, mut longest_release) = (0, 0);
        for seed in 0..200 {
            let nodes =
                vec![NodeSetup::default(), NodeSetup { starts_at: SECOND, ..NodeSetup::default() }];
            let at = 20 * SECOND + seed * 97_000_000;
            let crash = Action::Crash { node: 0, back_after: 1_000 * SECOND, same_identity: false };
            let run = calm(config.clone(), nodes.clone(), vec![(at, crash)], seed);
            longest_crash = longest_crash.max(led_after(&run, at));
            let releasing = config.clone().release_on_cancel(true);
            let run = calm(releasing, nodes, vec![(at, Action::Cancel { node: 0 })], seed);
            // The work ends at once, so the lease is released at once.
            longest_release = longest_release.max(led_after(&run, at));
        }
        let (crash, release) = (bound.after_crash.as_nanos(), bound.after_release.as_nanos());
        assert!(u128::from(longest_crash) <= crash, "LV-1: {longest_crash}");
        assert!(u128::from(longest_crash) * 10 > crash * 8, "it comes near: {longest_crash}");
        assert!(u128::from(longest_release) <= release + 2_000_000, "LV-2: {longest_release}");
    }
}

/// The happenings of a run, without the readings of clocks.
fn schedule(run: &Run) -> Vec<(u64, u16, String)> {
    let text = |what: &What| match what {
        What::Observes { .. } => String::new(),
        what => format!("{what:?}"),
    };
    run.happenings.iter().map(|h| (h.at, h.process, text(&h.what))).collect()
}

fn a_wall_clock_and_an_offset_decide_nothing() {
    for config in [Config::new(""), plain::reference("")] {
        let nodes = |wall_offset, offset| {
            let ahead = NodeSetup { wall_offset, offset, ..NodeSetup::default() };
            vec![ahead, NodeSetup { starts_at: SECOND, ..NodeSetup::default() }]
        };
        let crash = Action::Crash { node: 0, back_after: 5 * SECOND, same_identity: false };
        let run = |nodes| calm(config.clone(), nodes, vec![(40 * SECOND, crash)], 3);
        let plain = run(nodes(0, 0));
        let shifted = run(nodes(7_777 * SECOND as i64, 12_345 * SECOND));
        assert_eq!(schedule(&plain), schedule(&shifted), "INV-17");
        let back = run(nodes(-7_777 * SECOND as i64, 1));
        assert_eq!(schedule(&plain), schedule(&back), "INV-17");
    }
}

fn the_election_scales_with_its_durations() {
    // Twice as long durations on clocks that run twice as fast: the same schedule (INV-18).
    let base = Config::new("");
    let mut slow = base.clone();
    slow.timing.lease *= 2;
    slow.timing.renew *= 2;
    slow.timing.retry *= 2;
    let perfect = seatrial_core::elector::Bounds::PERFECT;
    let nodes = |rate_ppm| {
        let node = NodeSetup { rate_ppm, ..NodeSetup::default() };
        vec![node.clone(), NodeSetup { starts_at: SECOND, ..node }]
    };
    let crash = Action::Crash { node: 0, back_after: 5 * SECOND, same_identity: false };
    let actions = || vec![(40 * SECOND, crash)];
    let plain = calm(base.bounds(perfect), nodes(0), actions(), 3);
    let scaled = calm(slow.bounds(perfect), nodes(1_000_000), actions(), 3);
    assert_eq!(plain.happenings.len(), scaled.happenings.len());
    for (plain, scaled) in schedule(&plain).iter().zip(schedule(&scaled)) {
        assert_eq!((plain.1, &plain.2), (scaled.1, &scaled.2));
        // Each sleep is rounded to whole nanoseconds, and the scaled run has twice as many nanoseconds.
        assert!(plain.0.abs_diff(scaled.0) < 1_000, "{plain:?} {scaled:?}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    strict_keeps_everything_in_rough_weather,
    strict_beyond_its_bound_has_two_leaders,
    the_same_text_is_the_same_run,
    a_plan_survives_its_text_and_nonsense_is_refused,
    every_fault_of_a_plan_happens,
    a_write_that_was_sent_arrives_although_its_process_has_crashed,
    overlapping_stalls_are_one,
    a_crash_and_a_release_are_followed_by_a_leader_within_the_bounds,
    a_wall_clock_and_an_offset_decide_nothing,
    the_election_scales_with_its_durations
];
