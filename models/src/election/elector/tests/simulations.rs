//! The simulations come out as expected, and their runs can be shown again.

use crate::cluster::{Campaign, What};
use crate::elector::Elector;
use crate::elector::simulations::weather;
use crate::engine::{Engine, Kind, Route};
use crate::trial::{Budget, Expect, Plan, StopAt, digest, subject};

fn plan() -> Plan {
    let budget = Budget { simulated_runs: 400, ..Budget::smoke() };
    let (engine, stop_at) = (Engine::Cluster, StopAt::End);
    Plan { engine, budget, seed: 0, stop_at, minimise: false, time: None }
}

fn simulations() -> Vec<&'static str> {
    let scenarios = subject::<Elector>().scenarios().into_iter();
    scenarios.filter(|info| info.kind == Kind::Simulation).map(|info| info.name).collect()
}

fn every_simulation_comes_out_as_expected() {
    let subject = subject::<Elector>();
    for name in simulations() {
        let trial = subject.run(name, None, &plan()).unwrap();
        let judged = subject.judged_in(name);
        assert!(
            trial.reached && trial.exploration.steps > 0 || name.starts_with("cx_07"),
            "{name}"
        );
        assert!(!judged.is_empty(), "{name} judges nothing");
        for info in judged {
            let found = trial.findings.iter().find(|finding| finding.invariant == info.name);
            let because = found.map(|finding| &finding.violation.because);
            assert_eq!(
                found.is_some(),
                info.expect == Expect::Violated,
                "{name}: {} {because:?}",
                info.name
            );
        }
    }
}

fn leaders_change_in_the_weather_of_the_simulations() {
    // Without a change, about one term is led in each run.
    for (name, least) in [("store_goes_back_strict", 600), ("random_weather_classic", 800)] {
        let (weather, mut campaign) = (weather(name), Campaign::new());
        let leads = |what: &What| matches!(what, What::Leads { .. });
        let terms = (0..400).map(|seed| {
            let run = campaign.run(&weather.with_seed(seed));
            run.happenings.iter().filter(|happening| leads(&happening.what)).count()
        });
        let led: usize = terms.sum();
        assert!(led > least, "{name}: {led} terms");
    }
}

fn the_reference_breaks_where_the_rules_say_so_and_the_strict_profile_does_not() {
    let subject = subject::<Elector>();
    let expects =
        |name: &str| subject.judged_in(name).iter().any(|info| info.expect == Expect::Violated);
    let names = simulations();
    for number in 1..=15 {
        let of_rule = |profile: &str| {
            let found = names.iter().find(|name| {
                name.starts_with(&format!("cx_{number:02}_")) && name.ends_with(profile)
            });
            found.copied().unwrap_or_else(|| panic!("CX-{number} in {profile} is missing"))
        };
        assert!(expects(of_rule("_classic")), "CX-{number}");
        // In these three cases no clock can exclude two leaders, in any profile; tokens keep them
        // apart.
        let fenced = (4..=6).contains(&number);
        assert_eq!(expects(of_rule("_strict")), fenced, "CX-{number}");
    }
}

fn a_finding_leads_back_to_its_run() {
    let subject = subject::<Elector>();
    for name in ["cx_01_slow_reply_classic", "random_pauses_strict"] {
        let trial = subject.run(name, None, &plan()).unwrap();
        let finding = trial.findings.first().unwrap();
        let route = finding.route.clone().unwrap();
        assert!(matches!(route, Route::Run(_)), "{route}");
        let replayed = subject.replay(name, None, Engine::Cluster, &route).unwrap();
        assert_eq!(digest(&replayed.transcript), finding.digest(), "{name}");
        assert!(replayed.findings.iter().any(|one| one.invariant == finding.invariant));
        let picture = replayed.picture.unwrap();
        assert!(picture.contains("two leaders") && picture.contains("<-- here"), "{picture}");
    }
}

fn a_route_to_nowhere_is_no_run() {
    let subject = subject::<Elector>();
    for (name, run) in [
        ("cx_01_slow_reply_classic", "strict"),
        ("random_weather_strict", "loose"),
        ("no_such_simulation", "strict"),
    ] {
        let route = Route::Run(run.into());
        assert!(subject.replay(name, None, Engine::Cluster, &route).is_none(), "{name} {run}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_simulation_comes_out_as_expected,
    leaders_change_in_the_weather_of_the_simulations,
    the_reference_breaks_where_the_rules_say_so_and_the_strict_profile_does_not,
    a_finding_leads_back_to_its_run,
    a_route_to_nowhere_is_no_run
];
