//! What is explored: a program of threads, and where to begin.

use std::panic::Location;
use std::path::Path;

use crate::catalogue::Catalogue;
use crate::cli::Failure;
use crate::cli::replay::{gone, read, subject};
use crate::engine::{Engine, Schedule};
use crate::outcome::{Explored, InvariantInfo};
use crate::trial::Witness;

/// Runs the execution that begins with these decisions.
type Run = Box<dyn Fn(&Schedule) -> Result<Explored, String> + Send + Sync>;

/// A program whose executions begin as one likes.
pub(crate) struct Explorable {
    /// The scenario, the engine and where to begin; its history is not of interest.
    pub(crate) begins: Witness,
    /// A description of the scenario.
    pub(crate) says: &'static str,
    /// Where it is stated.
    pub(crate) stated: Option<&'static Location<'static>>,
    pub(crate) invariants: Vec<InvariantInfo>,
    pub(crate) run: Run,
}

/// Finds what the command line names.
pub(super) fn find(catalogue: &Catalogue, what: &str) -> Result<Explorable, Failure> {
    if !what.starts_with("seatrial-") && !Path::new(what).is_file() {
        return explorable(catalogue, scenario(catalogue, what)?);
    }
    let begins = read(what)?;
    if !matches!(begins.engine, Engine::Sample | Engine::Trace) {
        return Err(Failure::usage(format!(
            "a way of {} is not made of steps that can be chosen here: explore the scenario {}/{}, or a \
             witness of `--engine trace` or `--engine sample`",
            begins.engine, begins.component, begins.scenario
        )));
    }
    let explorable = explorable(catalogue, begins)?;
    (explorable.run)(explorable.beginning()).map_err(|_| gone())?;
    Ok(explorable)
}

/// Reads `component/scenario` or `component/scenario+mutant`.
fn scenario(catalogue: &Catalogue, what: &str) -> Result<Witness, Failure> {
    let unknown = || {
        Failure::usage(format!(
            "'{what}' is no witness and no `component/scenario`: `{} list` shows what there is",
            catalogue.program
        ))
    };
    let (component, scenario) = what.split_once('/').ok_or_else(unknown)?;
    let (scenario, mutant) = match scenario.split_once('+') {
        Some((scenario, mutant)) => (scenario, Some(mutant.to_owned())),
        None => (scenario, None),
    };
    let of = catalogue.subject(component).ok_or_else(unknown)?;
    let runs = |engine: &Engine| of.cannot_run(scenario, *engine).is_none();
    let engine = [Engine::Sample, Engine::Trace].into_iter().find(runs).ok_or_else(|| {
        let why = of.cannot_run(scenario, Engine::Sample).unwrap_or_default();
        Failure::usage(format!("{what} has no steps of threads to choose: {why}"))
    })?;
    Ok(Witness {
        component: component.to_owned(),
        scenario: scenario.to_owned(),
        mutant,
        engine,
        route: Schedule::default().into(),
        history: 0,
    })
}

fn explorable(catalogue: &Catalogue, begins: Witness) -> Result<Explorable, Failure> {
    let of = subject(catalogue, &begins)?;
    let info = of.scenarios().into_iter().find(|one| one.name == begins.scenario);
    let (scenario, mutant) = (begins.scenario.clone(), begins.mutant.clone());
    Ok(Explorable {
        says: info.as_ref().map_or("", |info| info.says),
        stated: info.and_then(|info| info.stated),
        invariants: of.judged_in(&begins.scenario),
        run: Box::new(move |beginning| of.explore(&scenario, mutant.as_deref(), beginning)),
        begins,
    })
}

impl Explorable {
    /// Returns the decisions to begin with.
    pub(super) fn beginning(&self) -> &Schedule {
        self.begins.route.schedule().expect("only schedules are explored")
    }

    /// Returns the witness of an execution.
    pub(super) fn witness(&self, explored: &Explored) -> Result<Witness, String> {
        let route = explored.schedule.parse::<Schedule>().map_err(|error| error.to_string())?;
        Ok(Witness { route: route.into(), history: explored.history, ..self.begins.clone() })
    }
}
