//! `seatrial boundary`, end to end.

use std::path::Path;
use std::process::{Command, Output};

fn boundary(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seatrial"))
        .arg("boundary")
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_defaults_print_the_safe_drift_a_timeline_and_the_verdict() {
    let output = boundary(&[]);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for says in ["safe drift up to 11.1 %", "3.000 s", "two leaders", "within 1 % of the formula"] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert_eq!(text, self::text(&boundary(&[]).stdout), "the same again");
}

#[test]
fn json_says_the_same_and_the_picture_is_written() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("boundary.svg");
    let path = path.to_str().expect("a path in UTF-8");
    let output = boundary(&["--profile", "strict", "--format", "json", "--picture", path]);
    assert_eq!(output.status.code(), Some(0));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["within_one_percent"], true);
    assert_eq!(found["quantity"], "acting time");
    assert_eq!(found["points"].as_array().map(Vec::len), Some(4));
    assert!(std::fs::read_to_string(path).expect("written").starts_with("<svg "));
}

#[test]
fn without_slack_no_drift_is_safe_and_the_timeline_shows_two_leaders() {
    let output = boundary(&["--renew", "14s", "--retry", "5s"]);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "found as computed: {text}");
    for says in ["no drift is safe, not even none", "NOT SAFE", "two leaders"] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn the_rows_of_simulations_depend_on_the_seed_alone() {
    let run = |seed: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_seatrial"))
            .args(["run", "elector/random_", "elector/cx_1", "--engine", "cluster"])
            .args(["--budget", "60", "--seed", seed, "--format", "json"])
            .output()
            .expect("the program starts");
        let mut report: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("a report");
        let timing = report.as_object_mut().and_then(|report| report.remove("timing"));
        assert!(timing.is_some(), "the clock of the machine is kept apart");
        report.to_string()
    };
    let first = run("7");
    assert!(first.contains("random_pauses_strict") && first.contains("witness"), "{first}");
    assert_eq!(first, run("7"), "byte for byte");
    assert_ne!(first, run("8"), "other seeds are other runs");
}

#[test]
fn bad_durations_are_refused_in_one_line_that_says_what_to_do() {
    for (arguments, says) in [
        (&["--lease", "15"][..], "e.g. 15s"),
        (&["--lease", "s"], "e.g. 15s"),
        (&["--retry", "-2s"], "e.g. 15s"),
        (&["--renew", "1e9h"], "e.g. 15s"),
        (&["--lease", "5s"], "give --lease longer than --renew"),
        (&["--retry", "0s"], "--retry"),
        (&["--lease", "1.5s", "--renew", "1s", "--retry", "100ms", "--profile", "strict"], "whole"),
        (&["--retry", "1ms"], "give a longer --retry"),
        (&["--picture", "/no/such/folder/x.svg"], "folder that can be written"),
    ] {
        let joined: Vec<String> = match arguments {
            [option, value] => vec![format!("{option}={value}")],
            all => all.iter().map(|one| (*one).to_owned()).collect(),
        };
        let joined: Vec<&str> = joined.iter().map(String::as_str).collect();
        let output = boundary(&joined);
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(says), "{arguments:?}: {complaint}");
        assert_eq!(complaint.trim_end().lines().count(), 1, "{complaint}");
    }
}
