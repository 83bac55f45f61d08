//! The result of a command, and the commands that a catalogue adds.

use clap::ArgMatches;

use crate::report::{Colour, Summary};

/// A command that a catalogue adds to those that every command line has.
#[derive(Clone, Copy, Debug)]
pub struct ExtraCommand {
    /// Returns its name, its help and its arguments.
    pub definition: fn() -> clap::Command,
    /// Runs it on its arguments, and returns the exit code.
    pub run: fn(&ArgMatches, Colour) -> Outcome,
}

/// An answer that is not a report: one line that says what to do, and an exit code.
#[derive(Debug)]
pub struct Failure {
    pub(crate) message: String,
    pub(crate) code: u8,
}

/// The exit code of wrong usage.
pub(crate) const USAGE: u8 = 2;
/// The exit code of a replay that went another way.
pub(crate) const DIVERGED: u8 = Summary::Inadmissible.exit_code();

impl Failure {
    /// The command line asks for something that cannot be done: says what to do instead.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: USAGE }
    }
}

/// The result of a command: an exit code, or a failure.
pub type Outcome = Result<u8, Failure>;
