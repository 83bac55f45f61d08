//! A violation says why: what the panic said, where, in which thread, and in which scenario.

use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_core::runtime::Runtime as _;

use super::*;
use crate::report::{Colour, Detail, report_text};
use crate::trial::{
    Component, Invariant, InvariantInfo, MachineOf, NEVER_PANICS, NoMachine, Replayed, Scenario,
    Simulation, Trial, World, subject,
};

/// A component that breaks in every way.
struct Fragile;

impl Component for Fragile {
    type Machine = NoMachine;
    const NAME: &'static str = "fragile";
    const SAYS: &'static str = "something breaks, on purpose";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        Breaks::ALL.iter().map(|breaks| breaks.scenario()).collect()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        vec![Box::new(Simulated)]
    }

    fn invariants() -> Vec<Invariant<Self>> {
        vec![Invariant::always("breaks_at_times", "a check that breaks", &[], |history| {
            assert!(history.notes("judge me").next().is_none(), "the judge breaks");
            Ok(())
        })]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| match bytes.first().map(|byte| byte % 3) {
            Some(0) => drop(Bomb),
            Some(1) => panic!("the call breaks"),
            _ => assert_eq!(1 + 1, 3, "the sum is right"),
        })
    }
}

/// The ways to break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Breaks {
    InAThread,
    InATask,
    InADrop,
    ByAnAssertion,
    WithoutAWord,
    InTheJudge,
    AtTimes,
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the drop breaks");
    }
}

impl Breaks {
    const ALL: &[Self] = &[
        Self::InAThread,
        Self::InATask,
        Self::InADrop,
        Self::ByAnAssertion,
        Self::WithoutAWord,
        Self::InTheJudge,
        Self::AtTimes,
    ];

    /// What must be read in the report: the thread, and what was said.
    fn reason(self) -> (&'static str, &'static str) {
        match self {
            Self::InAThread => ("thread `worker` panicked", "the worker breaks"),
            Self::InATask => ("thread `main` panicked", "the task breaks"),
            Self::InADrop => ("thread `main` panicked", "the drop breaks"),
            Self::ByAnAssertion => ("thread `main` panicked", "failed: the sum is right"),
            Self::WithoutAWord => ("thread `main` panicked", "a panic without text"),
            Self::InTheJudge => ("panicked", "the judge breaks"),
            Self::AtTimes => ("violated in 3 of 21 runs: thread `main` panicked", "at times"),
        }
    }
}

impl Breaks {
    fn name(self) -> &'static str {
        match self {
            Self::InAThread => "in_a_thread",
            Self::InATask => "in_a_task",
            Self::InADrop => "in_a_drop",
            Self::ByAnAssertion => "by_an_assertion",
            Self::WithoutAWord => "without_a_word",
            Self::InTheJudge => "in_the_judge",
            Self::AtTimes => "at_times",
        }
    }

    fn scenario(self) -> Scenario<Fragile> {
        let says = "it is a scenario that breaks";
        Scenario::new(self.name(), says, move |world| self.run(world), |_| true).not_on(
            move |engine| {
                let wrong = self == Self::AtTimes && engine != Engine::Threads;
                wrong.then_some("it is for other engines")
            },
        )
    }

    fn run(self, world: &World<Fragile>) {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        match self {
            Self::InAThread => {
                let worker = world.spawn("worker", || panic!("the worker breaks"));
                world.join::<()>(worker);
            }
            Self::InATask => world.runtime().block_on(async { panic!("the task breaks") }),
            Self::InADrop => drop(Bomb),
            Self::ByAnAssertion => assert_eq!(1 + 1, 3, "the sum is right"),
            Self::WithoutAWord => panic!("{}", ""),
            Self::InTheJudge => world.note("judge me", 1),
            Self::AtTimes => {
                let run = RUNS.fetch_add(1, Ordering::Relaxed);
                assert!(!run.is_multiple_of(7), "it breaks at times");
            }
        }
    }
}

struct Simulated;

impl Simulation<Fragile> for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn says(&self) -> &'static str {
        "it is a scenario that breaks"
    }

    fn invariants(&self) -> Vec<InvariantInfo> {
        Vec::new()
    }

    fn run(&self, _: fn() -> MachineOf<Fragile>, _: &Plan) -> Trial {
        panic!("the simulation breaks");
    }

    fn replay(&self, _: fn() -> MachineOf<Fragile>, _: &str) -> Option<Replayed> {
        None
    }
}

const CATALOGUE: Catalogue = Catalogue::new("test", &[subject::<Fragile>()]);

/// Runs one scenario on one engine, one execution of it on real threads; returns the report.
fn ran(scenario: &str, engine: Engine) -> Report {
    let patterns = vec![format!("fragile/{scenario}")];
    let budget = "5".parse().expect("a count");
    let request = Request { patterns, engines: vec![engine], budget, ..Request::default() };
    run(&CATALOGUE, &request, &Silent)
}

/// Sees that a report tells who said what, where, and in which scenario.
fn tells(report: &Report, who: &str, said: &str) {
    let text = report_text(report, Detail::Brief, Colour(false));
    let reason = text.lines().find(|line| line.contains(who));
    let reason = reason.unwrap_or_else(|| panic!("{who} is not told:\n{text}"));
    let place = reason.split("reasons.rs:").nth(1).unwrap_or_default();
    assert!(place.starts_with(|first: char| first.is_ascii_digit()), "no line:\n{text}");
    assert!(reason.trim_end().ends_with(said), "{said}:\n{text}");
    assert!(report.rows.iter().any(|row| row.verdict == Verdict::Violated), "{text}");
}

#[test]
fn every_panic_is_told_on_every_engine_that_runs_programs() {
    for &engine in Engine::ALL.iter().filter(|engine| engine.missing().is_none()) {
        for breaks in
            Breaks::ALL.iter().filter(|breaks| breaks.scenario().cannot_run_on(engine).is_none())
        {
            let (who, said) = breaks.reason();
            let report = ran(breaks.name(), engine);
            tells(&report, who, said);
            let text = report_text(&report, Detail::Verbose, Colour(false));
            assert!(text.contains("the scenario: it is a scenario that breaks"), "{text}");
            let blank = |line: &str| line.trim_end().ends_with(':') && line.contains(NEVER_PANICS);
            assert!(!text.lines().any(blank), "a reason is blank:\n{text}");
        }
    }
}

#[test]
fn both_sides_of_an_assertion_are_told() {
    let text = report_text(&ran("by_an_assertion", Engine::Threads), Detail::Brief, Colour(false));
    assert!(text.contains("        left: 2\n") && text.contains("       right: 3\n"), "{text}");
    assert!(text.contains("violated in 21 of 21 runs"), "{text}");
}

#[test]
fn a_simulation_that_breaks_down_is_a_violation_that_says_why() {
    tells(&ran("simulated", Engine::Cluster), "panicked at", "the simulation breaks");
}

#[test]
fn made_up_calls_that_break_are_told() {
    let report = ran("made_up", Engine::Fuzz);
    let because = report.rows[0].because.clone().unwrap_or_default();
    let said = ["the drop breaks", "the call breaks", "failed: the sum is right"];
    assert!(said.iter().any(|said| because.contains(said)), "{because}");
    assert!(because.starts_with("panicked at ") && because.contains("reasons.rs:"), "{because}");
}
