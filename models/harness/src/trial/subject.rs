//! A component with its types hidden, as catalogue, command line and report see it.

use std::panic::Location;
use std::sync::Arc;

use super::case::Case;
use super::fuzzing;
use crate::author::{
    Component, MachineOf, MutantKind, Property, RUNS_NO_SCENARIO, Scenario, Simulation,
};
use crate::conformance::Conformance;
#[cfg(feature = "shuttle")]
use crate::engine::Schedule;
use crate::engine::{Engine, Kind, Route};
#[cfg(feature = "shuttle")]
use crate::outcome::Explored;
use crate::outcome::{Expect, Finding, InvariantInfo, Picture, Plan, Replayed, Trial};

/// The facts about a scenario in the catalogue.
#[derive(Clone, Debug)]
pub struct ScenarioInfo {
    /// Its name.
    pub name: &'static str,
    /// A description of the scenario.
    pub says: &'static str,
    /// Its kind: a program of threads, a model of states, a simulation.
    pub kind: Kind,
    /// The place in the source where it is stated, if it is a program of threads.
    pub stated: Option<&'static Location<'static>>,
}

/// The facts about a mutant in the catalogue.
#[derive(Clone, Debug)]
pub struct MutantInfo {
    /// Its name.
    pub name: &'static str,
    /// The source of the mistake.
    pub origin: &'static str,
    /// The invariants that it breaks.
    pub breaks: &'static [&'static str],
    /// The expected fate.
    pub kind: MutantKind,
    /// Whether only its choice of threads to wake is wrong.
    pub of_waking: bool,
    /// Whether made-up calls can be compared with its results.
    pub is_fuzzed: bool,
}

/// A [`Component`] with its types hidden; implemented for every one of them.
pub trait Subject: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// A description of the component.
    fn says(&self) -> &'static str;
    /// Its scenarios, simulations included.
    fn scenarios(&self) -> Vec<ScenarioInfo>;
    /// Its invariants, those of its simulations included.
    fn invariants(&self) -> Vec<InvariantInfo>;
    /// The invariants that one of its scenarios is judged by, with the verdict that is expected
    /// there.
    fn judged_in(&self, scenario: &str) -> Vec<InvariantInfo>;
    /// Its mutants.
    fn mutants(&self) -> Vec<MutantInfo>;
    /// Draws pictures of the results of its simulations.
    fn pictures(&self) -> Vec<Picture>;
    /// Lists the invariants that convict no mutant of their own, and why they are stated.
    fn never_alone(&self) -> &'static [(&'static str, &'static str)];
    /// Tells whether an engine is asked to convict the mutants.
    fn shows_mutants(&self, engine: Engine) -> bool;
    /// Tells whether an engine is asked to convict a mutant.
    fn shows_mutant(&self, engine: Engine, mutant: &str) -> bool;
    /// Says why an engine cannot run one of its scenarios, if it cannot.
    fn cannot_run(&self, scenario: &str, engine: Engine) -> Option<&'static str>;
    /// How many traces a scenario has, if that is known.
    fn traces(&self, scenario: &str) -> Option<u64>;
    /// Runs a scenario on an engine: the machine that ships, or a mutant. `None` if it has no
    /// scenario or no mutant of that name.
    fn run(&self, scenario: &str, mutant: Option<&str>, plan: &Plan) -> Option<Trial>;
    /// Runs the one execution that a route leads to; `None` if the code does not follow it.
    fn replay(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        route: &Route,
    ) -> Option<Replayed>;
    /// Runs the execution that begins with these decisions, and tells everything that can be seen in it.
    ///
    /// # Errors
    /// If there is no such scenario or mutant, or the code cannot take one of the decisions.
    #[cfg(feature = "shuttle")]
    fn explore(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        beginning: &Schedule,
    ) -> Result<Explored, String>;
    /// Makes the violation that a schedule leads to as small as it goes; `None` if the code does not
    /// follow it, or breaks nothing.
    fn shrink(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        route: &Route,
    ) -> Option<Finding>;
    /// Runs the one execution that bytes decide, whatever they are, and returns what it violates;
    /// `None` if it has no scenario or no mutant of that name.
    #[cfg(feature = "shuttle")]
    fn decided_by(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        bytes: &[u8],
    ) -> Option<Vec<Finding>>;
    /// Returns the digests of all histories that a plan leads to; `None` if it has no such program.
    fn histories(&self, scenario: &str, plan: &Plan) -> Option<Vec<u32>>;
    /// How recorded traces are replayed on it.
    fn conformance(&self) -> Vec<Conformance>;
    /// The property that fuzzers feed.
    fn fuzz(&self) -> Option<fn(&[u8])>;
}

/// Makes a component's place in a catalogue.
pub const fn subject<C: Component>() -> &'static dyn Subject {
    &Of::<C>(std::marker::PhantomData)
}

struct Of<C>(std::marker::PhantomData<fn() -> C>);

impl<C: Component> Of<C> {
    fn scenario(name: &str) -> Option<Scenario<C>> {
        C::scenarios().into_iter().find(|scenario| scenario.name == name)
    }

    fn simulation(name: &str) -> Option<Box<dyn Simulation<C>>> {
        C::simulations().into_iter().find(|simulation| simulation.name() == name)
    }

    fn make(mutant: Option<&str>) -> Option<fn() -> MachineOf<C>> {
        match mutant {
            None => Some(C::machine),
            Some(wanted) => {
                C::mutants().iter().find(|mutant| mutant.name == wanted).map(|mutant| mutant.make)
            }
        }
    }

    fn property(mutant: Option<&str>) -> Option<Property> {
        match mutant {
            None => C::fuzz().map(|property| Box::new(property) as Property),
            Some(wanted) => {
                let mutants = C::mutants();
                C::fuzz_mutant(mutants.iter().find(|mutant| mutant.name == wanted)?)
            }
        }
    }

    fn case(scenario: &str, mutant: Option<&str>) -> Option<Case<C>> {
        Some(Case {
            scenario: Arc::new(Self::scenario(scenario)?),
            make: Arc::new(Self::make(mutant)?),
            invariants: C::invariants().into(),
        })
    }
}

impl<C: Component> Subject for Of<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn says(&self) -> &'static str {
        C::SAYS
    }

    fn scenarios(&self) -> Vec<ScenarioInfo> {
        let programs = C::scenarios().into_iter().map(|program| ScenarioInfo {
            name: program.name,
            says: program.says,
            kind: Kind::Program,
            stated: Some(program.stated),
        });
        let simulations = C::simulations().into_iter().map(|simulation| ScenarioInfo {
            name: simulation.name(),
            says: simulation.says(),
            kind: simulation.kind(),
            stated: None,
        });
        programs.chain(simulations).collect()
    }

    fn invariants(&self) -> Vec<InvariantInfo> {
        let mut all: Vec<_> = C::invariants().iter().map(InvariantInfo::of).collect();
        for judged in C::simulations().iter().flat_map(|simulation| simulation.invariants()) {
            if !all.iter().any(|known| known.name == judged.name) {
                all.push(InvariantInfo { expect: Expect::Holds, ..judged });
            }
        }
        all
    }

    fn judged_in(&self, scenario: &str) -> Vec<InvariantInfo> {
        match Self::simulation(scenario) {
            Some(simulation) => simulation.invariants(),
            None => C::invariants().iter().map(InvariantInfo::of).collect(),
        }
    }

    fn mutants(&self) -> Vec<MutantInfo> {
        let mutants = C::mutants();
        let info = mutants.iter().map(|mutant| MutantInfo {
            name: mutant.name,
            origin: mutant.origin,
            breaks: mutant.breaks,
            kind: mutant.kind,
            of_waking: C::is_of_waking(mutant),
            is_fuzzed: C::fuzz_mutant(mutant).is_some(),
        });
        info.collect()
    }

    fn pictures(&self) -> Vec<Picture> {
        C::pictures()
    }

    fn never_alone(&self) -> &'static [(&'static str, &'static str)] {
        C::never_alone()
    }

    fn shows_mutants(&self, engine: Engine) -> bool {
        C::shows_mutants(engine)
    }

    fn shows_mutant(&self, engine: Engine, mutant: &str) -> bool {
        C::shows_mutants(engine) && C::shows_mutant(engine, mutant)
    }

    fn cannot_run(&self, scenario: &str, engine: Engine) -> Option<&'static str> {
        if engine.makes_up_calls() {
            return Some(RUNS_NO_SCENARIO);
        }
        if let Some(simulation) = Self::simulation(scenario) {
            let reason = match simulation.kind() {
                Kind::States => "it is a model of states, and this engine runs no such models",
                _ => "it is a simulation, and this engine runs no simulations",
            };
            return (engine.runs() != simulation.kind()).then_some(reason);
        }
        Self::scenario(scenario)?.cannot_run_on(engine)
    }

    fn traces(&self, scenario: &str) -> Option<u64> {
        Self::scenario(scenario)?.traces
    }

    fn run(&self, scenario: &str, mutant: Option<&str>, plan: &Plan) -> Option<Trial> {
        if plan.engine.makes_up_calls() {
            return Some(fuzzing::run(&*Self::property(mutant)?, plan));
        }
        match Self::simulation(scenario) {
            // It has a machine of its own; mutants are not applied there.
            Some(simulation) if simulation.kind() == Kind::States && mutant.is_some() => None,
            Some(simulation) => Some(simulation.run(Self::make(mutant)?, plan)),
            None => Some(Self::case(scenario, mutant)?.run(plan)),
        }
    }

    fn replay(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        route: &Route,
    ) -> Option<Replayed> {
        if engine.makes_up_calls() {
            return fuzzing::replay(&*Self::property(mutant)?, &route.to_string());
        }
        if let Some(simulation) = Self::simulation(scenario) {
            return simulation.replay(Self::make(mutant)?, &route.to_string());
        }
        Self::case(scenario, mutant)?.replay(engine, route.schedule()?)
    }

    #[cfg(feature = "shuttle")]
    fn explore(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        beginning: &Schedule,
    ) -> Result<Explored, String> {
        let case = Self::case(scenario, mutant);
        case.ok_or("it has no such scenario or mutant")?.explored(beginning)
    }

    fn shrink(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        route: &Route,
    ) -> Option<Finding> {
        Self::case(scenario, mutant)?.shrink(engine, route.schedule()?)
    }

    #[cfg(feature = "shuttle")]
    fn decided_by(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        bytes: &[u8],
    ) -> Option<Vec<Finding>> {
        Some(Self::case(scenario, mutant)?.decided_by(bytes))
    }

    fn histories(&self, scenario: &str, plan: &Plan) -> Option<Vec<u32>> {
        Some(Self::case(scenario, None)?.histories(plan))
    }

    fn conformance(&self) -> Vec<Conformance> {
        C::conformance()
    }

    fn fuzz(&self) -> Option<fn(&[u8])> {
        C::fuzz()
    }
}
