//! Reports: merged, read back, rendered; and every way in which a harness could be weakened.

#![cfg(all(feature = "loom", feature = "shuttle"))]

mod commands;
mod formats;
mod made_up;
mod merging;
mod refused;
mod shards;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// Variables of schedulers, which must not deal the cases of these tests out.
const SCHEDULERS: [&str; 4] =
    ["JOB_COMPLETION_INDEX", "CI_NODE_INDEX", "CIRCLE_NODE_INDEX", "BUILDKITE_PARALLEL_JOB"];

/// Returns the program with its arguments, not started.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrial"));
    command.args(arguments).env("NO_COLOR", "1").env("SEATRIAL_COMMIT", "0000000");
    for variable in SCHEDULERS {
        command.env_remove(variable);
    }
    command
}

fn seatrial(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of this test's own, empty at first.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("the test folder can be made");
    folder
}

fn path(path: &Path) -> &str {
    path.to_str().expect("the test folder has a plain name")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the report is there")
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).expect("the report is JSON")
}

/// A run of the canary: small, and with violations to show.
const CANARY: [&str; 6] = ["run", "canary", "--budget", "200", "--jobs", "1"];

/// Returns a report of the canary as JSON, run once for all tests.
fn canary() -> &'static Path {
    static REPORT: OnceLock<PathBuf> = OnceLock::new();
    REPORT.get_or_init(|| {
        let report = folder("canary").join("canary.json");
        let to = format!("json={}", path(&report));
        let output = seatrial(&[&CANARY[..], &["--report", &to]].concat());
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        report
    })
}

/// Writes a report of a violation: the canary's, as if the code that ships had it.
fn violated(folder: &Path) -> PathBuf {
    let mut report = json(canary());
    for row in report["rows"].as_array_mut().expect("rows") {
        row["expect"] = "holds".into();
    }
    report["outcome"] = "violated".into();
    let violated = folder.join("violated.json");
    std::fs::write(&violated, report.to_string()).expect("written");
    violated
}

/// Runs what must be refused: exit code 2 and one line that says what to do.
fn refused(arguments: &[&str], says: &str) {
    let output = seatrial(arguments);
    let complaint = text(&output.stderr);
    assert_eq!(code(&output), 2, "{arguments:?}: {complaint}");
    assert!(complaint.contains(says), "{arguments:?}: {complaint}");
    let ours = complaint.starts_with("seatrial: ");
    assert!(!ours || complaint.trim_end().lines().count() == 1, "{complaint}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
}
