//! A component with its types hidden, as catalogue, command line and report see it.

use std::panic::Location;
use std::sync::Arc;

use super::case::{Case, Plan, Replayed, Trial};
use super::component::Component;
use super::finding::Finding;
use super::invariant::Expect;
use super::mutant::MutantKind;
use super::scenario::DynScenario;
use crate::conformance::Conformance;
use crate::engine::{Engine, Schedule};

/// What the catalogue knows of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioInfo {
    /// Its name.
    pub name: &'static str,
    /// What happens.
    pub says: &'static str,
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
    /// Its scenarios.
    fn scenarios(&self) -> Vec<ScenarioInfo>;
    /// Its invariants.
    fn invariants(&self) -> Vec<InvariantInfo>;
    /// Its mutants.
    fn mutants(&self) -> Vec<MutantInfo>;
    /// Why an engine cannot hold one of its scenarios, if it cannot.
    fn cannot_run(&self, scenario: &str, engine: Engine) -> Option<&'static str>;
    /// Runs a scenario on an engine: the machine that ships, or a mutant. `None` if it has no
    /// scenario or no mutant of that name.
    fn run(&self, scenario: &str, mutant: Option<&str>, plan: &Plan) -> Option<Trial>;
    /// Runs the one execution of a schedule; `None` if the code does not follow it.
    fn replay(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        schedule: &Schedule,
    ) -> Option<Replayed>;
    /// Makes the violation that a schedule leads to as small as it goes; `None` if the code does not
    /// follow it, or breaks nothing.
    fn shrink(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        schedule: &Schedule,
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

    fn case(scenario: &str, mutant: Option<&str>) -> Option<Case<C>> {
        let make = match mutant {
            None => C::machine,
            Some(wanted) => C::mutants().iter().find(|mutant| mutant.name == wanted)?.make,
        };
        Some(Case {
            scenario: Self::scenario(scenario)?,
            make: Arc::new(make),
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
        let scenarios = C::scenarios();
        let info = scenarios
            .iter()
            .map(|scenario| ScenarioInfo { name: scenario.name(), says: scenario.says() });
        info.collect()
    }

    fn invariants(&self) -> Vec<InvariantInfo> {
        let invariants = C::invariants();
        let info = invariants.iter().map(|invariant| InvariantInfo {
            name: invariant.name,
            says: invariant.says,
            rules: invariant.rules,
            expect: invariant.expect,
            stated: Some(invariant.stated),
        });
        info.collect()
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

    fn cannot_run(&self, scenario: &str, engine: Engine) -> Option<&'static str> {
        Self::scenario(scenario)?.cannot_run_on(engine)
    }

    fn run(&self, scenario: &str, mutant: Option<&str>, plan: &Plan) -> Option<Trial> {
        Some(Self::case(scenario, mutant)?.run(plan))
    }

    fn replay(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        schedule: &Schedule,
    ) -> Option<Replayed> {
        Self::case(scenario, mutant)?.replay(engine, schedule)
    }

    fn shrink(
        &self,
        scenario: &str,
        mutant: Option<&str>,
        engine: Engine,
        schedule: &Schedule,
    ) -> Option<Finding> {
        Self::case(scenario, mutant)?.shrink(engine, schedule)
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
