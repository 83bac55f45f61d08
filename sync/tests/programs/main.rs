//! Small programs with a known bug each, written for `std` and tokio, with one changed `use` line. The engines that a
//! `#[seatrial::test]` has by default convict each, and find nothing in the mended ones.

mod bounded;
mod cell;
mod permits;
mod transfer;
mod wake_up;

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial::engine::{panic_text, quietly};
use seatrial::program::{Test, run};

/// A program, with its bug or mended.
struct Program {
    name: &'static str,
    broken: fn(),
    mended: fn(),
    /// What the failure says.
    says: &'static str,
}

const ALL: [Program; 5] =
    [wake_up::PROGRAM, cell::PROGRAM, transfer::PROGRAM, bounded::PROGRAM, permits::PROGRAM];

/// Runs a program as the attribute does; returns how it fails, if it does.
fn failure(name: &'static str, body: fn()) -> Option<String> {
    let (module, package) = (module_path!(), "seatrial-sync");
    let test =
        Test { name, module, package, engines: None, budget: "smoke", deadlines: 1, seed: 0 };
    let ran = catch_unwind(AssertUnwindSafe(|| quietly(|| run(&test, body))));
    ran.err().map(|panic| panic_text(&*panic))
}

#[test]
fn each_bug_is_found() {
    for Program { name, broken, says, .. } in ALL {
        let failed = failure(name, broken).unwrap_or_else(|| panic!("{name} is not convicted"));
        assert!(failed.contains(says), "{name} fails otherwise:\n{failed}");
        assert!(failed.contains("SEATRIAL_REPLAY="), "{name} cannot be replayed:\n{failed}");
    }
}

#[test]
fn what_is_mended_holds() {
    for Program { name, mended, .. } in ALL {
        assert_eq!(failure(name, mended), None, "{name}");
    }
}
