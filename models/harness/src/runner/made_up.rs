//! Made-up calls of the machine that ships are a case of a run.

use super::*;
use crate::catalogue::Catalogue;
use crate::trial::{Component, Invariant, MachineOf, NoMachine, Scenario, Witness, subject};

/// A component whose property fails for a byte of nine behind one of seven, if `BREAKS`.
struct Fuzzed<const BREAKS: bool>;

impl<const BREAKS: bool> Component for Fuzzed<BREAKS> {
    type Machine = NoMachine;
    const NAME: &'static str = if BREAKS { "broken" } else { "sound" };
    const SAYS: &'static str = "calls that are made up";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        Vec::new()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            let seven = bytes.iter().position(|byte| byte % 16 == 7);
            let then = seven.is_some_and(|at| bytes[at..].iter().any(|byte| byte % 16 == 9));
            assert!(!(BREAKS && then), "a nine behind a seven");
        })
    }
}

const CATALOGUE: Catalogue =
    Catalogue::new("test", &[subject::<Fuzzed<true>>(), subject::<Fuzzed<false>>()]);

fn ran(patterns: &[&str], engines: &[Engine]) -> Report {
    let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let request = Request { patterns, engines: engines.to_vec(), ..Request::default() };
    run(&CATALOGUE, &request, &Silent)
}

#[test]
fn calls_that_differ_from_the_sequential_object_are_a_violation_that_replays() {
    let report = ran(&["broken/made_up"], &[Engine::Fuzz]);
    let [row] = &report.rows[..] else { panic!("one case: {:?}", report.rows) };
    assert_eq!(row.verdict, Verdict::Violated);
    assert!(row.says.as_ref().is_some_and(|says| says.contains("sequential object")));
    let witness: Witness = row.witness.as_ref().expect("a way back").parse().expect("a witness");
    let replayed = subject::<Fuzzed<true>>()
        .replay(&witness.scenario, None, Engine::Fuzz, &witness.route)
        .expect("bytes can be followed");
    let because = &replayed.findings[0].violation.because;
    assert!(because.ends_with("a nine behind a seven"), "{because}");
    // It is shown again before anything else runs.
    let commit = "3f2a9c1".to_owned();
    let ledger = vec![Entry { commit, seed: 0, witness }];
    let engines = vec![Engine::Fuzz];
    let request = Request { engines, ledger, fail_fast: true, ..Request::default() };
    let again = run(&CATALOGUE, &request, &Silent);
    assert_eq!((again.rows.len(), again.rows[0].verdict), (1, Verdict::Violated));
}

#[test]
fn calls_that_agree_cost_the_budget_and_hold() {
    let report = ran(&["sound"], &[Engine::Fuzz]);
    let [row] = &report.rows[..] else { panic!("one case: {:?}", report.rows) };
    let all = Budget::default().sequences;
    assert_eq!((row.verdict, row.executions), (Verdict::Holds, Some(all)));
}

#[test]
fn no_calls_are_made_up_where_another_engine_or_component_is_meant() {
    assert_eq!(ran(&["sound"], &[Engine::State]).rows.len(), 0);
    assert_eq!(ran(&["neither"], &[Engine::Fuzz]).rows.len(), 0);
    assert_eq!(ran(&[], &[Engine::Fuzz]).rows.len(), 2);
}
