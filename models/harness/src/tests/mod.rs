//! The cases of a catalogue as tests: a test target without libtest's own harness lists each of them.
//!
//! | test | what it shows |
//! |---|---|
//! | `component/scenario/engine` | every invariant comes out as expected, and the scenario reaches its case |
//! | `component/mutant/engine` | the mutant breaks what it says it breaks; an equivalent one breaks nothing |
//! | `component/made_up_calls/fuzz` | the property that fuzzers feed holds |
//! | `component/conformance` | the recorded traces of the reference replay |
//!
//! So `cargo test queue/` tries the components whose names end so, and `cargo test -- --exact
//! queue/two_getters/loom` one case.
//! Budgets are small: the command line does the searching. Of the engines that are asked about a mutant one is
//! tried; `-- --include-ignored` tries the others as well.

mod checks;
mod convictions;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::catalogue::Catalogue;
use crate::cli;
use crate::engine::Engine;
use crate::report::{Colour, Summary, rows_text};
use crate::runner::{Request, test_cases};
use crate::trial::{MutantInfo, Subject};

pub use checks::{comes_out_as_expected, every_mistake_is_noticed};

/// Functions of a module, each of which is a test as well. [`tests!`](crate::tests!) makes it.
#[derive(Clone, Copy, Debug)]
pub struct Tests {
    /// The path of the module.
    pub module: &'static str,
    /// The functions, with their names.
    pub functions: &'static [(&'static str, fn())],
}

/// Lists functions of this module as [`Tests`].
#[macro_export]
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        $crate::tests::Tests {
            module: module_path!(),
            functions: &[$((stringify!($name), $name as fn())),*],
        }
    };
}

/// Runs a test target: the cases of a catalogue, and other tests. With the name of a command as its first
/// argument it is the [command line](cli) of the catalogue.
pub fn main(catalogue: &'static Catalogue, others: &[Tests]) -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    if command(&words).is_some_and(|word| cli::is_command(catalogue, word)) {
        return cli::main(catalogue);
    }
    if words.iter().any(|word| ["-h", "--help"].contains(&word.as_str())) {
        println!("Without a command, the tests run. Commands: `run --help` and so on.");
        println!("{}", cli::commands(catalogue).join(", "));
        println!();
    }
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, trials(catalogue, others)).exit_code()
}

/// Returns the word in the place of a command: options that every command has may come before it.
fn command(words: &[String]) -> Option<&String> {
    match words.iter().position(|word| word != "--color" && !word.starts_with("--color=")) {
        Some(at) if at > 0 && words[at - 1] == "--color" => words.get(at + 1),
        other => words.get(other?),
    }
}

fn trials(catalogue: &'static Catalogue, others: &[Tests]) -> Vec<Trial> {
    let mut trials = cases(catalogue);
    for subject in catalogue.subjects {
        for mutant in subject.mutants() {
            trials.extend(convictions(*subject, &mutant));
        }
        let conformance = subject.conformance();
        if !conformance.is_empty() {
            let name = format!("{}/conformance", subject.name());
            trials.push(Trial::test(name, || replays(*subject)));
        }
    }
    for Tests { module, functions } in others {
        let path = module.split_once("::").map_or(*module, |(_, path)| path);
        for &(name, function) in *functions {
            trials.push(Trial::test(format!("{path}::{name}"), move || {
                function();
                Ok(())
            }));
        }
    }
    trials
}

/// What a run tries, with a small budget.
fn cases(catalogue: &'static Catalogue) -> Vec<Trial> {
    let engines = Engine::ALL.iter().copied().filter(|engine| engine.missing().is_none());
    let request =
        Request { engines: engines.collect(), budget: checks::budget(), ..Request::default() };
    let cases = test_cases(catalogue, &request).into_iter();
    let trials = cases.map(|case| {
        let (name, request, program) = (case.address(), request.clone(), catalogue.program);
        Trial::test(name, move || {
            let (rows, outcome) = case.outcome(&request);
            if outcome == Summary::Holds {
                return Ok(());
            }
            Err(Failed::from(rows_text(&rows, program, Colour(false))))
        })
    });
    trials.collect()
}

/// A mutant, on the engines that are asked about it. All but the first are ignored unless they are asked for: the
/// kill matrix tries all of them.
fn convictions(subject: &'static dyn Subject, mutant: &MutantInfo) -> Vec<Trial> {
    let trial = |(nth, engines): (usize, Vec<Engine>)| {
        let names: Vec<_> = engines.iter().map(|engine| engine.name()).collect();
        let name = format!("{}/{}/{}", subject.name(), mutant.name, names.join(","));
        let mutant = mutant.clone();
        let trial = Trial::test(name, move || {
            convictions::is_convicted(subject, &mutant, &engines).map_err(Failed::from)
        });
        trial.with_kind("mutant").with_ignored_flag(nth > 0)
    };
    convictions::groups(subject, mutant).into_iter().enumerate().map(trial).collect()
}

/// Replays what is recorded of a component.
fn replays(subject: &dyn Subject) -> Result<(), Failed> {
    for conformance in subject.conformance() {
        let name = conformance.traces_of;
        let text = conformance.recorded().ok_or("its traces are not carried")?;
        let outcome = conformance.replay_lines(text.lines());
        let faithful = outcome.faithful.unwrap_or(outcome.traces);
        let as_recorded = outcome.failures.is_empty()
            && outcome.traces > 0
            && [outcome.replayed, faithful] == [outcome.traces; 2];
        if !as_recorded {
            let failures = outcome.failures;
            return Err(Failed::from(format!("{name}: {failures:#?}")));
        }
    }
    Ok(())
}
