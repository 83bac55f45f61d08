//! Cases that failed before are tried first.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;
use seatrial_models::catalogue::Catalogue;
use seatrial_models::engine::{AnyRuntime, Engine, Route};
use seatrial_models::report::{Report, Summary, Verdict};
use seatrial_models::runner::{Failures, Request, Silent, run};
use seatrial_models::trial::{Component, Invariant, MachineOf, NoMachine, Scenario, subject};

/// Loses an update sometimes.
struct Counter;

impl Component for Counter {
    type Machine = NoMachine;
    const NAME: &'static str = "counter";
    const SAYS: &'static str = "a number that two threads raise";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        vec![raised(), quiet()]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        vec![]
    }
}

fn raised() -> Scenario<Counter> {
    Scenario::new(
        "raised",
        "two threads raise it, each in two steps",
        |world| {
            let number = Arc::new(world.runtime().mutex(0));
            let raise = |runtime: &AnyRuntime, number: &<AnyRuntime as Runtime>::Mutex<u32>| {
                let before = *runtime.lock(number);
                *runtime.lock(number) = before + 1;
            };
            let (theirs, runtime) = (Arc::clone(&number), world.runtime().clone());
            let other = world.spawn("other", move || raise(&runtime, &theirs));
            raise(world.runtime(), &number);
            world.join(other);
            assert_eq!(*world.runtime().lock(&number), 2, "an update is lost");
        },
        |history| history.finished(),
    )
}

fn quiet() -> Scenario<Counter> {
    Scenario::new("quiet", "nothing happens", |_| {}, |history| history.finished())
}

const CATALOGUE: Catalogue = Catalogue::new("test", &[subject::<Counter>()]);

fn request() -> Request {
    let budget = "300".parse().expect("a count");
    Request { engines: vec![Engine::Sample], by_name: true, budget, ..Request::default() }
}

/// Runs once, and returns the failures that are tried first from then on.
fn remembered() -> Failures {
    let report = run(&CATALOGUE, &request(), &Silent);
    assert_eq!(report.outcome, Summary::Violated);
    let mut ledger = Failures::default();
    ledger.remember(&report);
    assert_eq!(ledger.entries.len(), 1);
    Failures::read(&ledger.text())
}

fn with(ledger: &Failures, request: Request) -> Report {
    run(&CATALOGUE, &Request { ledger: ledger.entries.clone(), ..request }, &Silent)
}

#[test]
fn what_failed_is_replayed_before_anything_is_run() {
    let again = with(&remembered(), Request { fail_fast: true, ..request() });
    assert_eq!(again.outcome, Summary::Violated);
    assert_eq!(again.rows.len(), 1, "the failure, and nothing was begun: {:?}", again.rows);
    assert_eq!(again.rows[0].verdict, Verdict::Violated);
    assert_eq!((again.parts[0].shards[&1].ran, again.parts[0].shards[&1].cases), (0, 2));
}

#[test]
fn what_cannot_be_followed_any_more_is_run_again_from_its_seed() {
    let mut ledger = remembered();
    let longer = format!("{}b9=3.", ledger.entries[0].witness.route);
    ledger.entries[0].witness.route = Route::Schedule(longer.parse().expect("a schedule"));
    let again = with(&ledger, Request { fail_fast: true, ..request() });
    assert_eq!(again.outcome, Summary::Violated, "{:?}", again.rows);
    assert!(again.rows.iter().all(|row| row.scenario == "raised"));
    assert_eq!(again.parts[0].shards[&1].ran, 0, "it is found before anything else is begun");
}

#[test]
fn what_the_request_does_not_cover_is_not_replayed() {
    let quiet = Request { patterns: vec!["counter/quiet".to_owned()], ..request() };
    assert_eq!(with(&remembered(), quiet).outcome, Summary::Holds);
}
