//! `cargo seatrial`, in any crate: finds the crate's check targets, builds them, and passes the
//! command on to them. `cargo seatrial init` writes the first one.

mod cargo;
mod init;
mod invocation;
mod passed_on;

use std::process::ExitCode;

use invocation::{Invocation, Wanted};

const HELP: &str = "\
Deterministic checking of concurrent code, in the crate of this folder.

Usage: cargo seatrial [CARGO OPTIONS] [COMMAND] [OPTIONS]
       cargo seatrial [CARGO OPTIONS] init [--path REPOSITORY]

init writes tests/check.rs, a first component with a sample bug, and what Cargo.toml needs for it.
--path takes seatrial from a copy of its repository in place of the registry.

Every other command goes to the crate's check targets: tests whose source calls
`seatrial::tests::main`.
`cargo seatrial list` shows what there is to check, `cargo seatrial run` checks it, and
`cargo seatrial COMMAND --help` tells the options of a command.

Cargo options, before the command: -p/--package, --workspace, --test, -F/--features, --all-features,
--no-default-features, -r/--release, --profile, --target-dir, --manifest-path, --locked, --offline,
--frozen.
";

/// The exit code of wrong usage.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Cargo hands over the name of the subcommand as well.
    let mut words = std::env::args().skip(1).peekable();
    words.next_if(|word| word == "seatrial");
    let outcome = Invocation::read(words).and_then(|invocation| match &invocation.wanted {
        Wanted::Help => {
            print!("{HELP}");
            Ok(0)
        }
        Wanted::Init { repository } => init::init(&invocation, repository.as_deref()),
        Wanted::PassedOn(words) => passed_on::pass_on(&invocation, words),
    });
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("cargo seatrial: {message}");
            ExitCode::from(USAGE)
        }
    }
}
