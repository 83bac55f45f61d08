//! `run`: checks scenarios on engines.

use std::io::ErrorKind;
use std::path::Path;

use super::args::{ColorChoice, Effort, RunArguments};
use super::output::{check_reports, colour, deliver, rendered};
use super::progress::Told;
use super::{Failure, Outcome};
use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::interrupt;
use crate::report::{counted, write_atomically};
use crate::runner::{self, Failures, Request, Share};
use crate::trial::Budget;

pub(super) fn run(catalogue: &Catalogue, arguments: &RunArguments, color: ColorChoice) -> Outcome {
    known_patterns(catalogue, &arguments.patterns)?;
    check_reports(&arguments.reports)?;
    let all = available(Engine::ALL);
    let request = request(&arguments.patterns, &arguments.effort, all, Budget::smoke())?;
    let mut ledger = known(arguments.ledger.as_deref())?;
    let request = Request { ledger: ledger.entries.clone(), ..request };
    interrupt::listen();
    let told = Told::of(&request);
    let report = runner::run(catalogue, &request, &told);
    told.finish();
    if let Some(path) = &arguments.ledger {
        ledger.remember(&report);
        let written = write_atomically(path, &ledger.text());
        written.map_err(|error| Failure::usage(error.to_string()))?;
    }
    let colour = colour(color);
    deliver(&report, &arguments.reports, &arguments.witnesses, || {
        rendered(&report, arguments.detail.of(), colour)
    })
}

/// Reads what failed before; a ledger that is not there yet is empty.
fn known(path: Option<&Path>) -> Result<Failures, Failure> {
    let Some(path) = path else { return Ok(Failures::default()) };
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let ledger = Failures::read(&text);
            if ledger.unreadable > 0 {
                eprintln!(
                    "seatrial: dropped {} of {}: damaged, or of another release",
                    counted(ledger.unreadable as u64, "line"),
                    path.display()
                );
            }
            Ok(ledger)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Failures::default()),
        Err(error) => Err(Failure::usage(format!(
            "cannot read the ledger {}: {error}: name a text file, or one that is not there yet",
            path.display()
        ))),
    }
}

/// Returns those engines that this build has.
pub(super) fn available(engines: &[Engine]) -> Vec<Engine> {
    engines.iter().copied().filter(|engine| engine.missing().is_none()).collect()
}

/// Refuses a pattern that matches nothing.
fn known_patterns(catalogue: &Catalogue, patterns: &[String]) -> Result<(), Failure> {
    for pattern in patterns {
        let only = std::slice::from_ref(pattern);
        let makes_up_none = || catalogue.made_up(only).next().is_none();
        if catalogue.scenarios(only).is_empty() && makes_up_none() {
            return Err(Failure::usage(format!(
                "nothing matches '{pattern}': `{} list` shows what there is",
                catalogue.program
            )));
        }
    }
    Ok(())
}

/// Returns how many cases run at a time.
pub(super) fn jobs(effort: &Effort) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    effort.jobs.map_or_else(processors, usize::from)
}

/// Turns the options that `run` and `mutants` share into a request.
pub(super) fn request(
    patterns: &[String],
    effort: &Effort,
    engines: Vec<Engine>,
    budget: Budget,
) -> Result<Request, Failure> {
    for engine in &effort.engines {
        if let Some(missing) = engine.missing() {
            return Err(Failure::usage(missing));
        }
    }
    let mut chosen = if effort.engines.is_empty() { engines } else { effort.engines.clone() };
    chosen.sort_unstable();
    chosen.dedup();
    let share = match effort.partition {
        Some(share) => share,
        None => Share::of_environment(|name| std::env::var(name).ok()).map_err(Failure::usage)?,
    };
    Ok(Request {
        patterns: patterns.to_vec(),
        engines: chosen,
        by_name: !effort.engines.is_empty(),
        budget: effort.budget.clone().unwrap_or(budget),
        seed: effort.seed,
        seeds: 1,
        jobs: jobs(effort),
        share,
        ledger: Vec::new(),
        fail_fast: effort.fail_fast,
        minimise: !effort.as_found,
        trust_equivalents: false,
    })
}
