//! A weakened harness is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_core::runtime::Runtime;
use seatrial_models::catalogue::Catalogue;
use seatrial_models::check::check;
use seatrial_models::engine::Engine;
use seatrial_models::report::{Report, Summary, Verdict};
use seatrial_models::runner::{Request, Silent, run};
use seatrial_models::trial::{
    Budget, Component, Invariant, MachineOf, NoMachine, REACHES_ITS_CASE, Scenario, subject,
};

fn report(catalogue: &Catalogue, engines: &[Engine]) -> Report {
    let request = Request {
        patterns: vec![],
        engines: engines.to_vec(),
        by_name: true,
        budget: Budget::smoke(),
        seed: 0,
        ..Request::default()
    };
    run(catalogue, &request, &Silent)
}

/// A canary that was mended by mistake, and a scenario that never reaches its case.
struct Mended;

impl Component for Mended {
    type Machine = NoMachine;
    const NAME: &'static str = "mended";
    const SAYS: &'static str = "expected to break, and holds";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        vec![two_threads()]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![Invariant::always("always", "holds always", &[], |_| Ok(())).expected_to_break()]
    }
}

fn two_threads() -> Scenario<Mended> {
    Scenario::new(
        "two_threads",
        "two threads",
        |world| {
            let lock = std::sync::Arc::new(world.runtime().mutex(0));
            let (other, runtime) = (std::sync::Arc::clone(&lock), world.runtime().clone());
            let other = world.spawn("other", move || *runtime.lock(&other) += 1);
            *world.runtime().lock(&lock) += 1;
            world.join(other);
        },
        |history| history.finished(),
    )
}

struct Pointless;

impl Component for Pointless {
    type Machine = NoMachine;
    const NAME: &'static str = "pointless";
    const SAYS: &'static str = "its scenario never reaches its case";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        vec![never_there()]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![]
    }
}

fn never_there() -> Scenario<Pointless> {
    Scenario::new("never_there", "nothing happens", |_| {}, |_| false)
}

#[test]
fn a_canary_that_holds_is_exit_code_3() {
    const CATALOGUE: Catalogue = Catalogue::new("test", &[subject::<Mended>()]);
    let report = report(&CATALOGUE, Engine::ALL);
    assert_eq!(report.outcome, Summary::Blind);
    assert_eq!(report.outcome.exit_code(), 3);
}

#[test]
fn a_scenario_that_never_reaches_its_case_is_a_violation() {
    const CATALOGUE: Catalogue = Catalogue::new("test", &[subject::<Pointless>()]);
    let report = report(&CATALOGUE, &[Engine::Loom, Engine::Sample]);
    assert_eq!(report.outcome, Summary::Violated);
    let missed = |row: &&seatrial_models::report::Row| {
        row.invariant == REACHES_ITS_CASE && row.verdict == Verdict::Violated
    };
    assert_eq!(report.rows.iter().filter(missed).count(), 2);
}

#[test]
fn a_run_of_nothing_is_exit_code_4() {
    let report = report(&Catalogue::new("test", &[]), Engine::ALL);
    assert_eq!(report.outcome, Summary::Empty);
    assert_eq!(report.outcome.exit_code(), 4);
}

#[test]
fn a_search_that_does_not_finish_is_undecided() {
    let catalogue = &seatrial_models::catalogue::CATALOGUE;
    for (scenario, engine) in [
        ("queue/two_workers", Engine::Loom),
        ("queue/two_getters", Engine::Trace),
        ("queue/states_of_three_workers", Engine::State),
    ] {
        let request = Request {
            patterns: vec![scenario.to_owned()],
            engines: vec![engine],
            by_name: true,
            budget: "10".parse().expect("a count"),
            seed: 0,
            ..Request::default()
        };
        let report = run(catalogue, &request, &Silent);
        let undecided = report.rows.iter().filter(|row| row.verdict == Verdict::Undecided);
        assert!(undecided.count() > 0, "{engine}");
        assert_eq!(report.outcome, Summary::Inconclusive, "{engine}");
    }
}

/// Takes one lock more in every second execution.
struct Fickle;

impl Component for Fickle {
    type Machine = NoMachine;
    const NAME: &'static str = "fickle";
    const SAYS: &'static str = "does not do the same twice";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        vec![every_second_time()]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![Invariant::always("always", "holds always", &[], |_| Ok(()))]
    }
}

fn every_second_time() -> Scenario<Fickle> {
    Scenario::new(
        "every_second_time",
        "one lock more",
        |world| {
            static RUNS: AtomicU32 = AtomicU32::new(0);
            let (lock, another) = (Arc::new(world.runtime().mutex(0)), world.runtime().mutex(0));
            if RUNS.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
                *world.runtime().lock(&another) += 1;
            }
            let (theirs, runtime) = (Arc::clone(&lock), world.runtime().clone());
            let other = world.spawn("other", move || *runtime.lock(&theirs) += 1);
            *world.runtime().lock(&lock) += 1;
            world.join(other);
        },
        |history| history.finished(),
    )
}

#[test]
fn a_scenario_that_does_not_do_the_same_again_is_inadmissible() {
    const CATALOGUE: Catalogue = Catalogue::new("test", &[subject::<Fickle>()]);
    let report = report(&CATALOGUE, &[Engine::Trace]);
    assert_eq!(report.outcome, Summary::Inadmissible);
    let because = report.rows[0].because.as_deref().unwrap_or_default();
    assert!(because.contains("does not do the same again"), "{because}");
}

#[test]
#[should_panic(expected = "does not do the same again")]
fn such_a_scenario_fails_its_test() {
    check(every_second_time()).on(&[Engine::Trace]);
}

#[test]
#[should_panic(expected = "give a larger `budget`")]
fn a_test_whose_search_was_cut_off_fails() {
    check(two_threads()).budget("1".parse().expect("a count")).on(&[Engine::Loom, Engine::Sample]);
}

#[test]
#[should_panic(expected = "no execution reached the case")]
fn a_test_that_never_comes_to_its_point_fails() {
    check(never_there()).on(&[Engine::Sample]);
}

#[test]
#[should_panic(expected = "no engine of this build ran never_there")]
fn a_test_without_engines_fails() {
    check(never_there()).on(&[]);
}
