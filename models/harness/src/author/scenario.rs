//! Concurrent programs, written once and run by every engine.

use seatrial_core::runtime::Runtime;

use super::component::{Component, HistoryOf};
use super::world::World;
use crate::engine::{AnyRuntime, Kind};

/// A concurrent program on a component: a few threads with a few calls each.
///
/// It must be deterministic but for the schedule and the choices of the runtime: no clock, thread,
/// lock or random number of its own.
pub trait Scenario<C: Component>: Send + Sync + 'static {
    /// Its name: a summary in snake case.
    const NAME: &'static str;
    /// A description of the scenario, in one sentence.
    const SAYS: &'static str;

    /// Runs it once.
    fn run<R: Runtime>(&self, world: &World<R, C>);

    /// Tells whether this execution reached the case that the scenario is named for. At least one
    /// execution must reach it, or the scenario proves nothing.
    fn reaches(history: &HistoryOf<C>) -> bool;

    /// How many armed deadlines may pass in the middle of other work, on an engine that controls
    /// the time. All others pass when no thread can move.
    const FREE_DEADLINES: u32 = 0;

    /// Says why an engine cannot hold the scenario, if it cannot.
    fn cannot_run_on(engine: crate::engine::Engine) -> Option<&'static str> {
        let _ = engine;
        None
    }
}

/// Refuses real threads to a scenario that sleeps for long.
pub fn sleeps(engine: crate::engine::Engine) -> Option<&'static str> {
    let why = "it sleeps for long: so would real threads";
    (engine == crate::engine::Engine::Threads).then_some(why)
}

/// Refuses real threads to a scenario that looks at exact times.
pub fn needs_exact_time(engine: crate::engine::Engine) -> Option<&'static str> {
    let why = "it compares exact times, and real times are never exact";
    (engine == crate::engine::Engine::Threads).then_some(why)
}

/// A [`Scenario`] as the catalogue holds it; implemented for every one of them.
pub trait DynScenario<C: Component>: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// A description of the scenario, in one sentence.
    fn says(&self) -> &'static str;
    /// Whether an execution reached its case.
    fn reaches(&self, history: &HistoryOf<C>) -> bool;
    /// Says why an engine cannot run it, if it cannot.
    fn cannot_run_on(&self, engine: crate::engine::Engine) -> Option<&'static str>;
    /// Whether condition variables wake the longest waiter, where the engine can choose.
    fn wakes_in_order(&self) -> bool {
        false
    }
    /// How many deadlines may pass in the middle of other work.
    fn free_deadlines(&self) -> u32 {
        0
    }
    /// How many traces it has, if that is known: an engine that explores all of them does not begin
    /// with a budget for fewer.
    fn traces(&self) -> Option<u64> {
        None
    }
    /// Runs it once, on the runtime of any engine.
    fn run_on(&self, world: &World<AnyRuntime, C>);
}

/// Says why an engine that is made for something else holds no program of threads.
pub(crate) const IS_A_PROGRAM: &str =
    "it is a program of threads, and this engine runs something else";

/// Why an engine that makes up calls holds no scenario.
pub(crate) const RUNS_NO_SCENARIO: &str =
    "this engine makes up calls of its own, and runs no scenario";

impl<C: Component, S: Scenario<C>> DynScenario<C> for S {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn says(&self) -> &'static str {
        S::SAYS
    }

    fn reaches(&self, history: &HistoryOf<C>) -> bool {
        S::reaches(history)
    }

    fn cannot_run_on(&self, engine: crate::engine::Engine) -> Option<&'static str> {
        if engine.makes_up_calls() {
            return Some(RUNS_NO_SCENARIO);
        }
        if engine.runs() != Kind::Program {
            return Some(IS_A_PROGRAM);
        }
        S::cannot_run_on(engine)
    }

    fn free_deadlines(&self) -> u32 {
        S::FREE_DEADLINES
    }

    fn run_on(&self, world: &World<AnyRuntime, C>) {
        self.run(world);
    }
}
