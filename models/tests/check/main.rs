//! Every scenario on every engine, every mutant, and the tests of the pages: each a test of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    seatrial::tests::main(&seatrial_models::catalogue::CATALOGUE, seatrial_models::tests::TESTS)
}
