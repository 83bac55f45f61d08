//! The command line, as tests start it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Variables of schedulers; they must not divide the cases of these tests between machines.
const SCHEDULERS: [&str; 4] =
    ["JOB_COMPLETION_INDEX", "CI_NODE_INDEX", "CIRCLE_NODE_INDEX", "BUILDKITE_PARALLEL_JOB"];

/// Returns the program with its arguments, not started.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrial"));
    command.args(arguments).env("NO_COLOR", "1").env("SEATRIAL_COMMIT", "0000000");
    for variable in SCHEDULERS {
        command.env_remove(variable);
    }
    command
}

/// Runs the program to its end.
pub(crate) fn seatrial(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

/// Returns the exit code.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

/// Returns output as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of its own for a test, empty at first.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("the test folder can be made");
    folder
}

/// Runs a command that must be refused: exit code 2 and one line that says what to do.
pub(crate) fn refused(arguments: &[&str], says: &str) {
    let output = seatrial(arguments);
    let complaint = text(&output.stderr);
    assert_eq!(code(&output), 2, "{arguments:?}: {complaint}");
    assert!(complaint.contains(says), "{arguments:?}: {complaint}");
    let ours = complaint.starts_with("seatrial: ");
    assert!(!ours || complaint.trim_end().lines().count() == 1, "{complaint}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
}
