//! The command line, for this crate's catalogue and for yours.
//!
//! A crate of your own gets every command for its own scenarios with a test target of three lines
//! and `harness = false`:
//!
//! ```no_run
//! # use seatrial_models::catalogue::Catalogue;
//! # const CATALOGUE: Catalogue = Catalogue { program: "mine", subjects: &[] };
//! fn main() -> std::process::ExitCode {
//!     seatrial_models::cli::main(&CATALOGUE)
//! }
//! ```

mod alone;
mod args;
mod boundary;
mod conformance;
mod doctor;
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

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::catalogue::Catalogue;

use args::{Arguments, Command};

/// An answer that is not a report: one line that says what to do, and an exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

/// The exit code of wrong usage.
const USAGE: u8 = 2;
/// The exit code of a replay that went another way.
const DIVERGED: u8 = 102;

impl Failure {
    fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: USAGE }
    }
}

/// What a command comes to: an exit code, or a failure.
type Outcome = Result<u8, Failure>;

/// Runs the command line of a catalogue on the arguments of this process.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    let command = definition(catalogue);
    let parsed =
        command.try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, not errors; clap knows which is which.
            let code = if error.use_stderr() { USAGE } else { 0 };
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::from(USAGE),
            };
        }
    };
    match dispatch(catalogue, arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("{}: {}", catalogue.program, failure.message);
            ExitCode::from(failure.code)
        }
    }
}

/// Returns what may stand on the command line of a catalogue.
fn definition(catalogue: &Catalogue) -> clap::Command {
    Arguments::command().name(catalogue.program).bin_name(catalogue.program)
}

fn dispatch(catalogue: &Catalogue, arguments: Arguments) -> Outcome {
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
        Command::Shrink(shrink) => shrink::shrink(catalogue, &shrink, colour),
        Command::Doctor => doctor::doctor(catalogue, colour),
        Command::Completions(completions) => manual::completions(catalogue, &completions),
        Command::Man(man) => manual::man(catalogue, &man),
        Command::Boundary(arguments) => boundary::boundary(&arguments, colour),
    }
}
