//! Figures of the simulated elections: overlaps, waits, effects, speed.
//!
//! The runs are few in an ordinary test, and many by night, where `ci/figures.sh` prints what they come to:
//!
//! ```text
//! SEATRIAL_FIGURES=1 cargo test --release -p seatrial-models --test all -- figures:: --nocapture --test-threads 1
//! ```

use std::time::{Duration, Instant};

use seatrial_core::elector::{Config, Timing};
use seatrial_models::cluster::boundary::liveness;
use seatrial_models::cluster::invariants::{Terms, invariant};
use seatrial_models::cluster::{
    Action, After, Attempted, Campaign, Fate, Faults, NodeSetup, Plan, Random, Run, Setup, What,
    simulate,
};

const SECOND: u64 = 1_000_000_000;

/// Three nodes, late, lost and lagging messages, drift, crashes.
const ROUGH: &str = "cut_off=5,lost=300,lost_reply=300,refused=100,lag=300,\
                     drift=10000,rerun=300,cancels=3,release=true,crashes=3,work=500ms,\
                     scheduling=100ms";

/// Durations that get the same tests, with answers up to two leases late.
const TRIPLES: [&str; 6] = [
    "lease=15s,renew=10s,retry=2s,slow=30s,timeout=30s",
    "lease=5s,renew=3s,retry=500ms,slow=10s,timeout=10s",
    "lease=60s,renew=15s,retry=5s,slow=120s,timeout=120s,horizon=600s",
    "lease=15s,renew=14s,retry=5s,slow=30s,timeout=30s",
    "lease=30s,renew=20s,retry=3s,slow=60s,timeout=60s,horizon=300s",
    "lease=10s,renew=5s,retry=1s,slow=20s,timeout=20s",
];

/// Returns how much is run: little, or all of it where the figures are asked for.
fn runs(few: u64, many: u64) -> u64 {
    if std::env::var_os("SEATRIAL_FIGURES").is_some() { many } else { few }
}

fn plan(text: &str) -> Plan {
    text.parse().expect("the plans are well-formed")
}

/// The figures of a campaign.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    runs: u64,
    steps: u64,
    terms: u64,
    overlaps: u64,
}

/// Runs seeds `first`, `first + stride` and so on below `runs`; `stop` after the first overlap.
fn tally(plan: &Plan, (first, stride): (u64, u64), runs: u64, stop: bool) -> Tally {
    let judged = invariant("one_actor").expect("the cluster has this promise");
    let terms = Terms { config: plan.config(), drift_ppm: plan.drift };
    let mut campaign = Campaign::new();
    let mut tally = Tally::default();
    let mut seed = first;
    while seed < runs && !(stop && tally.overlaps > 0) {
        let run = campaign.run(&plan.with_seed(seed));
        let leads = |what: &What| matches!(what, What::Leads { .. });
        tally.runs += 1;
        tally.steps += run.steps;
        tally.terms +=
            run.happenings.iter().filter(|happening| leads(&happening.what)).count() as u64;
        tally.overlaps += u64::from(judged.check(run, &terms).is_err());
        seed += stride;
    }
    tally
}

/// As [`tally`], on all processors.
fn tally_on_all(plan: &Plan, runs: u64) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        let each = |first| scope.spawn(move || tally(plan, (first, threads), runs, false));
        let started: Vec<_> = (0..threads).map(each).collect();
        started.into_iter().fold(Tally::default(), |sum, thread| {
            let one = thread.join().expect("a campaign does not panic");
            Tally {
                runs: sum.runs + one.runs,
                steps: sum.steps + one.steps,
                terms: sum.terms + one.terms,
                overlaps: sum.overlaps + one.overlaps,
            }
        })
    })
}

/// Returns an acting time of one and a half times the bound, and weather in which random runs can
/// show the consequences: nodes are cut off, and hardly any answer is in time.
fn beyond(triple: &str) -> Plan {
    let inside = plan(&format!("strict,{triple},slow_permille=500,cut_off=8,lost=300"));
    let acting = inside.bounds().longest_acting(inside.timing().stored_lease());
    Plan { acting: acting.mul_f64(1.5).as_nanos() as u64, ..inside }
}

fn strict_holds(runs_of_each: u64) {
    let mut sum = Tally::default();
    for triple in TRIPLES {
        let tally = tally_on_all(&plan(&format!("strict,{triple},{ROUGH}")), runs_of_each);
        assert_eq!(tally.overlaps, 0, "two leaders in {triple}");
        sum.runs += tally.runs;
        sum.steps += tally.steps;
        sum.terms += tally.terms;
    }
    println!("strict, within its bound: {} runs, {} terms, 0 overlaps", sum.runs, sum.terms);
    assert!(sum.terms > sum.runs, "the runs must be worth something");
    for triple in TRIPLES {
        let found = tally(&beyond(triple), (0, 1), 20_000, true);
        assert_eq!(found.overlaps, 1, "none beyond the bound in {triple}");
        println!("  half beyond it, {triple}: two leaders in run {}", found.runs);
    }
}

#[test]
fn random_runs_find_two_leaders_beyond_the_bound_alone() {
    strict_holds(runs(200, 1_000_000_u64.div_ceil(TRIPLES.len() as u64)));
}

/// Calls take a millisecond each way; polls come at random times.
struct Calm(Random);

const WAY: u64 = SECOND / 1_000;

impl Faults for Calm {
    fn fate(&mut self, _: &Attempted<'_>) -> Fate {
        Fate { request: Some(WAY), reply: Some(WAY), lag: 0, refused: false }
    }

    fn entropy(&mut self, _: u8, _: u64) -> u64 {
        self.0.bits()
    }

    fn after(&mut self, _: u8) -> After {
        After::Down
    }
}

/// Returns how long no node led after the leader was lost by this action.
fn without_leader(config: Config, action: Action, at: u64, seed: u64) -> u64 {
    let node = |starts_at| NodeSetup { starts_at, ..NodeSetup::default() };
    let horizon = at + 4 * config.timing.lease.as_nanos() as u64;
    let setup = Setup {
        config,
        nodes: vec![node(0), node(SECOND)],
        client_timeout: None,
        actions: vec![(at, action)],
        horizon,
        probe: false,
    };
    let run = simulate(setup, Calm(Random::new(seed)));
    let leads = run
        .happenings
        .iter()
        .find(|happening| happening.at > at && matches!(happening.what, What::Leads { .. }));
    leads.map_or(run.end, |happening| happening.at) - at
}

fn waits_are_bounded(seeds: u64) {
    for (lease, renew, retry) in [(15, 10, 2), (60, 15, 5), (30, 20, 3)] {
        let timing = Timing::seconds(lease, renew, retry);
        let bound = liveness(&timing, 0, Duration::from_nanos(2 * WAY));
        let config = Config::new("").timing(timing);
        let crash = Action::Crash { node: 0, back_after: 10_000 * SECOND, same_identity: false };
        let (mut after_crash, mut after_release) = (0, 0);
        for seed in 0..seeds {
            let at = 2 * lease * SECOND + seed * 97_000_003 % (lease * SECOND);
            after_crash = after_crash.max(without_leader(config.clone(), crash, at, seed));
            let releasing = config.clone().release_on_cancel(true);
            let waited = without_leader(releasing, Action::Cancel { node: 0 }, at, seed);
            after_release = after_release.max(waited);
        }
        // A release takes a read and a write before it is applied.
        let released = bound.after_release + Duration::from_nanos(4 * WAY);
        for (what, worst, bound) in [
            ("crash", Duration::from_nanos(after_crash), bound.after_crash),
            ("release", Duration::from_nanos(after_release), released),
        ] {
            println!(
                "{lease}/{renew}/{retry}: a new leader {worst:.3?} after a {what}, bound {bound:.3?}"
            );
            assert!(worst <= bound, "election:LV-1, election:LV-2: {what}");
        }
    }
}

#[test]
fn a_new_leader_comes_within_the_bounds() {
    waits_are_bounded(runs(100, 100_000));
}

/// Counts the effects that the resource takes, and those of deposed leaders: effects after the
/// first effect of a later term. `checks` says whether the resource checks tokens.
fn late_effects(run: &Run, checks: bool) -> (u64, u64) {
    let mut terms: Vec<(u16, u32)> = Vec::new();
    let (mut taken, mut late) = (0, 0);
    for happening in &run.happenings {
        let What::Acts { term, accepted } = happening.what else { continue };
        if checks && !accepted {
            continue;
        }
        taken += 1;
        let actor = (happening.process, term);
        match terms.iter().position(|known| *known == actor) {
            None => terms.push(actor),
            Some(place) => late += u64::from(place + 1 < terms.len()),
        }
    }
    (taken, late)
}

/// Counts effects on a protected resource while processes pause, clocks stand still, and an
/// administrator deletes and edits the lease.
fn effects(profile: &str, checks: bool, seeds: u64) -> (u64, u64) {
    let plan = plan(&format!(
        "{profile},{},{ROUGH},pauses=5,stalls=3,deletes=2,edits=2,acts=500ms,same_identity=true",
        TRIPLES[0]
    ));
    let mut campaign = Campaign::new();
    let (mut taken, mut late) = (0, 0);
    for seed in 0..seeds {
        let one = late_effects(campaign.run(&plan.with_seed(seed)), checks);
        (taken, late) = (taken + one.0, late + one.1);
    }
    (taken, late)
}

fn tokens_protect(seeds: u64) {
    for (profile, checks) in
        [("strict", true), ("strict", false), ("classic", true), ("classic", false)]
    {
        let (taken, late) = effects(profile, checks, seeds);
        let word = if checks { "tokens checked" } else { "not checked" };
        println!("{profile}, {word}: {taken} effects taken, {late} of deposed leaders");
        assert!(taken > seeds, "the runs must be worth something");
        match (profile, checks) {
            ("strict", true) => assert_eq!(late, 0, "election:SF-14"),
            (_, false) => assert!(late > 0, "nothing to protect from"),
            _ => {} // the reference has no token; ours is as good as its transitions
        }
    }
}

#[test]
fn a_resource_that_checks_tokens_takes_nothing_of_a_deposed_leader() {
    tokens_protect(runs(200, 20_000));
}

/// Reads how long this thread has been on a processor, if the system tells.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

#[test]
fn steps_simulated_in_a_second() {
    for text in
        [format!("strict,{},{ROUGH}", TRIPLES[0]), "strict".to_owned(), "classic".to_owned()]
    {
        let plan = plan(&text);
        let mut campaign = Campaign::new();
        let (mut steps, began, ran) = (0, Instant::now(), on_processor());
        for seed in 0..runs(200, 20_000) {
            steps += campaign.run(&plan.with_seed(seed)).steps;
        }
        let ran = ran.zip(on_processor()).map(|(before, after)| after - before);
        let took = ran.unwrap_or_else(|| began.elapsed());
        let rate = steps as f64 / took.as_secs_f64() / 1e6;
        println!("{rate:.1} M steps/s on one processor: {plan}");
    }
}
