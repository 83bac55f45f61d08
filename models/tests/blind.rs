//! A harness that was weakened is found out.

#![cfg(all(feature = "loom", feature = "shuttle"))]

use seatrial_core::runtime::Runtime;
use seatrial_models::catalogue::Catalogue;
use seatrial_models::engine::Engine;
use seatrial_models::report::{Report, Summary, Verdict};
use seatrial_models::runner::{Progress, Request, run};
use seatrial_models::trial::{
    Budget, Component, DynScenario, HistoryOf, Invariant, MachineOf, NoMachine, REACHES_ITS_CASE,
    Scenario, World, subject,
};

struct Silent;

impl Progress for Silent {
    fn begin(&self, _: usize) {}
    fn start(&self, _: &str) {}
    fn end(&self) {}
}

fn report(catalogue: &Catalogue, engines: &[Engine]) -> Report {
    let request = Request {
        patterns: vec![],
        engines: engines.to_vec(),
        by_name: true,
        budget: Budget::smoke(),
        seed: 0,
        jobs: 1,
    };
    run(catalogue, &request, &Silent)
}

/// A canary that was mended by mistake, and a scenario that never comes to its point.
struct Mended;

impl Component for Mended {
    type Machine = NoMachine;
    const NAME: &'static str = "mended";
    const SAYS: &'static str = "expected to break, and holds";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
        vec![Box::new(TwoThreads)]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![Invariant::always("always", "holds always", &[], |_| Ok(())).expected_to_break()]
    }
}

struct TwoThreads;

impl Scenario<Mended> for TwoThreads {
    const NAME: &'static str = "two_threads";
    const SAYS: &'static str = "two threads";

    fn run<R: Runtime>(&self, world: &World<R, Mended>) {
        let lock = std::sync::Arc::new(world.runtime().mutex(0));
        let (other, runtime) = (std::sync::Arc::clone(&lock), world.runtime().clone());
        let other = world.spawn("other", move || *runtime.lock(&other) += 1);
        *world.runtime().lock(&lock) += 1;
        world.join(other);
    }
    fn reaches(history: &HistoryOf<Mended>) -> bool {
        history.finished()
    }
}

struct Pointless;

impl Component for Pointless {
    type Machine = NoMachine;
    const NAME: &'static str = "pointless";
    const SAYS: &'static str = "its scenario never reaches its case";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
        vec![Box::new(NeverThere)]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![]
    }
}

struct NeverThere;

impl Scenario<Pointless> for NeverThere {
    const NAME: &'static str = "never_there";
    const SAYS: &'static str = "nothing happens";

    fn run<R: Runtime>(&self, _: &World<R, Pointless>) {}
    fn reaches(_: &HistoryOf<Pointless>) -> bool {
        false
    }
}

#[test]
fn a_canary_that_holds_is_exit_code_3() {
    const CATALOGUE: Catalogue = Catalogue { program: "test", subjects: &[subject::<Mended>()] };
    let report = report(&CATALOGUE, Engine::ALL);
    assert_eq!(report.outcome, Summary::Blind);
    assert_eq!(report.outcome.exit_code(), 3);
}

#[test]
fn a_scenario_that_never_reaches_its_case_is_a_violation() {
    const CATALOGUE: Catalogue = Catalogue { program: "test", subjects: &[subject::<Pointless>()] };
    let report = report(&CATALOGUE, &[Engine::Loom, Engine::Sample]);
    assert_eq!(report.outcome, Summary::Violated);
    let missed = |row: &&seatrial_models::report::Row| {
        row.invariant == REACHES_ITS_CASE && row.verdict == Verdict::Violated
    };
    assert_eq!(report.rows.iter().filter(missed).count(), 2);
}

#[test]
fn a_run_of_nothing_is_exit_code_4() {
    let report = report(&Catalogue { program: "test", subjects: &[] }, Engine::ALL);
    assert_eq!(report.outcome, Summary::Empty);
    assert_eq!(report.outcome.exit_code(), 4);
}

#[test]
fn loom_that_does_not_finish_is_undecided() {
    let catalogue = &seatrial_models::catalogue::CATALOGUE;
    let request = Request {
        patterns: vec!["queue/two_workers".to_owned()],
        engines: vec![Engine::Loom],
        by_name: true,
        budget: "10".parse().expect("a count"),
        seed: 0,
        jobs: 1,
    };
    let report = run(catalogue, &request, &Silent);
    let undecided = report.rows.iter().filter(|row| row.verdict == Verdict::Undecided);
    assert!(undecided.count() > 0);
    assert_eq!(report.outcome, Summary::Inconclusive);
}
