//! Interrupts: a run that is asked to end does so soon, and says so in its report.

use std::sync::atomic::{AtomicBool, Ordering};

/// Signals are of the process as a whole, and so is the memory of them.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The exit code that a shell reports for an interrupted process.
const INTERRUPTED: i32 = 130;

/// Turns the first Ctrl-C, or the termination by a scheduler, into a request to stop; the second
/// ends the process at once.
pub(crate) fn listen() {
    let stop = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        eprintln!("stopping: the report will say how far it came; once more to stop at once");
    };
    // A process that already listens does so for the same end.
    drop(ctrlc::set_handler(stop));
}

/// Tells whether the process was asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
