//! The command line of this crate's own catalogue.

use std::process::ExitCode;

fn main() -> ExitCode {
    // In the folder of `seatrial assets` it has another name.
    if let Some(code) = seatrial_sim::assets::run_as() {
        return code;
    }
    seatrial_models::cli::main(&seatrial_models::catalogue::CATALOGUE)
}
