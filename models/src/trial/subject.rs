//! A component with its types hidden, as catalogue, command line and report see it.

use std::panic::Location;
use std::sync::Arc;

use super::case::{Case, Plan, Replayed, Trial};
use super::component::{Component, MachineOf};
use super::finding::Finding;
use super::invariant::{Expect, Invariant};
use super::mutant::MutantKind;
use super::scenario::DynScenario;
use super::simulation::Simulation;
use crate::conformance::Conformance;
use crate::engine::{Engine, Route};

/// What the catalogue knows of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioInfo {
    /// Its name.
    pub name: &'static str,
    /// What happens.
    pub says: &'static str,
    /// Whether it is a simulation, and no program of threads.
    pub simulated: bool,
}

/// What the catalogue knows of an invariant.
#[derive(Clone, Debug)]
pub struct InvariantInfo {
    /// Its name.
    pub name: &'static str,
    /// The promise.
    pub says: &'static str,
    /// The rules that it states.
    pub rules: &'static [&'static str],
    /// What is expected of it.
    pub expect: Expect,
    /// Where it is stated; `None` for what every component promises.
    pub stated: Option<&'static Location<'static>>,
}

impl InvariantInfo {
    fn of<C: Component>(invariant: &Invariant<C>) -> Self {
        let Invariant { name, says, rules, expect, stated, .. } = *invariant;
        Self { name, says, rules, expect, stated: Some(stated) }
    }
}

/// What the catalogue knows of a mutant.
#[derive(Clone, Debug)]
pub struct MutantInfo {
    /// Its name.
    pub name: &'static str,
    /// Where it comes from.
    pub origin: &'static str,
    /// The invariants that it breaks.
    pub breaks: &'static [&'static str],
    /// What is expected of it.
    pub kind: MutantKind,
}

/// A [`Component`] with its types hidden; implemented for every one of them.
pub trait Subject: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// What it is.
    fn says(&self) -> &'static str;
    /// Its scenarios, simulations included.
    fn scenarios(&self) -> Vec<ScenarioInfo>;
    /// Its invariants, those of its simulations included.
    fn invariants(&self) -> Vec<InvariantInfo>;
    /// What is judged in one of its scenarios, and what is expected there.
    fn judged_in(&self, scenario: &str) -> Vec<InvariantInfo>;
    /// Its mutants.
    fn mutants(&self) -> Vec<MutantInfo>;
    /// Tells whether an engine is asked to convict the mutants.
    fn shows_mutants(&self, engine: Engine) -> bool;
    /// Tells whether an engine is asked to convict a mutant.
    fn shows_mutant(&self, engine: Engine, mutant: &str) -> bool;
    /// Why an engine cannot hold one of its scenarios, if it cannot.
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
    fn scenario(name: &str) -> Option<Arc<dyn DynScenario<C>>> {
        C::scenarios().into_iter().find(|scenario| scenario.name() == name).map(Arc::from)
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

    fn case(scenario: &str, mutant: Option<&str>) -> Option<Case<C>> {
        Some(Case {
            scenario: Self::scenario(scenario)?,
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
            name: program.name(),
            says: program.says(),
            simulated: false,
        });
        let simulations = C::simulations().into_iter().map(|simulation| ScenarioInfo {
            name: simulation.name(),
            says: simulation.says(),
            simulated: true,
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
        });
        info.collect()
    }

    fn shows_mutants(&self, engine: Engine) -> bool {
        C::shows_mutants(engine)
    }

    fn shows_mutant(&self, engine: Engine, mutant: &str) -> bool {
        C::shows_mutants(engine) && C::shows_mutant(engine, mutant)
    }

    fn cannot_run(&self, scenario: &str, engine: Engine) -> Option<&'static str> {
        if Self::simulation(scenario).is_some() {
            let reason = "it is a simulation, and this engine runs programs of threads";
            return (!engine.simulates()).then_some(reason);
        }
        Self::scenario(scenario)?.cannot_run_on(engine)
    }

    fn traces(&self, scenario: &str) -> Option<u64> {
        Self::scenario(scenario)?.traces()
    }

    fn run(&self, scenario: &str, mutant: Option<&str>, plan: &Plan) -> Option<Trial> {
        match Self::simulation(scenario) {
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
        match route {
            Route::Schedule(schedule) => Self::case(scenario, mutant)?.replay(engine, schedule),
            Route::Run(run) => Self::simulation(scenario)?.replay(Self::make(mutant)?, run),
        }
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

    fn conformance(&self) -> Vec<Conformance> {
        C::conformance()
    }

    fn fuzz(&self) -> Option<fn(&[u8])> {
        C::fuzz()
    }
}
