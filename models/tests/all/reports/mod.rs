//! Reports are merged, read back and rendered, and the ways in which a harness could be weakened
//! are tried.

mod commands;
mod formats;
mod made_up;
mod merging;
mod refused;
mod shards;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use crate::common::{code, command, folder, refused, seatrial, text};

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
