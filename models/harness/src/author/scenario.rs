//! Concurrent programs, written once and run by every engine.

use std::fmt;
use std::panic::Location;

use super::component::{Component, HistoryOf};
use super::world::World;
use crate::engine::{Engine, Kind};

type Run<C> = Box<dyn Fn(&World<C>) + Send + Sync>;
type Reaches<C> = Box<dyn Fn(&HistoryOf<C>) -> bool + Send + Sync>;
type Refuses = Box<dyn Fn(Engine) -> Option<&'static str> + Send + Sync>;

/// A concurrent program on a component: a few threads with a few calls each.
///
/// It must be deterministic but for the schedule and the choices of the runtime: no clock, thread,
/// lock or random number of its own.
pub struct Scenario<C: Component> {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
    pub(crate) run: Run<C>,
    pub(crate) reaches: Reaches<C>,
    /// Only engines that control the time or the wake-ups ask.
    #[cfg_attr(not(any(feature = "loom", feature = "shuttle")), expect(dead_code))]
    pub(crate) free_deadlines: u32,
    /// Only engines that control the time or the wake-ups ask.
    #[cfg_attr(not(any(feature = "loom", feature = "shuttle")), expect(dead_code))]
    pub(crate) wakes_in_order: bool,
    pub(crate) traces: Option<u64>,
    /// The place in the source where it is stated.
    pub(crate) stated: &'static Location<'static>,
    refuses: Vec<Refuses>,
}

impl<C: Component> Scenario<C> {
    /// Makes one of its name (a summary in snake case), its description in one sentence, the program,
    /// and whether an execution reached the case that the scenario is named for. At least one
    /// execution must reach it, or the scenario proves nothing.
    #[track_caller]
    pub fn new(
        name: &'static str,
        says: &'static str,
        run: impl Fn(&World<C>) + Send + Sync + 'static,
        reaches: impl Fn(&HistoryOf<C>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            says,
            run: Box::new(run),
            reaches: Box::new(reaches),
            free_deadlines: 0,
            wakes_in_order: false,
            traces: None,
            stated: Location::caller(),
            refuses: Vec::new(),
        }
    }

    /// Lets this many armed deadlines pass in the middle of other work, on an engine that controls the
    /// time. All others pass when no thread can move.
    #[must_use]
    pub fn free_deadlines(self, free_deadlines: u32) -> Self {
        Self { free_deadlines, ..self }
    }

    /// Refuses the engines that cannot hold it: the function says why. Of several the first one speaks.
    #[must_use]
    pub fn not_on(
        mut self,
        refuses: impl Fn(Engine) -> Option<&'static str> + Send + Sync + 'static,
    ) -> Self {
        self.refuses.push(Box::new(refuses));
        self
    }

    /// Lets condition variables wake the longest waiter, where the engine can choose.
    #[must_use]
    pub fn wakes_in_order(self) -> Self {
        Self { wakes_in_order: true, ..self }
    }

    /// Says how many traces it has: an engine that explores all of them does not begin with a budget
    /// for fewer.
    #[must_use]
    pub fn traces(self, traces: u64) -> Self {
        Self { traces: Some(traces), ..self }
    }

    /// Says why an engine cannot run it, if it cannot.
    pub(crate) fn cannot_run_on(&self, engine: Engine) -> Option<&'static str> {
        if engine.makes_up_calls() {
            return Some(RUNS_NO_SCENARIO);
        }
        if engine.runs() != Kind::Program {
            return Some(IS_A_PROGRAM);
        }
        self.refuses.iter().find_map(|refuses| refuses(engine))
    }
}

impl<C: Component> fmt::Debug for Scenario<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scenario {}/{}", C::NAME, self.name)
    }
}

/// Refuses real threads to a scenario that sleeps for long.
pub fn sleeps(engine: Engine) -> Option<&'static str> {
    let why = "it sleeps for long: so would real threads";
    (engine == Engine::Threads).then_some(why)
}

/// Refuses real threads to a scenario that looks at exact times.
pub fn needs_exact_time(engine: Engine) -> Option<&'static str> {
    let why = "it compares exact times, and real times are never exact";
    (engine == Engine::Threads).then_some(why)
}

/// Refuses the search of all traces to a scenario that has too many.
pub fn has_many_traces(engine: Engine) -> Option<&'static str> {
    let many = "it has too many traces; others try some of them";
    (engine == Engine::Trace).then_some(many)
}

/// Says why an engine that is made for something else holds no program of threads.
const IS_A_PROGRAM: &str = "it is a program of threads, and this engine runs something else";

/// Why an engine that makes up calls holds no scenario.
pub(crate) const RUNS_NO_SCENARIO: &str =
    "this engine makes up calls of its own, and runs no scenario";
