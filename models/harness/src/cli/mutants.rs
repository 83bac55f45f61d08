//! `mutants`: the kill matrix.

use super::alone;
use super::args::{ColorChoice, MutantsArguments};
use super::output::{check_reports, colour, deliver, rendered};
use super::progress::Told;
use super::run::{available, request};
use super::{Failure, Outcome};
use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::interrupt;
use crate::runner::{Request, mutant_cases, run_mutants};
use crate::trial::Budget;

pub(super) fn mutants(
    catalogue: &Catalogue,
    arguments: &MutantsArguments,
    color: ColorChoice,
) -> Outcome {
    if arguments.alone {
        return alone::alone(catalogue, arguments, color);
    }
    for pattern in &arguments.patterns {
        if mutant_cases(catalogue, std::slice::from_ref(pattern)).is_empty() {
            return Err(Failure::usage(format!(
                "no mutant matches '{pattern}': `{} list` shows what there is",
                catalogue.program
            )));
        }
    }
    check_reports(&arguments.reports)?;
    // Real threads prove nothing about a mutant, and a mutant may hang them.
    let engines: Vec<_> =
        Engine::ALL.iter().copied().filter(|engine| !engine.depends_on_the_machine()).collect();
    let engines = available(&engines);
    if engines.is_empty() && arguments.effort.engines.is_empty() {
        return Err(Failure::usage(
            "this build has no engine that can convict: build with `--features loom,shuttle`",
        ));
    }
    let request = request(&arguments.patterns, &arguments.effort, engines, Budget::smoke())?;
    let (seeds, trust_equivalents) = (arguments.seeds, arguments.trust_equivalents);
    let request = Request { seeds, trust_equivalents, ..request };
    interrupt::listen();
    let told = Told::of(&request);
    let report = run_mutants(catalogue, &request, &told);
    told.finish();
    let colour = colour(color);
    deliver(&report, &arguments.reports, &arguments.witnesses, || {
        rendered(&report, arguments.detail.of(), colour)
    })
}
