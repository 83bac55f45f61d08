//! The command line of this crate's own catalogue.

use std::process::ExitCode;

fn main() -> ExitCode {
    seatrial_models::cli::main(&seatrial_models::catalogue::CATALOGUE)
}
