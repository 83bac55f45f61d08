//! The command line, for this crate's catalogue and for yours.
//!
//! A program of three lines has every command for its own scenarios. In a test target with `harness = false`
//! call [`tests::main`](crate::tests::main) in place of this `main`: without a command it runs as tests.
//!
//! ```no_run
//! # use seatrial::catalogue::Catalogue;
//! # const CATALOGUE: Catalogue = Catalogue::new("mine", &[]);
//! fn main() -> std::process::ExitCode {
//!     seatrial::cli::main(&CATALOGUE)
//! }
//! ```

mod alone;
mod args;
mod conformance;
mod controller;
mod doctor;
pub(crate) mod explore;
mod list;
mod manual;
mod merge;
mod mutants;
mod output;
mod progress;
mod render;
mod replay;
mod run;
mod shrink;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};

use crate::catalogue::Catalogue;
use crate::command::{DIVERGED, USAGE};

use args::{Arguments, ColorChoice, Command};

pub use crate::command::{ExtraCommand, Failure, Outcome};
pub use args::{Printed, Reports};
pub use output::print;

/// Runs the command line of a catalogue on the arguments of this process.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    let outcome = match definition(catalogue).try_get_matches() {
        Ok(matches) => dispatch(catalogue, &matches),
        Err(error) => {
            // Help and version are answers, not errors; clap knows which is which.
            let code = if error.use_stderr() { USAGE } else { 0 };
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::from(USAGE),
            };
        }
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("{}: {}", catalogue.program, failure.message);
            ExitCode::from(failure.code)
        }
    }
}

/// Lists the commands of a catalogue.
pub(crate) fn commands(catalogue: &Catalogue) -> Vec<String> {
    definition(catalogue).get_subcommands().map(|it| it.get_name().to_owned()).collect()
}

/// Tells whether this is the name of a command.
pub(crate) fn is_command(catalogue: &Catalogue, name: &str) -> bool {
    name == "help" || definition(catalogue).find_subcommand(name).is_some()
}

/// Returns the command line of a catalogue.
fn definition(catalogue: &Catalogue) -> clap::Command {
    let command = Arguments::command().name(catalogue.program).bin_name(catalogue.program);
    command.subcommands(catalogue.commands.iter().map(|extra| (extra.definition)()))
}

fn dispatch(catalogue: &Catalogue, matches: &ArgMatches) -> Outcome {
    if let Some((name, its)) = matches.subcommand() {
        let is_it = |extra: &&ExtraCommand| (extra.definition)().get_name() == name;
        if let Some(extra) = catalogue.commands.iter().find(is_it) {
            let choice = matches.get_one::<ColorChoice>("color").copied();
            return (extra.run)(its, output::colour(choice.unwrap_or(ColorChoice::Auto)));
        }
    }
    let arguments =
        Arguments::from_arg_matches(matches).map_err(|error| Failure::usage(error.to_string()))?;
    let colour = arguments.color;
    match arguments.command.unwrap_or_default() {
        Command::List(list) => list::list(catalogue, &list, colour),
        Command::Run(run) => run::run(catalogue, &run, colour),
        Command::Replay(replay) => replay::replay(catalogue, &replay, colour),
        Command::Mutants(mutants) => mutants::mutants(catalogue, &mutants, colour),
        Command::Conformance(conformance) => {
            conformance::conformance(catalogue, &conformance, colour)
        }
        Command::Merge(merge) => merge::merge(&merge, colour),
        Command::Report(report) => render::report(&report),
        Command::Schema => render::schema(),
        Command::Explore(arguments) => explore::explore(catalogue, &arguments),
        Command::Shrink(shrink) => shrink::shrink(catalogue, &shrink, colour),
        Command::Doctor(doctor) => match &doctor.controller {
            Some(test) => controller::diagnose(test, &doctor),
            None => doctor::doctor(catalogue, colour),
        },
        Command::Completions(completions) => manual::completions(catalogue, &completions),
        Command::Man(man) => manual::man(catalogue, &man),
    }
}
